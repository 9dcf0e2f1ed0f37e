""":AcpSessions: what it lists, and closing and deleting from it."""

from __future__ import annotations

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, ask, update
from tests.nvim.sessions_kit import ALL, HISTORY, Desk, able, ago, entry, sessions
from tests.nvim.trouble import starts
from tests.plugin import StartNvim, StartScreen, eventually


@pytest.mark.req("V1-53", "V1-54", "V1-55", "V1-56")
def test_three_pages_with_broken_entries(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    here = desk.cwd
    page: list[Json] = [
        {"sessions": [entry("a", here, "Fix leap years", updatedAt=ago(minutes=2))], "nextCursor": "1"},
        {"sessions": [{"cwd": here, "title": "no id"}, "junk", entry("b", here)], "nextCursor": "2"},
        {"sessions": [entry("c", here, "カレンダーを直す", updatedAt=ago(minutes=1)), entry("a", here)]},
    ]
    x = agent({"initialize": ALL, "session/list": [[{"reply": each}] for each in page]})
    desk.setup({"x": x})
    desk.screen.command("AcpSessions")
    rows = desk.shows("(untitled)")
    folder = desk.screen.funcs.fnamemodify(here, ":~")
    assert rows == [
        f"○ カレンダーを直す  x  1 min ago  {folder}",
        f"○ Fix leap years    x  2 min ago  {folder}",
        f"○ (untitled)        x             {folder}",
    ]
    assert [m["params"] for m in x.log("session/list")] == [
        {"cwd": here},
        {"cwd": here, "cursor": "1"},
        {"cwd": here, "cursor": "2"},
    ]
    assert x.log("session/new") == []  # nothing was opened
    assert desk.numbers() == []
    screen = desk.screen
    assert screen.lua("return { vim.bo.filetype, vim.bo.buftype, vim.bo.modifiable, vim.bo.buflisted }") == [
        "acp-sessions", "nofile", False, False,
    ]  # fmt: skip
    assert screen.api.win_get_height(0) == 9
    assert " sessions" in screen.wait("<CR> opens  D deletes  a all folders  g? keys")
    screen.keys("q")
    eventually(lambda: not desk.rows())
    assert screen.messages() == ""


def test_the_list_while_the_agent_is_asked_and_all_folders(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    desk = Desk(start_screen)
    everywhere = [entry("a", desk.cwd, "Mine"), entry("b", "/", "Elsewhere")]
    x = agent(
        {"initialize": ALL, "session/list": [{"wait": "session/list", "count": 2}, *sessions(*everywhere)]}
    )
    desk.setup({"x": x})
    desk.screen.command("AcpSessions")
    desk.screen.wait("● asking x…")
    x.wait("session/list")
    desk.screen.keys("a")  # asked again, and the first answer counts no more
    desk.shows("Mine", "Elsewhere")
    assert [m["params"] for m in x.log("session/list")] == [{"cwd": desk.cwd}, {}]
    desk.screen.wait("a this folder")
    desk.screen.keys("a")
    desk.shows("Mine", gone=["Elsewhere"])  # although the agent lists it
    source = {"view": "list", "seq": 4, "agent": "x", "home": desk.cwd}
    desk.screen.keys("R")
    eventually(lambda: len(x.log("session/list")) == 4)
    desk.shows("Mine")
    told = "local s = ... require('acp.sessions').told(s.view, s.seq, s)"
    desk.screen.lua(told, {**source, "state": "asking"})
    eventually(lambda: "● asking x…" in desk.rows())
    desk.press("<CR>", "Mine")  # what it has said before still counts
    eventually(lambda: desk.numbers() == [1])


@pytest.mark.req("V1-58")
def test_close_ends_that_session_only(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(),
            "session/prompt": [
                [{"say": "answer in $session"}, {"wait": "session/cancel", "count": count}, END]
                for count in (1, 2)
            ],
        }
    )
    desk.setup({"x": x})
    one, two = desk.chat(x), desk.chat(x)
    assert len(starts(x)) == 1  # two sessions on one process
    one.send("first thing")
    one.wait("answer in s1")  # hidden, and at work
    two.send("second thing")
    two.wait("answer in s2")
    assert "s2" not in one.text()
    assert "s1" not in two.text()
    desk.listed("● first thing", "● second thing")
    desk.press("x", "first thing")
    desk.screen.wait("Close it?")
    desk.screen.keys("q")
    desk.screen.wait(lambda text: "Close it?" not in text)
    assert desk.numbers() == [1, 2]
    desk.press("x", "first thing")
    desk.screen.wait("Close it?")
    desk.screen.keys("2")
    desk.shows("second thing", gone=["first thing"])
    assert x.wait("session/close")["params"] == {"sessionId": "s1"}
    assert desk.numbers() == [2]
    assert two.status()["state"] == "running"
    assert len(x.log("session/close")) == 1
    desk.screen.lua("vim.cmd.bwipeout(require('acp.chat').get(2).buf)")
    desk.shows(gone=["second thing"])
    x.wait("session/close", 2)
    # The list is open, so its agent is, too.
    assert desk.screen.lua("return vim.api.nvim_get_current_buf() == vim.fn.bufnr('acp://sessions')")
    assert x.events("eof") == []


@pytest.mark.req("V1-57")
def test_delete(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(entry("a", desk.cwd, "Keep me"), entry("b", desk.cwd, "Old thing")),
            "session/delete": [[{"error": {"code": -32600, "message": "busy"}}], [{"reply": {}}]],
        }
    )
    desk.setup({"x": x})
    chat = desk.chat(x)
    chat.send("talk")
    chat.wait_turn()
    desk.listed("Keep me", "Old thing", "talk")
    desk.press("D", "Old thing")
    desk.screen.wait("Delete “Old thing” for good?")
    desk.screen.keys("1")
    desk.screen.wait(lambda text: "for good?" not in text)
    assert x.log("session/delete") == []
    desk.press("D", "Old thing")
    desk.screen.wait("for good?")
    desk.screen.keys("2")
    desk.screen.wait("x did not delete the session: busy")
    desk.shows("Old thing")
    desk.press("D", "Old thing")
    desk.screen.wait("for good?")
    desk.screen.keys("2")
    desk.shows("Keep me", gone=["Old thing"])
    assert x.log("session/delete")[-1]["params"] == {"sessionId": "b"}
    desk.press("D", "talk")
    desk.screen.wait("It is open in a chat.")
    desk.screen.keys("2")
    desk.shows("Keep me", gone=["talk"])
    assert x.log("session/delete")[-1]["params"] == {"sessionId": "s1"}
    assert desk.numbers() == []


