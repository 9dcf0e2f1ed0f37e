"""Sessions of an earlier Neovim in the same folder: offered again, taken up, gone."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END
from tests.nvim.sessions_kit import ALL, HISTORY, Desk, able, entry, sessions
from tests.nvim.trouble import change
from tests.plugin import StartScreen, eventually

LOADS = able(load=True)
"""An agent like Gemini CLI: it can load a session, and not list them."""

NEW: list[Json] = [{"reply": {"sessionId": "s-one"}}]


class Home:
    """One user's folders, for one Neovim after the other."""

    def __init__(self, start_screen: StartScreen, folder: Path) -> None:
        self._start = start_screen
        self.state, self.cwd = folder / "state", folder / "project"
        self.file = self.state / "nvim" / "acp.nvim" / "sessions.json"
        self.cwd.mkdir()

    def desk(self, **options: Any) -> Desk:
        env = {"XDG_STATE_HOME": str(self.state)}
        return Desk(self._start, **{"cwd": self.cwd, "env": env, **options})

    def kept(self) -> list[Json]:
        return list(json.loads(self.file.read_text())["sessions"]) if self.file.exists() else []


def quit_all(desk: Desk) -> None:
    desk.screen.keys("<Esc>:qa!<CR>")
    desk.screen.wait_exit()


def test_another_neovim_offers_it_again(
    start_screen: StartScreen, agent: MakeAgent, short_tmp: Path, tmp_path: Path
) -> None:
    home = Home(start_screen, short_tmp)
    x = agent({"initialize": LOADS, "session/new": NEW, "session/prompt": [{"say": "fixed"}, END]})
    first = home.desk()
    first.setup({"x": x})
    chat = first.chat(x)
    assert "earlier session" not in chat.text()
    assert home.kept() == []  # nothing was said in it
    chat.send("fix the red test\nand more")
    chat.wait_turn()
    eventually(lambda: [each["title"] for each in home.kept()] == ["fix the red test"])
    assert stat.S_IMODE(home.file.stat().st_mode) == 0o600
    script = tmp_path / "s.vim"
    first.screen.command(f"mksession! {script}")
    quit_all(first)

    change(x, session_load=[*HISTORY, {"reply": {}}], session_new=[{"reply": {"sessionId": "s-two"}}])
    second = home.desk()
    second.setup({"x": x})
    chat = second.chat(x)
    chat.wait("1 earlier session here: :AcpSessions")
    rows = second.listed("○ fix the red test", "── x cannot list its sessions: those used here are shown")
    assert len(rows) == 3
    chat = second.open("fix the red test", x)
    chat.wait("── loaded 2 messages")
    assert x.log("session/load")[-1]["params"]["sessionId"] == "s-one"
    second.listed("fix the red test")
    assert sum("fix the red test" in row for row in second.rows()) == 1
    assert second.chat(x).text().count("earlier session") == 0  # said once a folder
    quit_all(second)

    # A session file brings the buffers back, and one key the session.
    third = home.desk()
    third.setup({"x": x})
    third.screen.command(f"source {script}")
    third.screen.wait("<CR>  goes on with it: “fix the red test”, ")
    third.screen.command("drop acp://x/1")
    third.screen.keys("<CR>")
    eventually(lambda: third.screen.lua("return require('acp.chat').current() ~= nil"))
    third.screen.keys("<Esc>")
    chat = third.current(x)
    chat.wait("── loaded 2 messages")
    names = [third.screen.api.buf_get_name(each) for each in third.screen.api.list_bufs()]
    assert sorted(name for name in names if "acp://" in name) == [
        f"acp://x/{chat.n}",
        f"acp://x/{chat.n}/prompt",
    ]
    assert third.screen.messages() == ""


