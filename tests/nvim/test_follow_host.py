"""Follow through the whole chain: a scripted agent, the real host, a real Neovim (C33, C37)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, WATCH, Chat, Stage, ask, diff, play, update
from tests.nvim.follow_kit import EVENTS, marks, project, shows, window_of, windows
from tests.plugin import StartScreen, eventually


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ws = tmp_path / "ws"
    ws.mkdir()
    return project(ws)


def call(ident: str, path: Path | str, line: int | None = None, kind: str = "read", **more: Any) -> Json:
    """The action of a tool call at a place."""
    place: Json = {"path": str(path)} if line is None else {"path": str(path), "line": line}
    return update("tool_call", toolCallId=ident, title=ident, kind=kind, locations=[place], **more)


def change(ident: str, **more: Any) -> Json:
    return update("tool_call_update", toolCallId=ident, **more)


def follow(
    start_screen: StartScreen,
    make: MakeAgent,
    folder: Path,
    actions: Sequence[Json],
    *,
    before: str = "",
    **scripts: Any,
) -> Chat:
    """A chat that is followed, with ``a.py`` open beside it; the agent plays the actions when prompted."""
    agent = make(on={"session/prompt": [*actions, END]}, **scripts)
    init = WATCH + EVENTS
    screen = start_screen(size=(150, 40), init=init, cwd=folder, files=("a.py",))
    stage = Stage(screen)
    stage.setup(x=agent)
    if before:
        screen.command(before)
    chat = stage.open(agent)
    chat.wait_state("idle")
    screen.command("AcpFollow on")
    return chat


def switch(chat: Chat, on: bool) -> None:
    """Follow a chat, whether it is the current one or not."""
    code = "local n, on = ... require('acp.follow').set(require('acp.chat').get(n), on)"
    chat.screen.lua(code, chat.n, on)


def trail(chat: Chat) -> list[tuple[str, int, str]]:
    """File, line and text without the time of ``:AcpFollow list``."""
    chat.go()
    chat.screen.command("AcpFollow list | cclose")
    items = chat.screen.funcs.getqflist()
    return [
        (chat.screen.funcs.bufname(i["bufnr"]) if i["valid"] else "", i["lnum"], i["text"][10:])
        for i in items
    ]


def visits(chat: Chat) -> list[Json]:
    return list(chat.screen.lua("return _G.visits"))


def test_c33_the_only_window_is_fixed(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    actions = [call("t1", folder / "b.py", 9999)]
    chat = follow(start_screen, agent, folder, actions, before="setlocal winfixbuf")
    chat.send()
    chat.wait_turn()
    shows(chat.screen, "b.py", 200)
    assert ("a.py", 1) in windows(chat.screen), "it is left alone"
    assert len(windows(chat.screen)) == 2
    assert visits(chat)[0]["line"] == 200


def test_c33_what_cannot_be_shown(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    with (folder / "big.log").open("wb") as file:
        file.truncate(5 * 1024 * 1024)
    names = ("nothing.py", "src", "logo.png", "big.log")
    actions: list[Json] = []
    for n, name in enumerate(names):
        actions += [call(f"t{n}", folder / name, 3, status="completed"), {"sleep": 400}]
    chat = follow(start_screen, agent, folder, actions)
    chat.send()
    chat.wait_turn()
    wanted = [
        "read  nothing.py  not opened: no such file",
        "read  src  not opened: a folder",
        "read  logo.png  not opened: binary",
        "read  big.log  not opened: 5 MB",
    ]
    eventually(lambda: [text for _, _, text in trail(chat)] == wanted, message=lambda: str(trail(chat)))
    assert "not opened: big.log: 5 MB" in chat.winbar()
    assert windows(chat.screen) == [("a.py", 1)]
    assert visits(chat) == []
    assert chat.screen.messages().strip() == ""


@pytest.mark.req("V1-123")
def test_c37_only_under_the_roots(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    evil = folder.parent / "ws-evil"
    evil.mkdir()
    (evil / "secret.txt").write_text("s3cret\n")
    (folder / "link.txt").symlink_to(evil / "secret.txt")
    places = [evil / "secret.txt", folder / "link.txt", folder / ".." / "ws-evil" / "secret.txt"]
    actions: list[Json] = []
    for n, path in enumerate(places):
        actions += [call(f"t{n}", path), {"sleep": 400}]
    actions.append(call("good", folder / "c.py", 8))
    chat = follow(start_screen, agent, folder, actions)
    chat.send()
    chat.wait_turn()
    shows(chat.screen, "c.py", 8)
    reasons = [text.split("not opened: ")[-1] for _, _, text in trail(chat)]
    assert reasons == ["outside the project"] * 3 + ["read"]
    names = [chat.screen.funcs.bufname(buffer.number) for buffer in chat.screen.api.list_bufs()]
    assert not [name for name in names if "secret" in name or "link" in name]


@pytest.mark.req("V1-124")
@pytest.mark.parametrize("way", ["whole", "cut", "two"])
@pytest.mark.req("V1-124")
def test_in_all_ways(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [call("t", "$cwd/made.py", 2)]
    chats = play(way, start_screen, agent, actions if way != "cut" else [call("t", "made.py", 2)])
    screen = chats[0].screen
    (screen.cwd / "made.py").write_text("one\ntwo\nthree\n")
    for chat in chats:
        switch(chat, True)
        chat.send()
        shows(screen, "made.py", 2)
        switch(chat, False)


def test_an_edit_from_question_to_result(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    """As opencode does: whole file in the question, a fragment at the end, never a line."""
    path = folder / "b.py"
    old = path.read_text()
    new = old.replace("b.py line 150\n", "new\nb.py line 150\n")
    asked = {"toolCallId": "e", "kind": "edit", "status": "pending", "content": [diff(str(path), old, new)]}
    actions = [
        call("e", path, kind="edit", status="pending"),
        ask("q", asked),
        {"await": "q"},
        {"write": str(path), "text": new},
        change("e", status="completed", content=[diff(str(path), "b.py line 150", "new\nb.py line 150")]),
    ]
    chat = follow(start_screen, agent, folder, actions)
    chat.send()
    shows(chat.screen, "b.py", 150)
    eventually(lambda: chat.status()["pending"] == 1)
    assert "new" not in chat.screen.lines(chat.screen.funcs.bufnr("b.py"))
    chat.permit("1")
    chat.wait_turn()
    buffer = chat.screen.funcs.bufnr("b.py")
    eventually(lambda: chat.screen.lines(buffer)[149] == "new")
    shows(chat.screen, "b.py", 150)
    eventually(lambda: [mark["line"] for mark in marks(chat.screen)] == [150])
    chat.screen.wait("new  x edits")
    assert {text for _, _, text in trail(chat)} <= {"edit"}
    assert chat.screen.messages().strip() == ""


def test_the_line_in_the_users_unsaved_text(
    start_screen: StartScreen, agent: MakeAgent, folder: Path
) -> None:
    part = diff(str(folder / "a.py"), "a.py line 150\n", "x\n")
    actions = [call("e", folder / "a.py", kind="edit", content=[part])]
    chat = follow(start_screen, agent, folder, actions)
    buffer = chat.screen.funcs.bufnr("a.py")
    chat.screen.api.buf_set_lines(buffer, 0, 0, False, ["mine"] * 10)
    chat.send()
    shows(chat.screen, "a.py", 160)
    assert chat.screen.lines(buffer)[159] == "a.py line 150"


@pytest.mark.parametrize("how", ["agent", "client"])
def test_a_new_file_is_opened_when_it_appears(
    how: str, start_screen: StartScreen, agent: MakeAgent, folder: Path
) -> None:
    path, text = folder / "deep" / "new.py", "one\ntwo\n"
    made: Json = {"write": str(folder / "new.py"), "text": text}
    if how == "client":
        params = {"sessionId": "$session", "path": str(path), "content": text}
        made = {"request": "fs/write_text_file", "params": params, "id": "w"}
    else:
        path = folder / "new.py"
    actions = [
        call("e", path, kind="edit", status="in_progress", content=[diff(str(path), None, text)]),
        {"sleep": 500},
        made,
        *([{"await": "w"}] if how == "client" else []),
        change("e", status="completed"),
        {"sleep": 300},
    ]
    chat = follow(start_screen, agent, folder, actions)
    chat.send()
    shows(chat.screen, "new.py", 1)
    chat.wait_turn()
    assert chat.screen.lines(chat.screen.funcs.bufnr("new.py")) == ["one", "two"]
    assert trail(chat) == [(os.path.relpath(path, folder), 1, "edit")]
    assert chat.screen.messages().strip() == ""


def test_newest_wins_and_ten_a_second(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    burst: list[Json] = []
    for n in range(300):
        burst += [call(f"t{n}", folder / f"{'bc'[n % 2]}.py", n % 200 + 1, status="completed"), {"sleep": 5}]
    chat = follow(start_screen, agent, folder, [*burst, call("last", folder / "a.py", 77)])
    began = time.monotonic()
    chat.send()
    shows(chat.screen, "a.py", 77)
    seconds = time.monotonic() - began
    assert 3 <= len(visits(chat)) <= seconds * 10 + 2
    chat.wait_turn()


def test_works_while_the_chat_is_hidden(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    chat = follow(start_screen, agent, folder, [call("t", folder / "b.py", 50)])
    chat.hide()
    chat.screen.command("split c.py")
    chat.send()
    shows(chat.screen, "b.py", 50)
    assert chat.screen.funcs.bufname("%") == "c.py"


def test_two_sessions(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    plays = [[call("t", folder / "b.py", 50), END], [call("u", folder / "c.py", 60), END]]
    played = agent(on={"session/prompt": plays})
    screen = start_screen(size=(150, 40), init=WATCH + EVENTS, cwd=folder, files=("a.py",))
    stage = Stage(screen)
    stage.setup(x=played)
    screen.command("split b.py")
    first = stage.open(played)
    first.wait_state("idle")
    screen.command("AcpFollow on")
    second = stage.open(played, new=True)
    second.wait_state("idle")
    screen.command("AcpFollow on")
    first.send()
    shows(screen, "b.py", 50)
    second.send()
    shows(screen, "c.py", 60)
    assert sorted(windows(screen)) == [("b.py", 50), ("c.py", 60)]
    assert [visit["bufnr"] for visit in visits(first)] == [first.buf, second.buf]


@pytest.mark.req("V1-124")
def test_off_says_nothing_to_neovim(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    chat = follow(start_screen, agent, folder, [call("t", folder / "b.py", 50)])
    chat.screen.command("AcpFollow off")
    chat.screen.lua("require('acp.follow').visit = function() error('told') end")
    chat.send()
    chat.wait_turn()
    assert windows(chat.screen) == [("a.py", 1)]


def test_on_in_the_midst_of_a_turn(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    actions = [
        call("t", folder / "b.py", 50),
        {"say": "now"},
        {"request": "x/wait", "id": "w"},
        {"sleep": 60000},
    ]
    chat = follow(start_screen, agent, folder, actions)
    chat.screen.command("AcpFollow off")
    chat.send()
    chat.wait("now")
    chat.screen.command("AcpFollow on")
    shows(chat.screen, "b.py", 50)


def test_it_goes_on_after_a_restart(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    chat = follow(start_screen, agent, folder, [call("t", folder / "b.py", 50)])
    chat.screen.command("AcpRestart")
    eventually(lambda: len(chat.agent.events("start")) == 2)
    chat.wait_state("idle")
    chat.send()
    shows(chat.screen, "b.py", 50)


def test_it_goes_on_with_a_new_host(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    chat = follow(start_screen, agent, folder, [call("t", folder / "b.py", 50)])
    os.kill(chat.screen.host_ready(), signal.SIGKILL)
    eventually(lambda: chat.status()["state"] == "failed")
    chat.go()
    chat.send("again")
    shows(chat.screen, "b.py", 50)
    assert chat.status()["follow"] is True
    chat.screen.clear_messages()


def test_a_setting(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    played = agent(on={"session/prompt": [call("t", folder / "b.py", 50), END]})
    screen = start_screen(size=(150, 40), init=WATCH + EVENTS, cwd=folder, files=("a.py",))
    stage = Stage(screen, {"follow": {"enabled": True}})
    stage.setup(x=played)
    chat = stage.open(played)
    assert chat.status()["follow"] is True
    chat.send()
    shows(screen, "b.py", 50)


def test_a_replayed_session_moves_nothing(start_screen: StartScreen, agent: MakeAgent, folder: Path) -> None:
    """What the history of a session says is not where its agent is."""
    capabilities = {"loadSession": True}
    on = {
        "initialize": [{"reply": {"protocolVersion": 1, "agentCapabilities": capabilities}}],
        "session/load": [call("old", folder / "c.py", 99, status="completed"), {"reply": {}}],
    }
    played = agent(on={"session/prompt": [call("t", folder / "b.py", 50), END], **on})
    screen = start_screen(size=(150, 40), init=WATCH + EVENTS, cwd=folder, files=("a.py",))
    stage = Stage(screen)
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    screen.command("AcpFollow on")
    chat.send()
    chat.wait_turn()
    shows(screen, "b.py", 50)
    screen.command("AcpRestart")
    played.wait("session/load")
    chat.wait_state("idle")
    assert [visit["line"] for visit in visits(chat)] == [50]


def test_a_user_types_while_the_agent_works(
    start_screen: StartScreen, agent: MakeAgent, folder: Path
) -> None:
    burst: list[Json] = []
    for n in range(60):
        burst += [call(f"t{n}", folder / f"{'bc'[n % 2]}.py", n + 1), {"say": f"word {n}\n"}, {"sleep": 20}]
    chat = follow(start_screen, agent, folder, burst)
    screen = chat.screen
    screen.api.set_current_win(window_of(screen, "a.py"))
    screen.command("split a.py")
    mine = int(screen.api.get_current_win().handle)
    screen.keys("<Esc>ggO")
    chat.send()
    text = "".join(chr(97 + n % 26) for n in range(200))
    for key in text:
        screen.keys(key)
        time.sleep(0.004)
    chat.wait_turn()
    eventually(lambda: screen.lines(screen.funcs.bufnr("a.py"))[0] == text)
    assert int(screen.api.get_current_win().handle) == mine
    assert screen.api.get_mode()["mode"] == "i"
    shows(screen, "c.py", 60)