def test_several_agents_and_who_waits_first(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    question = ask("q-$session", {"toolCallId": "t", "title": "npm install", "kind": "execute"})
    title = update("session_info_update", title="Install %s the parser")
    untitled = update("session_info_update", title=None)
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(entry("a", desk.cwd, "From x", updatedAt=ago(hours=0.5))),
        }
    )
    y = agent({
        "initialize": able("list"),
        "session/list": sessions(entry("s1", desk.cwd, "Known here"), entry("b", desk.cwd, "From y")),
        "session/prompt": [title, question, {"await": "q-s1"}, untitled, END],
    })  # fmt: skip
    desk.setup({"x": x, "y": y})
    first = desk.chat(x)
    second = desk.chat(y, "y")
    third = desk.chat(x)
    desk.listed("From x", "From y")
    rows = desk.rows()
    assert [row[0] for row in rows] == ["○"] * 5
    assert "Known here" in rows[1]  # the chat has no title of its own yet
    desk.go("From x")
    second.send("please install it")
    rows = desk.shows("? Install %s the parser", "waiting for you")
    assert rows[0].startswith("? Install %s the parser  y  now")
    assert rows[0].endswith("  waiting for you")
    line = desk.screen.api.get_current_line()
    assert "From x" in line  # the cursor has stayed with its entry
    assert desk.screen.groups_at(*desk.screen.find("? Install"))[-1] == "DiagnosticWarn"
    desk.open("Install %s", y)
    assert desk.current(y).n == second.n
    second.permit("allow_once")
    second.wait_turn()
    desk.listed("✓ Known here")  # null has cleared the title
    desk.screen.command("AcpSessions x")
    desk.shows("From x", gone=["From y", "Known here"])
    desk.screen.wait(" sessions of x")
    assert {first.n, third.n} == {1, 3}


