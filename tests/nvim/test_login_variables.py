"""Logging in by variables of the environment, which come from the settings (env_var, of a draft of V1-34)."""

from __future__ import annotations

from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.login_kit import END, SESSION, WANTED, hello, prompts, used
from tests.nvim.trouble import Chat, change, open_chat, starts
from tests.plugin import StartScreen

KEY = "s3cret-s3cret"
METHOD: Json = {
    "id": "azure",
    "name": "Azure",
    "type": "env_var",
    "vars": [
        {"name": "ROBO_KEY", "label": "API key"},
        {"name": "ROBO_URL", "secret": False},
        {"name": "ROBO_VERSION", "optional": True},
    ],
    "link": "https://example.org/keys",
}
#: As the Codex adapter does: it reads the variables when it is told to, and not before.
UNTIL_TOLD = [[WANTED], [SESSION]]


def env_of(agent: object, row: int) -> dict[str, str]:
    """The environment of a start of the agent."""
    events = agent.events("start")  # type: ignore[attr-defined]
    return dict(events[row]["env"])


def test_what_is_missing_is_named_and_taken_from_the_settings(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    x = agent({"initialize": [hello(METHOD)], "session/new": UNTIL_TOLD, "session/prompt": [END]})
    settings = {**x.settings, "env": {"ROBO_URL": "https://example.org"}}
    chat = open_chat(start_screen, settings)
    chat.submit("hello")
    chat.until("? login  x  waiting for you", "1 Azure", "needs ROBO_KEY, not set")
    chat.screen.command("AcpPermit 1")
    chat.until(
        "✗ not logged in: ROBO_KEY is not set\n",
        "  │ agents = { x = { env = { ROBO_KEY = { cmd = { 'program', 'that prints it' } } } } }\n",
        "  │ ROBO_KEY: API key\n",
        "  │ to be had at https://example.org/keys\n",
        "  │ :AcpRestart then logs in with it",
        "– login  Azure  cancelled",
    )
    chat.until_prompt("hello")
    assert used(x) == []

    key = {"cmd": ["echo", KEY]}
    chat.screen.setup({"agents": {"x": {**settings, "env": {**settings["env"], "ROBO_KEY": key}}}})
    chat.screen.command("AcpRestart")
    chat.until("── x has accepted the login", "ready in")
    chat.until_state("idle")
    assert (used(x), len(starts(x))) == (["azure"], 2)
    assert env_of(x, 1)["ROBO_KEY"] == KEY
    assert "waiting for you" not in chat.text
    chat.works()
    assert prompts(x) == ["hello"]
    assert KEY not in chat.text
    assert KEY not in chat.screen.messages()


def test_settings_that_have_changed_since_the_start(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [hello(METHOD)], "session/new": UNTIL_TOLD, "session/prompt": [END]})
    chat = open_chat(start_screen, x)
    chat.submit("hello")
    chat.until("? login  x  waiting for you", "needs ROBO_KEY and ROBO_URL, not set")
    change(x, session_new=[SESSION])  # the next process is told before
    env = {"ROBO_KEY": KEY, "ROBO_URL": "https://example.org"}
    chat.screen.setup({"agents": {"x": {**x.settings, "env": env}}})
    chat.screen.keys("<Esc>")
    chat.screen.command("AcpLogin")
    chat.screen.command("AcpPermit 1")
    chat.until("✓ login  Azure", "── x has accepted the login", "── done")
    assert (used(x), prompts(x), len(starts(x))) == (["azure"], ["hello"], 2)
    assert env_of(x, 1)["ROBO_KEY"] == KEY
    assert chat.troubles == []


def test_variables_that_are_there(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"initialize": [hello(METHOD)], "session/new": UNTIL_TOLD, "session/prompt": [END]})
    env = {"ROBO_KEY": KEY, "ROBO_URL": "https://example.org"}
    chat = open_chat(start_screen, {**x.settings, "env": env})
    chat.submit("hello")
    chat.until("? login  x  waiting for you", "takes ROBO_KEY, ROBO_URL, ROBO_VERSION of the environment")
    chat.screen.command("AcpPermit 1")
    chat.until("── x has accepted the login", "── done")
    assert (used(x), prompts(x), len(starts(x))) == (["azure"], ["hello"], 1)


def test_a_key_that_is_refused_after_a_restart(start_screen: StartScreen, agent: MakeAgent) -> None:
    """Also the other chat of this process, which was well, is there again."""
    error = {"error": {"code": -32603, "message": f"bad key {KEY}"}}
    plays = {"initialize": [hello(METHOD)], "authenticate": [error], "session/prompt": [[END], [WANTED]]}
    x = agent(plays)
    chat = open_chat(start_screen, x)
    chat.until("ready in")
    chat.works("one")
    chat.screen.command("AcpChat!")
    other = Chat(chat.screen, "acp://x/2")
    other.until("ready in")
    other.submit("two")
    other.until("? login  x  waiting for you")
    env = {"ROBO_KEY": KEY, "ROBO_URL": "https://example.org"}
    chat.screen.setup({"agents": {"x": {**x.settings, "env": env}}})
    chat.screen.command("AcpLogin")
    chat.screen.command("AcpPermit 1")
    other.until("✗ login  Azure  failed", "│ ✗ bad key •••", "? login  x  waiting for you")
    assert (len(starts(x)), used(x)) == (2, ["azure"])
    chat.screen.command("AcpPermit reject_once")
    other.until_prompt("two")
    for each in (chat, other):
        each.until_state("idle")
    chat.screen.command("1AcpChat")
    chat.screen.clear_messages()  # 0.10 notes an empty one when a chooser is entered from Insert mode
    chat.works("three")
