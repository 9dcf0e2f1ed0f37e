"""What agents made with the official SDKs tell, ask and do in a turn, and what their user sees of it.

The Python SDK (schema 1.19) has no notices, compaction, names of tools, ``logout``, ``session/delete`` nor
``$/cancel_request``; the TypeScript SDK has all of the stable schema.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.agents.peers.conftest import OpenDesk
from tests.agents.peers.kit import Desk
from tests.nvim.elicit_kit import Asked
from tests.plugin import eventually

pytestmark = [pytest.mark.agents, pytest.mark.timeout(120)]

typescript = pytest.mark.parametrize("language", ["typescript"], indirect=True)


def answer(desk: Desk) -> dict[str, Any]:
    """The JSON the agent has said it was answered with."""
    line = next(line for line in desk.chat.text().split("\n") if line.startswith('{"'))
    return dict(json.loads(line))


def test_messages(desk: OpenDesk) -> None:
    d = desk()
    text = d.done("talk soon")
    assert "· think  1 line\n  │ Let me think.\n\nOne message.\n\nAnother, soon.\n\n── done\n" in text
    assert text.count("❯ do talk soon") == 1  # the agent has repeated it
    d.screen.wait("One message.")
    assert d.screen.messages() == ""


def test_blocks(desk: OpenDesk) -> None:
    d = desk()
    text = d.done("blocks")
    for line in (
        "Here is a picture:",
        "  image  image/png, 70 B",
        "  audio  audio/wav, 46 B",
        "  link  text/markdown, 17 B  README.md  file://",
        "  resource  text/plain, 5 B  memory:///notes.txt",
        "  resource  application/octet-stream, 70 B  memory:///raw",
    ):
        assert f"\n{line}" in text
    assert "only for the model" not in text
    d.screen.api.set_current_win(d.screen.funcs.bufwinid(d.chat.buf))
    d.screen.funcs.search("image/png", "w")
    d.screen.keys("<CR>")
    eventually(lambda: d.screen.lua("return #_G.opened") == 1, message=d.screen.text)
    assert str(d.screen.lua("return _G.opened[1]")).endswith(".png")


def test_tool_calls(desk: OpenDesk) -> None:
    d = desk()
    text = d.done("tools")
    rows = [
        *("✓ read   src/main.py:2", "✓ edit   made.txt  +1", "  │ @@ -0,0 +1 @@", "  │ + all new"),
        *("✓ delete Titled delete", "✓ move   Titled move", "✓ search Titled search"),
        *("✗ run    Title of execute  failed", "  │ it broke", "✓ think  Titled think"),
        *("✓ fetch  Titled fetch", "✓ mode   Titled switch_mode", "✓ tool   Titled other"),
    ]
    assert "\n".join(rows) in text
    d.screen.api.set_current_win(d.screen.funcs.bufwinid(d.chat.buf))
    d.screen.funcs.search("src/main.py", "w")
    d.screen.keys("<CR>")
    eventually(lambda: d.screen.api.buf_get_name(0).endswith("src/main.py"), message=d.screen.text)
    assert d.screen.api.win_get_cursor(0)[0] == 2


def test_plan(desk: OpenDesk) -> None:
    d = desk()
    text = d.done("plan")
    assert "plan  1 of 3\n  ✓ Look around\n  ○ Do it\n  ○ Rest\n\nOne of three.\n" in text


@pytest.mark.parametrize("env", [{}, {"PEER_MODES": "1"}])
def test_state(desk: OpenDesk, env: dict[str, str]) -> None:
    d = desk(env)
    d.screen.wait("Ask first mode")
    text = d.done("state")
    assert "── x changed the mode: Ask first to Just code" in text
    d.screen.wait("Just code mode")
    status = d.chat.status()
    assert status["title"] == "A title of its own"
    assert status["usage"] == {"used": 1200, "size": 4800, "cost": "€0.25"}
    d.screen.wait("A title of its own")
    if not env:
        assert status["model"] == "Large one"
    d.chat.focus()
    d.screen.keys("i/")
    d.screen.wait("came later")


@typescript
def test_notices_and_compaction(desk: OpenDesk) -> None:
    d = desk()
    text = d.done("notices")
    for shown in (
        "── x: A notice: info\n  │ More about it.",
        "── x (warning): A notice: warning\n  │ More about it.",
        "✗ x (error): A notice: error\n  │ More about it.",
        "✓ compact what came before\n  │ In short.",
        "✗ compact what came before  failed\n  │ no room left",
        "– compact what came before  cancelled\n  │ Half of it.",
        "\nNoticed.\n",
    ):
        assert shown in text


@pytest.mark.parametrize("kind", ["allow_once", "allow_always", "reject_once", "reject_always"])
def test_a_change_that_is_asked_about(desk: OpenDesk, kind: str) -> None:
    """The agent reads what is in the buffer, saved or not; what is not its own change stays as it is."""
    d = desk()
    path = d.workspace / "greeting.txt"
    before = path.read_text()
    d.screen.command("wincmd t | edit greeting.txt")
    d.screen.api.buf_set_lines(0, 0, 1, False, ["# my unsaved line"])
    buffer = int(d.screen.funcs.bufnr("greeting.txt"))
    d.do("edit")
    d.chat.wait_pending(1)
    shown = d.screen.wait("x wants to edit a file")
    for wanted in ("- hello world", "+ hello peer", f"Choose {kind}", "Change the greeting"):
        assert wanted in shown
    assert path.read_text() == before
    d.chat.permit(kind)
    d.chat.wait_turn()
    text = d.chat.wait(f"Second line: hello world. Chosen: id of {kind}.")
    if kind.startswith("allow"):
        assert f"✓ edit   greeting.txt:2  +1 -1{'  always allowed' * kind.endswith('always')}\n" in text
        wanted = "# my unsaved line\nhello peer\ngoodbye world\n"
        assert path.read_text() == wanted
        assert (d.workspace / "deep/new.txt").read_text() == "nothing ends this"
        assert d.screen.lines(buffer) == wanted.split("\n")[:-1]
    else:
        assert "⊘ edit   greeting.txt" in text
        assert path.read_text() == before
        assert d.screen.lines(buffer)[:2] == ["# my unsaved line", "hello world"]
        assert not (d.workspace / "deep").exists()
    assert d.screen.messages() == ""


def test_files_that_cannot_be_read(desk: OpenDesk) -> None:
    d = desk()
    assert "absent: error -32002\nrelative: error -32602" in d.done("missing")


def test_terminal(desk: OpenDesk) -> None:
    d = desk()
    text = d.done("terminal")
    assert '✗ run    Run it  failed, exit 3\n  │ printf "%s\\n" "$GREETING"' in text
    assert f"  │ in {d.workspace}/src\n" in text
    assert "  │ 399\n  │ 400\n" in text
    assert '{"exitCode":3} truncated true "399\\n400\\n"' in text
    # All of it is the user's; the agent wanted the last 64 bytes only.
    d.screen.api.set_current_win(d.screen.funcs.bufwinid(d.chat.buf))
    d.screen.funcs.search("Run it", "w")
    d.screen.keys("<CR>")
    eventually(lambda: d.screen.funcs.bufnr("acp://x/1/terminal/1") > 0, message=d.screen.text)
    buffer = int(d.screen.funcs.bufnr("acp://x/1/terminal/1"))
    eventually(lambda: "400" in d.screen.lines(buffer), message=d.screen.text)
    output = "".join(d.screen.lines(buffer))  # a long line takes several of a terminal
    assert f"from the peer{d.workspace}/src12345678910" in output


def test_a_terminal_that_is_ended(desk: OpenDesk) -> None:
    d = desk()
    text = d.done("kill")
    assert "✓ run    Run long  stopped, SIGTERM\n" in text
    assert '{"signal":"SIGTERM"} {"signal":"SIGTERM"} error -32002' in text


def test_a_form(desk: OpenDesk) -> None:
    d = desk()
    d.do("form")
    made = Asked(d.chat, d.peer)
    made.begin()
    for number, keys in enumerate(["Ann<CR>", "ann@example.org<CR>", *["<CR>"] * 10], start=1):
        d.screen.wait(f"{number} of 12")
        d.screen.keys(keys)
    shown = d.screen.wait("This is sent to x:")
    for row in ("Your name: Ann", "Mail: ann@example.org", "Colour: Blue", "Some: y", "More: Cue"):
        assert row in shown
    d.screen.wait("1 sends")
    made.rest()
    d.screen.keys("1")
    d.chat.wait_turn()
    content = {
        "name": "Ann",
        "mail": "ann@example.org",
        "site": "https://example.org/",
        "day": "2026-01-02",
        "at": "2026-01-02T03:04:05Z",
        "port": 8080,
        "ratio": 0.5,
        "sure": True,
        "colour": "b",
        "size": "m",
        "some": ["y"],
        "more": ["q"],
    }
    assert answer(d) == {"action": "accept", "content": content}


@pytest.mark.parametrize(("choice", "action"), [("1", "accept"), ("2", "decline"), ("cancel", "cancel")])
def test_a_page(desk: OpenDesk, choice: str, action: str) -> None:
    url = "https://login.example.org/start?state=abc"
    d = desk()
    d.do("page")
    d.chat.wait_pending(1)
    shown = d.screen.wait("x wants you to open a page")
    assert url in shown
    assert "goes to login.example.org" in shown
    d.chat.permit(choice)
    d.chat.wait_turn()
    assert answer(d) == {"action": action}
    accepted = action == "accept"
    assert d.screen.lua("return _G.opened") == ([url] if accepted else [])
    if accepted:
        d.chat.wait("✓ open   Sign in there  finished in the browser")


def test_extensions(desk: OpenDesk) -> None:
    d = desk()
    assert "extension: error -32601" in d.done("extend")


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("end_turn", "── done"),
        ("max_tokens", "── stopped: the answer reached the token limit."),
        ("max_turn_requests", "── stopped: "),
        ("refusal", "── refused by x. It forgets this prompt and all that followed it."),
    ],
)
def test_the_end_of_a_turn(desk: OpenDesk, reason: str, shown: str) -> None:
    d = desk()
    assert f"Enough.\n\n{shown}" in d.done(f"stop {reason}")
    assert d.chat.status()["stop_reason"] == reason


def test_a_turn_that_fails(desk: OpenDesk) -> None:
    d = desk()
    assert "the model is out (-32603)" in d.done("fail")
    assert "One message." in d.done("talk")
    (refused,) = d.peer.refused()
    assert refused["error"]["code"] == -32603


def test_cancelling(desk: OpenDesk) -> None:
    """What is asked is answered, and what the agent says until it has stopped is shown."""
    d = desk()
    d.do("wait")
    d.chat.wait_pending(1)
    d.chat.cancel()
    d.chat.wait_turn()
    text = d.chat.wait("── cancelled by you")
    assert 'asked: result {"outcome":{"outcome":"cancelled"}}' in text
    assert d.chat.status()["pending"] == 0
    assert "One message." in d.done("talk")


@typescript
def test_a_question_that_is_taken_back(desk: OpenDesk) -> None:
    d = desk()
    d.do("withdraw")
    d.chat.wait_pending(1)
    d.screen.wait("Choose allow_once")
    d.screen.command("AcpOptions web true")
    d.chat.wait_turn()
    assert "taken back: error -32800" in d.chat.text()
    assert d.chat.status()["pending"] == 0
    d.screen.wait(lambda text: "Choose allow_once" not in text)


def test_what_a_prompt_brings_along(desk: OpenDesk) -> None:
    d = desk()
    d.screen.command("wincmd t | 1AcpSend do received")
    d.chat.wait_turn()
    (prompt,) = d.peer.log("session/prompt")
    kinds = [block["type"] for block in prompt["params"]["prompt"]]
    assert sorted(kinds) == ["resource", "text"]
    assert f"\n{' '.join(kinds)}\n" in d.chat.text()


def test_commands(desk: OpenDesk) -> None:
    d = desk()
    d.chat.focus()
    d.screen.keys("i/")
    shown = d.screen.wait("counts what you name")
    assert "stops counting" in shown
    d.screen.keys("co")
    d.screen.wait(lambda text: "stops counting" not in text)
    d.screen.keys("<C-n><C-y>", " sheep<C-s>")
    d.chat.wait_turn()
    assert "You said: /count sheep" in " ".join(d.chat.text().split())
