"""``:w name.md`` in a chat: the whole of it as Markdown, written by the host."""

from __future__ import annotations

import stat
from pathlib import Path

from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, update
from tests.nvim.sessions_kit import Desk
from tests.nvim.trouble import kill_host
from tests.plugin import StartScreen, eventually

SECRET = "topsecret-123456"

ANSWER: list[Json] = [
    update("tool_call", toolCallId="t", title="Print it", kind="execute", status="completed",
           rawOutput={"output": "".join(f"row {n}\n" for n in range(200))}),
    {"say": f"The key is {SECRET}.\n\n```py\nx = 1"},
    END,
]  # fmt: skip


def test_a_chat_is_written_whole(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    desk = Desk(start_screen, env={"MY_API_KEY": SECRET})
    x = agent({"session/prompt": ANSWER})
    desk.setup({"x": x})
    chat = desk.chat(x)
    screen, cwd = desk.screen, Path(desk.cwd)
    chat.send("Print the key")
    chat.wait_turn()

    def types(command: str, answer: str) -> None:
        screen.lua("vim.cmd('echo')")
        screen.keys(f":{command}<CR>")
        screen.wait(answer)
        assert not screen.blocked()

    # In the prompt, and in the transcript.
    assert screen.api.buf_get_name(0).endswith("/prompt")
    types("w", "acp: :w {name}.md writes the chat as Markdown")
    types("write!", "acp: :w {name}.md writes the chat as Markdown")
    types("w chat.md", 'acp: "chat.md" written, 2')
    chat.focus()
    found = (cwd / "chat.md").read_text()
    assert found.startswith("# Print the key\n\n- x in `")
    assert "## 1. Print the key\n\n- ✓ **run** `Print it`\n\n  <details>\n" in found
    assert "\n  row 0\n" in found
    assert "row 0" not in chat.text()
    assert found.endswith("The key is •••.\n\n```py\nx = 1\n```\n\n> ── done\n")
    # Files that are there, as in Vim.
    (cwd / "other.md").write_text("mine")
    (cwd / "other.md").chmod(0o640)
    (cwd / "link.md").symlink_to("other.md")
    screen.lua("vim.cmd.wincmd('k')")
    types("w link.md", "E13: File exists")
    assert (cwd / "other.md").read_text() == "mine"
    types("w! link.md", 'acp: "link.md" written')
    assert (cwd / "other.md").read_text() == found
    assert stat.S_IMODE((cwd / "other.md").stat().st_mode) == 0o640
    assert (cwd / "link.md").is_symlink()
    types("w >> other.md", "a chat is not appended to a file")
    types("w no/such/x.md", "not written: there is no folder")
    types("w ++p some/new/x.md", 'some/new/x.md" written')
    types("w /", "E")
    # A range is lines as they stand.
    lines = screen.lines(chat.buf)
    types("1,2w lines.txt", 'acp: "lines.txt" written, 2 lines')
    assert (cwd / "lines.txt").read_text().splitlines() == lines[:2]
    types("1,2w no/such/y.md", "not written")
    # Nothing of it has changed the chat, or waits for `:qa`.
    assert screen.api.get_option_value("modified", {"buf": chat.buf}) is False
    assert screen.api.get_option_value("buftype", {"buf": chat.buf}) == "nofile"
    assert screen.lines(chat.buf) == lines
    screen.clear_messages()
    # Leaving at once does not cost the file.
    screen.keys(":w last.md | qa<CR>")
    screen.wait_exit()
    assert (cwd / "last.md").read_text().startswith("# Print the key")
    assert [each.name for each in cwd.iterdir() if "acp" in each.name] == []


def test_a_chat_of_a_host_that_was_lost(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent({"session/prompt": [{"say": "Answer"}, END]})
    desk.setup({"x": x})
    chat = desk.chat(x)
    cwd = Path(desk.cwd)
    chat.send("one")
    chat.wait_turn()
    kill_host(desk.screen)
    chat.wait_state("failed")
    desk.screen.lua("vim.cmd('messages clear')")
    desk.screen.keys(":w as-it-is.md<CR>")
    desk.screen.wait("written, ")
    assert "❯ one\n\nAnswer\n" in (cwd / "as-it-is.md").read_text()
    desk.screen.command("AcpRestart")
    chat.wait_state("idle")
    chat.send("two")
    chat.wait("❯ two")
    chat.wait_turn(2)
    desk.screen.keys(":w both.md<CR>")
    eventually(lambda: (cwd / "both.md").exists(), message=desk.screen.text)
    found = (cwd / "both.md").read_text()
    assert found.index("❯ one\n\nAnswer\n") < found.index("\n---\n") < found.index("## 1. two\n\n")
    assert found.count("Answer") == 2