def test_windows_are_as_they_were(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen, size=(100, 40))
    x = agent({"initialize": ALL, "session/list": sessions(entry("a", desk.cwd, "One"))})
    desk.setup({"x": x})
    chat = desk.chat(x)
    sizes = "return { vim.fn.winrestcmd(), vim.api.nvim_get_current_win() }"
    before = desk.screen.lua(sizes)
    desk.listed("One")
    assert "ready in" in desk.screen.text()  # the transcript still shows its end
    desk.screen.keys("q")
    eventually(lambda: desk.screen.lua(sizes) == before, message=lambda: desk.screen.lua(sizes))
    # Another size of the screen still is the chat's size, too.
    win = desk.screen.funcs.bufwinid(chat.buf)
    assert not desk.screen.lua("return vim.w[...].acp_sized.by_hand", win)


def test_the_data_for_pickers(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(
                entry("a", desk.cwd, "One", updatedAt=ago(hours=1)), entry("b", "/", "Two")
            ),
            "session/load": [*HISTORY, {"reply": {}}],
        }
    )
    y = agent({"initialize": able()})
    desk.setup({"x": x, "y": y})
    desk.chat(y, "y")
    code = (
        "_G.found = nil"
        " require('acp').sessions({ agent = ..., all = true, callback = function(list, problems)"
        "   _G.list, _G.problems = list, problems"
        "   _G.found = vim.tbl_map(function(e) return { e.agent, e.title or '', e.state, e.cwd } end, list)"
        " end })"
    )
    desk.screen.lua(code)
    eventually(lambda: desk.screen.lua("return _G.found ~= nil"))
    assert desk.screen.lua("return _G.found") == [["y", "", "idle", desk.cwd]]
    assert desk.screen.lua("return _G.problems") == ["── y cannot list its sessions"]
    desk.screen.lua(code, "x")
    eventually(lambda: desk.screen.lua("return _G.found ~= nil"))
    assert desk.screen.lua("return _G.found") == [["x", "One", "none", desk.cwd], ["x", "Two", "none", "/"]]
    assert desk.rows() == []
    assert desk.screen.lua("return _G.list[1].open()")
    desk.current(x).wait("loaded 2 messages")
    assert len(starts(x)) == 1


def test_commands_and_maps(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent({"initialize": ALL, "session/list": sessions(entry("a", desk.cwd, "One"))})
    desk.setup({"x": x}, keymaps={"sessions": {"open": "o", "help": False}})
    desk.screen.keys(":AcpSessions nobody<CR>")
    desk.screen.wait("there is no agent 'nobody'")
    desk.screen.lua("vim.keymap.set('n', '<F5>', '<Plug>(acp-sessions)')")
    desk.screen.keys("<F5>")
    desk.shows("One")
    desk.screen.wait("o opens  D deletes  a all folders\n")
    assert "x" in desk.screen.funcs.getcompletion("AcpSessions ", "cmdline")
    desk.press("o", "One")
    eventually(lambda: desk.numbers() == [1])


def test_a_key_that_no_agent_of_the_list_knows_is_not_offered(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    desk = Desk(start_screen)
    x = agent({"initialize": able("list"), "session/list": sessions(entry("a", desk.cwd, "One"))})
    desk.setup({"x": x})
    desk.screen.command("AcpSessions")
    desk.shows("One")
    desk.screen.wait("<CR> opens  a all folders  g? keys")


def test_who_waits_is_said_whole_on_a_small_screen(start_nvim: StartNvim) -> None:
    nvim = start_nvim()
    rows = nvim.lua(
        """
        local entry = { agent = 'demo', state = 'waiting', pending = 1, cwd = '/tmp/some/project' }
        entry.title = ('a title that is long '):rep(5)
        return require('acp.sessions.rows').draw({ entry }, 70, 0)
        """
    )
    assert rows[0]["text"].endswith("  waiting for you")
    assert len(rows[0]["text"]) <= 70
