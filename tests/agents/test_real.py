"""opencode and gemini in a chat of a real Neovim: what the user sees, and the files (make test-agents)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agents.fake_llm import FakeLlm
from tests.agents.real import FILES, INIT, SCENARIOS, SIZE, Chat, make_workspace, settings
from tests.plugin import StartScreen

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

END = re.compile(r"^── .*$", re.MULTILINE)


@pytest.fixture(params=["opencode", "gemini"])
def chat(request: pytest.FixtureRequest, tmp_path: Path, start_screen: StartScreen) -> Iterator[Chat]:
    """A chat with a ready agent; ``greeting.txt`` is open in the window beside it."""
    workspace, home = tmp_path / "ws", tmp_path / "home"
    make_workspace(workspace)
    with FakeLlm(SCENARIOS, workspace) as llm:
        screen = start_screen(size=SIZE, cwd=workspace, init=INIT, files=("greeting.txt",))
        screen.setup(settings(request.param, home, workspace, llm.url))
        chat = Chat(request.param, screen, workspace)
        chat.open()
        yield chat


def rows(chat: Chat, verb: str) -> list[str]:
    """The rows of the transcript with this verb."""
    return re.findall(rf"^\S {verb} .*$", chat.text(), re.MULTILINE)


def test_edit(chat: Chat) -> None:
    chat.send("edit")
    seen = chat.question()
    assert "hello ACP" in seen
    assert "wants to edit a file" in seen
    assert (chat.workspace / "greeting.txt").read_text() == FILES["greeting.txt"]
    text = chat.finish()
    assert (chat.workspace / "greeting.txt").read_text() == "# greetings\nhello ACP\ngoodbye world\n"
    assert "Done: line 2 of `greeting.txt` now says **hello ACP**." in text
    assert re.search(r"^· think", text, re.MULTILINE)
    assert [row for row in rows(chat, "edit") if re.match(r"✓ edit +greeting\.txt +\+1 -1", row)]
    assert END.search(text)
    assert len(chat.asked()) == 1
    buffer = chat.screen.funcs.bufnr("greeting.txt")
    chat.until(lambda: chat.screen.lines(buffer)[1] == "hello ACP", "the open buffer shows the new text")
    assert not chat.screen.api.get_option_value("modified", {"buf": buffer})


def test_write(chat: Chat) -> None:
    chat.send("write")
    assert "notes/todo.md" in chat.question()
    chat.finish()
    assert (chat.workspace / "notes/todo.md").read_text() == "# todo\n- one\n"
    assert [row for row in rows(chat, "edit") if row.startswith("✓") and "notes/todo.md" in row]


def test_shell(chat: Chat) -> None:
    chat.send("shell")
    seen = chat.question()
    assert "wants to run a command" in seen
    assert "echo out-line-1" in seen
    assert not (chat.workspace / "shell-was-here.txt").exists()
    text = chat.finish()
    assert (chat.workspace / "shell-was-here.txt").read_text() == "ran\n"
    assert [row for row in rows(chat, "run") if row.startswith("✓")]
    assert "The command ran." in text


def test_reject(chat: Chat) -> None:
    chat.send("reject")
    text = chat.finish("reject_once")
    assert (chat.workspace / "greeting.txt").read_text() == FILES["greeting.txt"]
    assert [row for row in rows(chat, "edit") if row.startswith("⊘") and "rejected by you" in row], text
    assert chat.state() == "idle"
    assert chat.screen.api.get_option_value("filetype", {}) == "acp-prompt"


def test_cancel(chat: Chat) -> None:
    chat.send("cancel")
    chat.until(lambda: "slow10 " in chat.text(), "some text has come")
    chat.screen.command("AcpCancel")
    text = chat.finish()
    assert "── cancelled by you" in text
    assert "slow600 " not in text
    chat.send("markdown")
    assert "naïve" in chat.finish()


def test_cancel_during_a_question(chat: Chat) -> None:
    chat.send("cancelperm")
    chat.question()
    chat.screen.command("AcpCancel")
    chat.until(lambda: "keeps it open" not in chat.screen.text(), "the question is gone")
    text = chat.finish()
    assert [done["outcome"] for done in chat.answered()] == ["cancelled"]
    assert "── cancelled by you" in text
    assert "never be seen" not in text
    # opencode says afterwards that the call failed: a real state of the agent replaces our own (V1-82).
    assert [row for row in rows(chat, "edit") if re.match("– .*cancelled$|✗ .*failed$", row)], text
    assert (chat.workspace / "greeting.txt").read_text() == FILES["greeting.txt"]


def test_cancel_ends_a_command(chat: Chat) -> None:
    chat.send("cancelshell")
    chat.answer("allow_once")
    chat.until(lambda: [row for row in rows(chat, "run") if row.startswith("●")], "the command runs")
    chat.screen.command("AcpCancel")
    text = chat.finish()
    assert "── cancelled by you" in text
    assert not (chat.workspace / "slow-done.txt").exists()


def test_long(chat: Chat) -> None:
    chat.send("long")
    text = chat.finish()
    # Without blanks: one line of the answer is longer than a line of the transcript may be.
    wanted = "".join(f"word{number}" for number in range(1, 2001))
    assert wanted in "".join(text.split())
    chat.screen.command("AcpChat")
    chat.screen.keys("<Esc>i", "still typing")
    chat.screen.wait("still typing")


def test_error(chat: Chat) -> None:
    chat.send("error")
    text = chat.finish()
    assert re.search(r"^✗ error: .*$", text, re.MULTILINE), text
    assert chat.state() == "idle"
    chat.send("markdown")
    assert "naïve" in chat.finish()


def test_markdown(chat: Chat) -> None:
    chat.send("markdown")
    lines = chat.finish().split("\n")
    answer = [
        *("# Title", "", "Some *emphasis* and `code`.", ""),
        *("```python", "def f():", "    return 1", "```", ""),
        *("| a | b |", "|---|---|", "| 1 | 2 |", ""),
        *("- naïve 日本語 🎉", "- https://example.org/ [link](file:///etc/hostname)"),
    ]
    start = lines.index("# Title")
    assert lines[start : start + len(answer)] == answer
    row, col = chat.screen.find("# Title")
    assert chat.screen.attr_at(row, col + 2), "a heading has its colour"


def test_several_calls_at_once(chat: Chat) -> None:
    chat.send("multi")
    text = chat.finish()
    assert (chat.workspace / "greeting.txt").read_text() == "# greetings\nhello many\ngoodbye world\n"
    assert "All done." in text
    assert len(chat.answered()) == len(chat.asked())
    assert {done["outcome"] for done in chat.answered()} == {"selected"}


def test_failing_command(chat: Chat) -> None:
    chat.send("shellfail")
    text = chat.finish()
    assert "Both failed, as expected." in text
    assert (chat.workspace / "greeting.txt").read_text() == FILES["greeting.txt"]


def test_plan(chat: Chat) -> None:
    chat.send("plan")
    text = chat.finish()
    assert "The plan is under way." in text
    assert re.search("todo", text, re.IGNORECASE), text
    assert chat.state() == "idle"
