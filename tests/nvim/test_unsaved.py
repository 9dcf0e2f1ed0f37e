"""Unsaved edits that an agent does not see are named at the prompt, with keys to write or to attach them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.cases.kit import PASSIVE, WATCH, Chat, Stage
from tests.plugin import Screen, StartScreen, eventually

HELLO: Json = {
    "reply": {
        "protocolVersion": 2,
        "info": {"name": "scripted", "version": "1"},
        "capabilities": {"session": {"prompt": {"embeddedContext": {}}}},
    }
}
TURN: list[Json] = [
    {"reply": {"messageId": "m"}},
    {"update": {"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}},
]


def start(
    start_screen: StartScreen, agent: MakeAgent, folder: Path, protocol: str = "acp-v2", **settings: Any
) -> tuple[Screen, ScriptedAgent, Chat]:
    """A chat in a folder with two files; another one is outside."""
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text("one\n")
    (folder.parent / "out.py").write_text("one\n")
    on: dict[str, Any] = {"initialize": [HELLO], "session/prompt": TURN} if protocol == "acp-v2" else {}
    scripted = agent(on=on)
    screen = start_screen(size=(120, 40), init=WATCH, cwd=folder, files=("a.py",))
    screen.setup({**PASSIVE, **settings, "agents": {"x": {**scripted.settings, "protocol": protocol}}})
    screen.command("set hidden")
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    return screen, scripted, chat


def change(screen: Screen, name: str) -> None:
    """Go to a file and add a line."""
    screen.keys("<Esc><C-w>t")
    screen.command(f"edit {name}")
    screen.keys("Gotwo<Esc>")
    screen.wait(lambda text: f"{Path(name).name} [+]" in text)


def test_what_is_modified_is_named_and_written(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    folder = tmp_path / "ws"
    screen, _, chat = start(start_screen, agent, folder)
    assert "unsaved" not in screen.text()
    change(screen, "a.py")
    screen.wait("unsaved  a.py")
    change(screen, "b.py")
    change(screen, "../out.py")
    screen.wait("unsaved  a.py, b.py   \\w writes, \\u attaches")
    assert not screen.blocked()
    chat.focus()
    screen.keys("<Esc>\\w")
    screen.wait(lambda text: "unsaved" not in text)
    assert [(folder / name).read_text() for name in ("a.py", "b.py")] == ["one\ntwo\n"] * 2
    assert (tmp_path / "out.py").read_text() == "one\n"
    assert "E5" not in screen.messages()


def test_its_text_goes_along(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    folder = tmp_path / "ws"
    screen, scripted, chat = start(start_screen, agent, folder)
    change(screen, "a.py")
    screen.wait("unsaved  a.py")
    chat.focus()
    screen.keys("<Esc>\\u")
    screen.wait("8 B, unsaved")
    screen.wait(lambda text: "unsaved  a.py" not in text)
    assert chat.prompt() == "@a.py "
    screen.keys("A look at it<C-s>")
    prompt = scripted.wait("session/prompt")["params"]["prompt"]
    assert [block["type"] for block in prompt] == ["resource", "text"]
    assert prompt[0]["resource"]["text"] == "one\ntwo\n"
    assert (folder / "a.py").read_text() == "one\n"
    chat.wait_turn()
    screen.wait("unsaved  a.py")


def test_a_file_that_cannot_be_written_is_named(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    screen, _, chat = start(start_screen, agent, tmp_path / "ws")
    change(screen, "a.py")
    change(screen, "b.py")
    screen.command("call setbufvar('a.py', '&readonly', 1)")
    screen.wait("unsaved  a.py, b.py")
    chat.focus()
    screen.keys("<Esc>\\w")
    screen.wait(lambda text: "unsaved  a.py " in text)
    eventually(
        lambda: "acp: a.py was not written: 'readonly' option is set" in screen.messages(),
        message=screen.messages,
    )
    assert (tmp_path / "ws" / "b.py").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("maps", [{"write_unsaved": False, "attach_unsaved": "gu"}, False])
def test_own_keys(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, maps: Any) -> None:
    screen, _, _ = start(start_screen, agent, tmp_path / "ws", keymaps={"prompt": maps})
    change(screen, "a.py")
    screen.wait("unsaved  a.py")
    assert ("gu attaches" in screen.text()) == bool(maps)
    assert "writes" not in screen.text()


def test_an_agent_that_reads_buffers_needs_no_such_line(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    screen, _, chat = start(start_screen, agent, tmp_path / "ws", "acp-v1")
    change(screen, "a.py")
    chat.send("go")
    chat.wait_turn()
    assert "unsaved" not in screen.text()
