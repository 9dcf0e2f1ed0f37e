"""Sessions taken up from the list: loaded with their replay, resumed, forked."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END
from tests.nvim.sessions_kit import ALL, HISTORY, Desk, able, ago, entry, said, sessions
from tests.nvim.trouble import change, kill_agent, starts
from tests.plugin import StartScreen, eventually


@pytest.mark.req("V1-49", "V1-50", "V1-51")
@pytest.mark.parametrize("early", [False, True], ids=["as it should be", "answers first"])
def test_load_shows_the_history_and_nothing_else_happens(
    start_screen: StartScreen, agent: MakeAgent, early: bool
) -> None:
    desk = Desk(start_screen)
    answer: Json = {"reply": {}}
    replay = [HISTORY[0], answer, *HISTORY[1:]] if early else [*HISTORY, answer]
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(entry("old", desk.cwd, "Red tests", updatedAt=ago(days=400))),
            "session/load": replay,
            "session/prompt": [said("user", "go on"), {"say": "on it"}, END],
        }
    )
    desk.setup({"x": x}, follow={"enabled": True})
    desk.listed("Red tests")
    chat = desk.open("Red tests", x)
    chat.wait("── loaded 2 messages")
    chat.wait_state("idle")
    text = chat.wait("ready in")
    assert "❯ why is it red?" in text
    assert text.count("It is **not**.") == 1
    assert "✗ read   /etc/hosts  no answer" in text  # nobody will tell any more
    assert "── done" not in text
    status = chat.status()
    assert (status["session"], status["title"], status.get("stop_reason")) == ("old", "Red tests", None)
    screen = desk.screen
    assert screen.lua("local b = ... return { vim.b[b].acp_session, vim.b[b].acp_title }", chat.buf) == [
        "old", "Red tests",
    ]  # fmt: skip
    assert [data["how"] for data in chat.events("AcpSession")] == ["loaded"]
    for name in ("AcpTurnStart", "AcpTurnEnd", "AcpToolCall", "AcpFollow", "AcpFileChanged"):
        assert chat.events(name) == [], name
    assert screen.funcs.bufnr("/etc/hosts") == -1
    assert x.log("session/load")[0]["params"] == {"sessionId": "old", "cwd": desk.cwd, "mcpServers": []}
    chat.send("go on")
    chat.wait_turn()
    assert chat.wait("── done").count("go on") == 1  # the echo of it is known
    assert chat.text().count("It is **not**.") == 1
    assert screen.messages() == ""
    # Opening it again shows this chat.
    chat.hide()
    desk.listed("Red tests")
    again = desk.open("Red tests", x)
    assert again.n == chat.n
    assert len(x.log("session/load")) == 1
    assert desk.numbers() == [chat.n]


def test_what_is_typed_while_it_loads_is_sent_after_it(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    replay = [HISTORY[0], {"wait": "session/delete"}, {"reply": {}}, HISTORY[4], said("user", "late words")]
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(entry("old", desk.cwd, "Old one")),
            "session/load": replay,
            "session/prompt": [{"say": "new answer"}, END],
        }
    )
    desk.setup({"x": x})
    desk.listed("Old one")
    chat = desk.open("Old one", x)
    chat.wait("why is it red?")
    chat.send("typed meanwhile")
    eventually(lambda: chat.status()["queued"] == 1, message=lambda: str(chat.status()))
    assert chat.status()["state"] == "starting"
    assert x.log("session/prompt") == []
    other = {"agent": "x", "home": desk.cwd, "session": "other", "can": {"delete": True}}
    desk.screen.lua("require('acp.sessions').delete_entry(...)", other)  # the agent's sign to go on
    chat.wait_turn()
    text = chat.wait("new answer")
    order = [
        "why is it red?",
        "It is **not**.",
        "❯ late words",
        "── loaded 3",
        "❯ typed meanwhile",
        "new answer",
    ]
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert len(x.log("session/prompt")) == 1


def test_c12_a_load_that_restores_nothing_is_said(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(entry("gone", desk.cwd, "Gone")),
            "session/load": [{"reply": {}}],
            "session/prompt": [{"reply": {"stopReason": "refusal"}}],
        }
    )
    desk.setup({"x": x})
    desk.listed("Gone")
    chat = desk.open("Gone", x)
    chat.wait("── x restored nothing: it may not remember this session")
    chat.wait_state("idle")
    chat.send("hello?")
    chat.wait_turn()
    chat.wait("── refused by x.")
    assert "done" not in chat.text()
    assert "loaded" not in chat.text()


@pytest.mark.req("V1-61")
def test_a_session_that_cannot_be_loaded(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    error = {"code": -32002, "message": "Resource not found", "data": {"sessionId": "old"}}
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(entry("old", desk.cwd, "Old one")),
            "session/load": [HISTORY[0], {"error": error}],
        }
    )
    desk.setup({"x": x})
    desk.listed("Old one")
    chat = desk.open("Old one", x)
    chat.wait("✗ x could not load the session: Resource not found\n  │ :AcpRestart tries again")
    chat.wait_state("failed")
    assert x.log("session/new") == []  # another session would not be what was asked for
    change(x, session_load=[*HISTORY, {"reply": {}}])
    desk.screen.command("AcpRestart")
    chat.wait_state("idle")
    chat.wait("── loaded; what stands above was cut short")
    assert chat.text().count("why is it red?") == 1
    assert len(starts(x)) == 2


@pytest.mark.req("V1-52")
def test_resume_when_it_cannot_load(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    more = entry("old", desk.cwd, "Old one", additionalDirectories=["/usr"])
    x = agent(
        {
            "initialize": able("list", "resume"),
            "session/list": sessions(more),
            "session/resume": [{"reply": {}}],
        }
    )
    desk.setup({"x": x})
    desk.listed("Old one")
    chat = desk.open("Old one", x)
    chat.wait("── resumed: x does not repeat what was said before")
    chat.wait("  │ /usr\n  │ set agents.x.directories, then :AcpRestart")
    chat.wait_state("idle")
    assert x.log("session/resume")[0]["params"] == {"sessionId": "old", "cwd": desk.cwd}
    assert [data["how"] for data in chat.events("AcpSession")] == ["resumed"]
    # After a crash it is the same session again.
    kill_agent(x)
    chat.wait_state("failed")
    desk.screen.command("AcpRestart")
    chat.wait("── resumed: x remembers this chat")
    assert x.log("session/new") == []


@pytest.mark.req("V1-59", "V1-60")
def test_further_folders(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    desk = Desk(start_screen)
    (desk.screen.cwd / "in.txt").write_text("inside")
    (tmp_path / "more.txt").write_text("more")
    read: Json = {
        "request": "fs/read_text_file",
        "id": 7,
        "params": {"sessionId": "$session", "path": str(tmp_path / "more.txt")},
    }
    x = agent({"initialize": able("additionalDirectories"), "session/prompt": [read, {"await": 7}, END]})
    y = agent({"session/prompt": [read, END]})
    folders = [str(tmp_path), "/no/such/folder"]
    agents = {"x": {**x.settings, "directories": folders}, "y": {**y.settings, "directories": folders}}
    desk.screen.setup({"agents": agents, "permission": {"open": "never"}})
    chat = desk.chat(x)
    chat.wait("── directories: there is no folder /no/such/folder")
    assert x.log("session/new")[0]["params"]["additionalDirectories"] == [str(tmp_path)]
    chat.send()
    assert x.response(7)["result"] == {"content": "more"}  # a root: nothing is asked
    other = desk.chat(y, "y")
    other.wait("│ y takes no further folders: agents.y.directories")
    assert "additionalDirectories" not in y.log("session/new")[0]["params"]
    other.send()
    other.wait_pending(1)


def test_a_bad_folder_of_the_settings_is_named(start_screen: StartScreen) -> None:
    screen = start_screen(size=(120, 30))
    screen.setup({"agents": {"x": {"directories": ["sub/folder"]}}})
    assert "agents.x.directories[1] must be an absolute path" in screen.messages()


@pytest.mark.req("V1-62")
def test_fork(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(entry("a", desk.cwd, "Base")),
            "session/fork": [{"reply": {"sessionId": "forked"}}],
            "session/prompt": [{"say": "in $session"}, END],
        }
    )
    desk.setup({"x": x})
    desk.listed("Base")
    desk.press("F", "Base")
    eventually(lambda: desk.numbers() == [1])
    chat = desk.current(x)
    chat.wait("── forked: x remembers what was said before.")
    chat.wait_state("idle")
    chat.send()
    chat.wait("in forked")
    assert x.log("session/fork")[0]["params"] == {"sessionId": "a", "cwd": desk.cwd}
    assert [data["how"] for data in chat.events("AcpSession")] == ["forked"]


def test_sessions_of_an_agent_that_keeps_them_in_memory(start_screen: StartScreen, agent: MakeAgent) -> None:
    """They are opened on the process that has listed them, and each works in its own folder."""
    desk = Desk(start_screen)
    home = Path(desk.cwd)
    (home / "sub").mkdir()
    x = agent(
        {
            "initialize": ALL,
            "session/list": sessions(entry("a", str(home / "sub"), "In sub"), entry("z", "/no/such", "Lost")),
            "session/load": [*HISTORY, {"reply": {}}],
        }
    )
    desk.setup({"x": x})
    desk.listed()
    desk.screen.keys("a")
    desk.shows("In sub")
    desk.press("<CR>", "Lost")
    desk.screen.wait("its folder does not exist any more: /no/such")
    chat = desk.open("In sub", x)
    chat.wait("loaded 2 messages")
    assert len(starts(x)) == 1
    assert x.log("session/load")[0]["params"]["cwd"] == str(home / "sub")
    assert x.events("start")[0]["cwd"] == desk.cwd
    pid = starts(x)[0]
    desk.screen.lua("require('acp.chat').finish(require('acp.chat').get(1))")
    x.wait("session/close")
    desk.screen.command("AcpChat! x")
    desk.screen.wait("ready in")
    assert starts(x) == [pid]  # it was kept for a while, and now has a chat
