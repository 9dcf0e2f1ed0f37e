"""Cases from the field on the whole chain: files (C21 to C24, C37, C38), and conflicts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import Actions, Json, MakeAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Chat, Stage, ask, diff, play, update
from tests.plugin import Screen, StartScreen, eventually

NUMBERED = [f"line {n}" for n in range(1, 61)]


def request(ident: int, method: str, path: str, **fields: Any) -> Json:
    """The action of a request about a file."""
    return {
        "request": f"fs/{method}",
        "id": ident,
        "params": {"sessionId": "$session", "path": path, **fields},
    }


def read(ident: int, path: str, **fields: Any) -> Json:
    return request(ident, "read_text_file", path, **fields)


def write(ident: int, path: str, content: str) -> Json:
    return request(ident, "write_text_file", path, content=content)


def opened(
    start_screen: StartScreen, agent: MakeAgent, actions: Actions, **options: Any
) -> tuple[Chat, Path]:
    """A chat whose agent plays the actions when it is prompted, and the folder of its session."""
    (chat,) = play("whole", start_screen, agent, actions, **options)
    return chat, chat.screen.cwd.resolve()


def edit(screen: Screen, path: Path, lines: list[str] | None = None) -> int:
    """Open a file in a window of its own, with these unsaved lines if they are given; returns its buffer."""
    screen.command("set hidden noautoread | tabnew")
    screen.command(f"edit {path}")
    if lines is not None:
        screen.api.buf_set_lines(0, 0, -1, True, lines)
    return int(screen.api.get_current_buf().number)


def modified(screen: Screen, buffer: int) -> bool:
    return bool(screen.api.get_option_value("modified", {"buf": buffer}))


def undo(screen: Screen, buffer: int) -> list[str]:
    screen.lua("vim.api.nvim_buf_call(..., function() vim.cmd('silent undo') end)", buffer)
    return screen.lines(buffer)


def steps(screen: Screen, buffer: int) -> int:
    return int(screen.lua("return vim.fn.undotree(...).seq_last", buffer))


@pytest.mark.req("C21")
def test_windows_of_a_file_are_exact(start_screen: StartScreen, agent: MakeAgent) -> None:
    fields: list[Json] = [{"line": 2, "limit": 1}, {"line": 9}, {"limit": 0}, {}]
    actions = [read(111 + n, "$cwd/a.txt", **each) for n, each in enumerate(fields)]
    chat, ws = opened(start_screen, agent, [*actions, END])
    (ws / "a.txt").write_text("a\nb\nc\n")
    chat.send()
    answers = [chat.agent.response(111 + n)["result"]["content"] for n in range(4)]
    assert answers == ["b\n", "", "", "a\nb\nc\n"]


@pytest.mark.req("C22")
@pytest.mark.parametrize("path", ["$cwd/a.py", "$cwd/../cwd/a.py", "$cwd/link/a.py"])
def test_unsaved_edits_are_read(start_screen: StartScreen, agent: MakeAgent, path: str) -> None:
    chat, ws = opened(start_screen, agent, [read(131, path), {"await": 131}, END])
    (ws / "a.py").write_text("one\ntwo\n")
    (ws / "link").symlink_to(ws)
    edit(chat.screen, ws / "a.py", ["UNSAVED", "two"])
    chat.send()
    assert chat.agent.response(131)["result"]["content"] == "UNSAVED\ntwo\n"
    chat.wait_turn()
    assert (ws / "a.py").read_text() == "one\ntwo\n"


@pytest.mark.req("C23")
@pytest.mark.parametrize("told", [True, False])
def test_files_the_agent_changes_by_itself(start_screen: StartScreen, agent: MakeAgent, told: bool) -> None:
    new = ["first", *NUMBERED[:9], "CHANGED", *NUMBERED[10:]]
    call = update("tool_call", toolCallId="t1", title="sed", kind="execute", status="pending")
    done = update("tool_call_update", toolCallId="t1", status="completed")
    actions = [call, {"write": "$cwd/a.py", "text": "\n".join(new) + "\n"}, *([done] if told else []), END]
    chat, ws = opened(start_screen, agent, actions)
    (ws / "a.py").write_text("\n".join(NUMBERED) + "\n")
    screen = chat.screen
    buffer = edit(screen, ws / "a.py")
    screen.command("20,25fold | split")
    windows = [each.handle for each in screen.api.tabpage_list_wins(0)]
    for window in windows:
        screen.api.win_set_cursor(window, [30, 3])
    chat.send()
    chat.wait_turn()
    assert screen.lines(buffer) == new
    assert [screen.api.win_get_cursor(window) for window in windows] == [[31, 3], [31, 3]]
    assert screen.lua("return vim.fn.foldclosedend(21)") == 26
    assert (steps(screen, buffer), modified(screen, buffer)) == (1, False)
    assert undo(screen, buffer) == NUMBERED
    assert [event["how"] for event in chat.events("AcpFileChanged")] == ["reload"]
    screen.clear_messages()
    screen.command("checktime")
    assert screen.messages() == ""


@pytest.mark.req("C24")
@pytest.mark.parametrize("order", ["disk", "disk, request", "request, disk", "request"])
def test_a_change_is_made_once(start_screen: StartScreen, agent: MakeAgent, order: str) -> None:
    parts: dict[str, list[Json]] = {
        "disk": [{"write": "$cwd/a.py", "text": "x=2\n"}],
        "request": [write(142, "$cwd/a.py", "x=2\n"), {"await": 142}],
    }
    call = {
        "toolCallId": "t1",
        "title": "Edit a.py",
        "kind": "edit",
        "content": [diff("$cwd/a.py", "x=1\n", "x=2\n")],
    }
    done = update("tool_call_update", toolCallId="t1", status="completed")
    middle = [action for name in order.split(", ") for action in parts[name]]
    chat, ws = opened(start_screen, agent, [ask(141, call), {"await": 141}, *middle, done, END])
    (ws / "a.py").write_text("x=1\n")
    buffer = edit(chat.screen, ws / "a.py")
    chat.send()
    chat.wait_pending(1)
    assert chat.screen.lines(buffer) == ["x=1"], "a diff is no order to write"
    assert (ws / "a.py").read_text() == "x=1\n"
    chat.permit("allow_once")
    chat.wait_turn()
    assert (chat.screen.lines(buffer), (ws / "a.py").read_text()) == (["x=2"], "x=2\n")
    assert (steps(chat.screen, buffer), modified(chat.screen, buffer)) == (1, False)
    assert undo(chat.screen, buffer) == ["x=1"]
    how = "write" if order.startswith("request") else "reload"
    assert [event["how"] for event in chat.events("AcpFileChanged")] == [how]
    chat.screen.clear_messages()
    chat.screen.command("checktime")
    assert chat.screen.messages() == ""


@pytest.mark.req("C37")
def test_a_sibling_folder_is_outside(start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [read(213, "$cwd-evil/secret.txt"), read(214, "relative.txt"), {"await": 213}, END]
    chat, ws = opened(start_screen, agent, actions)
    evil = ws.with_name(ws.name + "-evil")
    evil.mkdir()
    (evil / "secret.txt").write_text("secret\n")
    chat.send()
    assert chat.agent.response(214)["error"]["code"] == -32602
    chat.wait_pending(1)
    chat.wait("outside the project")
    chat.permit("reject_once")
    assert "error" in chat.agent.response(213)
    chat.wait_turn()


@pytest.mark.req("C38")
@pytest.mark.parametrize("answer", ["allow_once", "reject_once", "cancel"])
def test_nothing_outside_without_a_question(start_screen: StartScreen, agent: MakeAgent, answer: str) -> None:
    chat, ws = opened(start_screen, agent, [])
    home = ws.with_name("elsewhere")
    home.mkdir()
    (home / "key").write_text("key\n")
    (ws / "innocent").symlink_to(home)
    actions = [
        read(217, "$cwd/innocent/key"),
        {"await": 217},
        write(218, str(home / "new/.bashrc"), "x"),
        {"await": 218},
        END,
    ]
    other = agent(on={"session/prompt": actions})
    stage = Stage(chat.screen, PASSIVE)
    stage.setup(y=other)
    chat = stage.open(other, "y")
    chat.wait_state("idle")
    chat.send()
    for ident, path in ((217, home / "key"), (218, home / "new/.bashrc")):
        assert "outside the project" in chat.wait(str(path))
        asked = chat.events("AcpPermission")[-1]["title"]
        assert asked == f"y wants to {'read' if ident == 217 else 'create'}: {path}"
        chat.wait_pending(1)
        chat.permit(answer)
        chat.agent.response(ident)
    chat.wait_turn()
    results = [chat.agent.response(ident) for ident in (217, 218)]
    if answer == "allow_once":
        assert results[0]["result"]["content"] == "key\n"
        assert (home / "new/.bashrc").read_text() == "x"
    else:
        assert all("error" in result for result in results)
        assert not (home / "new").exists()


BASE = ["one", "two", "three", "four", "five"]
MINE = ["one", "two", "three", "four", "MINE"]
THEIRS = ["THEIRS", "two", "three", "four", "five"]


@pytest.mark.parametrize("answer", ["allow_once", "reject_once", "3"])
def test_unsaved_edits_the_agent_does_not_know(
    start_screen: StartScreen, agent: MakeAgent, answer: str
) -> None:
    """The question shows the change in full; yes, no, or both."""
    theirs = "\n".join(THEIRS) + "\n"
    reading = [read(1, "$cwd/a.py"), {"await": 1}, END]
    writing = [write(2, "$cwd/a.py", theirs), {"await": 2}, END]
    (chat,) = play("whole", start_screen, agent, [], on={"session/prompt": [reading, writing]})
    ws = chat.screen.cwd.resolve()
    path = ws / "a.py"
    path.write_text("\n".join(BASE) + "\n")
    buffer = edit(chat.screen, path)
    chat.send()
    chat.wait_turn()
    chat.screen.api.buf_set_lines(buffer, 0, -1, True, MINE)
    chat.send()
    chat.wait_pending(1)
    text = chat.wait("3 Keep both")
    for line in ("has unsaved edits", "- one", "+ THEIRS", "- MINE", "+ five"):
        assert line in text
    chat.permit(answer)
    chat.wait_turn(2)
    response, screen = chat.agent.response(2), chat.screen
    on_disk = path.read_text().splitlines()
    if answer == "reject_once":
        assert "error" in response
        assert (screen.lines(buffer), modified(screen, buffer), on_disk) == (MINE, True, BASE)
        return
    assert "error" not in response
    chat.wait("  merged, unsaved" if answer == "3" else "  allowed")
    both = ["THEIRS", "two", "three", "four", "MINE"]
    assert screen.lines(buffer) == (both if answer == "3" else THEIRS)
    assert (modified(screen, buffer), on_disk) == (answer == "3", THEIRS)
    assert [event["how"] for event in chat.events("AcpFileChanged")] == ["write"]
    screen.command("checktime")
    assert not screen.blocked()
    assert undo(screen, buffer) == MINE
    screen.clear_messages()
    if answer == "3":
        screen.lua("vim.api.nvim_buf_call(..., function() vim.cmd('silent redo | silent write') end)", buffer)
        assert path.read_text().splitlines() == both


def test_conflicts_are_listed_with_their_remedy(start_screen: StartScreen, agent: MakeAgent) -> None:
    done = update("tool_call", toolCallId="t", title="sed", kind="execute", status="completed")
    theirs: list[Json] = [{"write": f"$cwd/{name}", "text": "theirs\n"} for name in "abc"]
    chat, ws = opened(start_screen, agent, [*theirs, done, END])
    buffers = {}
    for name in "abc":
        (ws / name).write_text("one\n")
        buffers[name] = edit(chat.screen, ws / name, None if name == "c" else ["mine"])
    chat.send()
    chat.wait_turn()
    text = chat.wait("2 files changed on disk under your unsaved edits")
    assert ":e! takes the disk's text, :w! keeps yours" in text
    assert [chat.screen.lines(buffers[name]) for name in "abc"] == [["mine"], ["mine"], ["theirs"]]
    chat.send()
    chat.wait_turn(2)
    assert chat.text().count("changed on disk under") == 1, "said once"
    screen = chat.screen
    screen.command("tabnext 2 | buffer a")
    assert screen.lua("return vim.b.acp_conflict") is True
    screen.wait("changed on disk: :e! takes it, :w! keeps yours")
    screen.command("silent write!")
    screen.command("buffer b | silent edit!")
    assert [(ws / name).read_text() for name in "ab"] == ["mine\n", "theirs\n"]
    assert screen.lua("return vim.b.acp_conflict") is None
    assert undo(screen, buffers["b"]) == ["mine"]
    screen.clear_messages()


def test_each_chat_hears_of_its_own_files(start_screen: StartScreen, agent: MakeAgent) -> None:
    """Two agents in one folder, both at work: what is written for one, or told by one, is its own."""
    done = update("tool_call", toolCallId="t", title="e", kind="edit", status="completed", locations=[])
    stage = Stage(start_screen(size=(150, 40), init=WATCH), PASSIVE)
    ws = stage.screen.cwd.resolve()
    chats = {}
    agents = {}
    for name in "xy":
        (ws / name).write_text("one\n")
        located = {"update": {**done["update"], "locations": [{"path": f"$cwd/{name}"}]}}
        actions = [
            {"write": f"$cwd/{name}", "text": "two\n"},
            located,
            write(1, f"$cwd/{name}", "three\n"),
            {"await": 1},
            {"wait": "session/cancel"},
            END,
        ]
        agents[name] = agent(on={"session/prompt": actions})
    stage.setup(**agents)
    for name in "xy":
        edit(stage.screen, ws / name)
        chats[name] = stage.open(agents[name], name)
        chats[name].wait_state("idle")
        chats[name].send()
    for name in "xy":
        agents[name].response(1)
        eventually(lambda name=name: len(chats[name].events("AcpFileChanged")) == 2)  # type: ignore[misc]
        seen = [(event["path"], event["how"]) for event in chats[name].events("AcpFileChanged")]
        assert seen == [(str(ws / name), "reload"), (str(ws / name), "write")]
    for chat in chats.values():
        chat.cancel()
        chat.wait_turn()


@pytest.mark.parametrize("autocmds", [False, True])
def test_autocommands_of_a_write_are_a_setting(
    start_screen: StartScreen, agent: MakeAgent, autocmds: bool
) -> None:
    settings = {**PASSIVE, "files": {"write_autocmds": autocmds}}
    actions = [write(1, "$cwd/a", "two\n"), {"await": 1}, END]
    chat, ws = opened(start_screen, agent, actions, settings=settings)
    (ws / "a").write_text("one\n")
    edit(chat.screen, ws / "a")
    chat.screen.command(
        "autocmd BufWritePre,BufWritePost * let g:ran = get(g:, 'ran', '') .. expand('<afile>:t')"
    )
    chat.send()
    chat.wait_turn()
    assert (ws / "a").read_text() == "two\n"
    assert chat.screen.lua("return vim.g.ran") == ("a" if autocmds else None)


def test_a_write_without_a_call_leaves_its_trace(start_screen: StartScreen, agent: MakeAgent) -> None:
    actions = [write(191, "$cwd/a.py", "one\nTWO\n"), {"await": 191}, END]
    chat, ws = opened(start_screen, agent, actions)
    (ws / "a.py").write_text("one\ntwo\n")
    chat.send()
    chat.wait("── done · 1 file +1 -1")
    assert "✓ edit   a.py  +1 -1" in chat.text()
    chat.screen.command("AcpDiff a.py")
    eventually(lambda: len(chat.screen.api.list_tabpages()) == 2, message="the diff in its tab")


def test_a_write_with_a_call_is_told_once(start_screen: StartScreen, agent: MakeAgent) -> None:
    content = [diff("$cwd/a.py", "one\n", "two\n")]
    actions = [
        write(192, "$cwd/a.py", "two\n"),
        {"await": 192},
        update("tool_call", toolCallId="t", title="Edit", kind="edit", status="completed", content=content),
        END,
    ]
    chat, ws = opened(start_screen, agent, actions)
    (ws / "a.py").write_text("one\n")
    chat.send()
    chat.wait("── done · 1 file +1 -1")
    assert chat.text().count("✓ edit") == 1


COUNT_LEARNED = """
_G.learned = 0
local disk = require('acp.buffers.disk')
local reload = disk.reload
disk.reload = function(...)
  _G.learned = _G.learned + 1
  return reload(...)
