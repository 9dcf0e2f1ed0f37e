""":AcpSessions with agents that cannot, will not, or die."""

from __future__ import annotations

from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import assert_gone
from tests.nvim.sessions_kit import ALL, Desk, able, entry, sessions
from tests.nvim.trouble import change, starts
from tests.plugin import StartScreen, eventually


@pytest.mark.req("V1-49", "V1-52", "V1-53", "V1-57", "V1-58", "V1-62")
def test_agents_that_can_do_nothing_of_it(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent({"initialize": able()})
    y = agent({"initialize": able("list"), "session/list": sessions(entry("a", desk.cwd, "Only listed"))})
    desk.setup({"x": x, "y": y})
    chat = desk.chat(x)
    chat.send("talk")
    chat.wait_turn()
    desk.chat(y, "y")
    desk.listed("── x cannot list its sessions", "Only listed", "✓ talk", "○ (untitled)")
    for key, text, reason in [
        ("D", "talk", "x cannot delete sessions"),
        ("F", "talk", "x cannot fork a session"),
        ("D", "Only listed", "y cannot delete sessions"),
        ("F", "Only listed", "y cannot fork a session"),
        ("x", "Only listed", "this session is not open"),
        ("<CR>", "Only listed", "y can list its sessions, but not open them"),
    ]:
        desk.press(key, text)
        desk.screen.wait(f"acp: {reason}")
    desk.press("x", "talk")
    desk.screen.wait("x may not bring “talk” back. Close it?")
    desk.screen.keys("2")
    desk.shows("Only listed", gone=["talk"])
    asked = {m["method"] for m in (*x.log(), *y.log())} - {"initialize", "session/new", "session/prompt"}
    assert asked == {"session/list"}


def test_an_agent_that_dies_while_it_lists(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent(
        {
            "initialize": ALL,
            "session/list": [[{"stderr": "boom\n"}, {"exit": 3}], sessions(entry("a", desk.cwd, "Back"))],
        }
    )
    desk.setup({"x": x})
    rows = desk.listed("✗ x ended with exit code 3")
    assert rows[1:] == ["  │ R asks again", "  │ :AcpTrace x  shows what was said"]
    assert_gone(desk.screen, starts(x)[0])
    change(x, session_list=sessions())
    desk.screen.keys("R")
    desk.shows("no sessions in", gone=["✗"])
    assert len(starts(x)) == 2
    assert desk.screen.messages() == ""


@pytest.mark.parametrize(
    ("config", "rows"),
    [
        (["no-such-agent-here"], ["✗ x did not start: ", "R asks again"]),
        ({"login": True}, ["✗ x: not logged in", "  │ :AcpLogin x", "R asks again"]),
        ({"fails": True}, ["✗ x: cannot read the database", "R asks again", ":AcpTrace x"]),
    ],
    ids=["missing", "not logged in", "fails"],
)
def test_trouble_is_a_line_with_its_remedy(
    start_screen: StartScreen, agent: MakeAgent, config: Any, rows: list[str]
) -> None:
    desk = Desk(start_screen)
    code = -32000 if "login" in config else -32603
    error = {"code": code, "message": "auth required" if code == -32000 else "cannot read the database"}
    hello: Json = {**ALL[0]["reply"], "authMethods": [{"id": "go", "name": "Go"}]}
    x = agent({"initialize": [{"reply": hello}], "session/list": [{"error": error}]})
    command = config if isinstance(config, list) else x.command
    desk.screen.setup({"default_agent": "x", "agents": {"x": {"command": command}}})
    text = "\n".join(desk.listed(*rows))
    assert ":AcpRestart" not in text
    assert desk.screen.messages() == ""
    desk.screen.keys("<CR>")
    desk.screen.wait("there is no session in this line")


def test_an_agent_that_never_answers(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent({"initialize": ALL, "session/list": []})
    desk.screen.setup({"default_agent": "x", "agents": {"x": {**x.settings, "stall_s": 1}}})
    desk.listed("✗ x is still starting: it does not answer session/list")


def test_the_list_keeps_no_agent_alive(start_screen: StartScreen, agent: MakeAgent) -> None:
    desk = Desk(start_screen)
    x = agent({"initialize": ALL, "session/list": sessions()})
    desk.setup({"x": x})
    desk.listed("no sessions in")
    pid = starts(x)[0]
    desk.screen.keys("q")
    eventually(lambda: not desk.rows())
    desk.screen.tolerant = True
    desk.screen.keys(":qall!<CR>")
    desk.screen.wait_exit()
    assert_gone(desk.screen, pid)