def test_it_is_gone(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> None:
    home = Home(start_screen, short_tmp)
    error = {"code": -32603, "message": "Internal error", "data": {"details": "No previous sessions found"}}
    x = agent({"initialize": LOADS, "session/new": NEW, "session/load": [{"error": error}]})
    row = {"agent": "x", "cwd": str(home.cwd), "home": str(home.cwd), "time": 1}
    home.file.parent.mkdir(parents=True)
    other = {**row, "id": "b", "title": "Else\u202ewhere", "cwd": "/nowhere", "chat": 3}
    lines = [
        {**row, "id": "a", "title": "Gone one"},
        other,
        {**row, "id": "c", "title": "Kept", "agent": "y"},
    ]
    home.file.write_text(json.dumps({"version": 1, "sessions": lines}))
    desk = home.desk()
    desk.setup({"x": x})
    desk.listed("Gone one", "Kept")
    assert "Else" not in "".join(desk.rows())
    desk.press("<CR>", "Kept")
    desk.screen.wait("acp: there is no agent 'y'")
    desk.press("a", "Kept")
    desk.shows("Else", "where")
    assert "\u202e" not in "".join(desk.rows())
    chat = desk.open("Gone one", x)
    chat.wait("✗ x does not have this session any more; it is off the list\n  │ Internal error: No previous")
    eventually(lambda: [each["id"] for each in home.kept()] == ["b", "c"])
    change(x, session_load=[*HISTORY, {"reply": {}}])
    desk.screen.command("AcpRestart")
    chat.wait_state("idle")
    assert len(x.log("session/new")) == 1
    desk.listed("(untitled)", "Kept")
    assert "Gone one" not in "".join(desk.rows())
    # What an agent cannot delete is taken off the list.
    desk.press("D", "Kept")
    desk.screen.wait("Take “Kept” off the list? y cannot delete sessions.")
    desk.screen.keys("2")
    desk.shows("(untitled)", gone=["Kept"])
    eventually(lambda: [each["id"] for each in home.kept()] == ["b"])
    # An id is enough, if one knows it.
    complete = desk.screen.funcs.getcompletion
    assert "x" in complete("AcpSessions ", "cmdline")
    assert complete("AcpSessions y ", "cmdline") == []
    desk.screen.command("AcpSessions x its own id")
    eventually(lambda: any(m["params"]["sessionId"] == "its own id" for m in x.log("session/load")))
    desk.current(x).wait("── loaded 2 messages")
    eventually(lambda: [each["id"] for each in home.kept()] == ["its own id", "b"])
    assert complete("AcpSessions x ", "cmdline") == ["its own id", "b"]
    assert "no such" not in desk.screen.messages()


def test_an_agent_that_lists_knows_better_and_nothing_is_kept_if_not_wanted(
    start_screen: StartScreen, agent: MakeAgent, short_tmp: Path
) -> None:
    home = Home(start_screen, short_tmp)
    x = agent(
        {
            "initialize": ALL,
            "session/new": NEW,
            "session/list": sessions(entry("a", str(home.cwd), "Its title")),
            "session/prompt": [{"say": "fixed"}, END],
        }
    )
    row = {"agent": "x", "cwd": str(home.cwd), "home": str(home.cwd), "time": 1}
    home.file.parent.mkdir(parents=True)
    lines = [{**row, "id": "a", "title": "Our title"}, {**row, "id": "b", "title": "Deleted elsewhere"}]
    before = json.dumps({"version": 1, "sessions": lines})
    home.file.write_text(before)
    desk = home.desk()
    desk.setup({"x": x})
    desk.listed("Its title")
    assert not any(each in "".join(desk.rows()) for each in ("Our title", "elsewhere"))
    desk.setup({"x": x}, sessions={"remember": False})
    chat = desk.chat(x)
    chat.send("hello")
    chat.wait_turn()
    desk.listed("Its title", "hello")
    assert "earlier session" not in chat.text()
    assert home.file.read_text() == before


def test_a_broken_record_is_one_message(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> None:
    home = Home(start_screen, short_tmp)
    x = agent({"initialize": LOADS, "session/new": NEW, "session/prompt": [{"say": "fixed"}, END]})
    home.file.parent.mkdir(parents=True)
    home.file.write_text("{")
    desk = home.desk()
    desk.setup({"x": x})
    chat = desk.chat(x)
    chat.send("hello")
    chat.wait_turn()
    eventually(lambda: [each["title"] for each in home.kept()] == ["hello"])
    desk.screen.wait("earlier sessions are not known")
    assert home.file.with_suffix(".bad").read_text() == "{"
    assert desk.screen.messages().replace("\n", "").count("cannot be read") == 1