end
"""


@pytest.mark.parametrize("names", [["a.py"], ["a.py", "b.py"]])
def test_a_file_deleted_under_its_buffer_is_named(
    start_screen: StartScreen, agent: MakeAgent, names: list[str]
) -> None:
    call = {"toolCallId": "t", "title": "rm", "kind": "execute"}
    chat, ws = opened(start_screen, agent, [ask(195, call), {"await": 195}, END, END])
    edit(chat.screen, ws / "new.py")  # there is no such file, and nobody has deleted it
    for name in names:
        (ws / name).write_text("one\n")
        os.utime(ws / name, (1e9, 1e9))
        edit(chat.screen, ws / name)
    chat.screen.command("tabfirst")
    chat.screen.lua(COUNT_LEARNED)
    chat.send()
    chat.wait_pending(1)
    eventually(lambda: chat.screen.lua("return _G.learned") >= len(names))
    for name in names:
        (ws / name).unlink()
    chat.permit("allow_once")
    chat.wait_turn()
    buffers = "your buffer still has it" if len(names) == 1 else "your buffers still have them"
    chat.wait(f"── deleted on disk, {buffers}: {', '.join(names)}")
    chat.send()
    chat.wait_turn(2)
    assert chat.text().count("deleted on disk") == 1


@pytest.mark.parametrize("known", [False, True], ids=["deleted just now", "deletion told before"])
def test_a_deleted_file_that_is_written_again_is_named(
    start_screen: StartScreen, agent: MakeAgent, known: bool
) -> None:
    """Nothing is lost, so nothing is asked; but the user may have meant it to be gone."""
    hold = [ask(195, {"toolCallId": "t", "title": "rm", "kind": "execute"}), {"await": 195}]
    again = [write(1, "$cwd/a.py", "two\n"), {"await": 1}, write(2, "$cwd/new.py", "x\n"), {"await": 2}, END]
    chat, ws = opened(start_screen, agent, [*hold, *([END] if known else []), *again])
    (ws / "a.py").write_text("one\n")
    os.utime(ws / "a.py", (1e9, 1e9))
    edit(chat.screen, ws / "new.py")  # there is no such file, and nobody has deleted it
    buffer = edit(chat.screen, ws / "a.py")
    chat.screen.command("tabfirst")
    chat.screen.lua(COUNT_LEARNED)
    chat.send()
    chat.wait_pending(1)
    eventually(lambda: chat.screen.lua("return _G.learned") >= 1)
    (ws / "a.py").unlink()
    chat.permit("allow_once")
    chat.wait_turn()
    if known:
        chat.wait("── deleted on disk, your buffer still has it: a.py")
        chat.send()
        chat.wait_turn(2)
    chat.wait("── written again, it was deleted on disk: a.py")
    assert chat.text().count("written again") == 1
    assert ((ws / "a.py").read_text(), chat.screen.lines(buffer)) == ("two\n", ["two"])
