"""What can go wrong with a server: one message that names the remedy, and nothing of the user's is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.agents.aap_faults import Fault, answers, breaks
from tests.agents.aap_script import Cut, Fail, Raw, Step, text
from tests.agents.aap_server import AapServer, takes_and_breaks
from tests.agents.aap_tls import self_signed
from tests.nvim.aap_kit import KEY, chatting, remote
from tests.nvim.trouble import BACK, Chat
from tests.plugin import StartScreen

WORDS = "my words"
WITH_KEY = {"api_key_env": "AAP_KEY", "env": {"AAP_KEY": KEY}}


@dataclass(frozen=True)
class Unusable:
    """A server that cannot be used. ``{url}`` and ``{name}`` in what is ``said``; ``fault``: of /meta."""

    name: str
    said: Sequence[str]
    url: str = "{url}"
    more: dict[str, Any] | None = None
    fault: Fault | None = None


UNUSABLE = (
    Unusable(
        "down",
        [
            "{name} cannot be used: {url}: nothing listens there",
            "start the server, or correct agents.{name}.url",
        ],
        url="http://127.0.0.1:9",
    ),
    Unusable(
        "plain",
        ["{url} is not encrypted: the key and all text", "use https:// in agents.{name}.url, or a tunnel"],
        url="http://agent.example/v1",
    ),
    Unusable(
        "no-url", ["agents.{name}.url is not set", "set agents.{name}.url, as 'https://host/v1'"], url=""
    ),
    Unusable(
        "secret-url",
        ["agents.{name}.url must not hold a name or a password", "use agents.{name}.api_key_env"],
        url="http://me:hush-hush@127.0.0.1:9",
    ),
    Unusable(
        "wrong-url",
        ["there is no AAP server at {url} (404 Not Found)", "correct agents.{name}.url, then :AcpRestart"],
        url="{url}/api",
    ),
    Unusable(
        "a-page",
        ["the answer to /meta is not AAP (text/html)", "is agents.{name}.url right?"],
        fault=answers(200, b"<html>", "text/html"),
    ),
    Unusable(
        "moved",
        [
            "{url} sends us away to https://new.example (301 Moved Permanently)",
            "set agents.{name}.url to where",
        ],
        fault=answers(301, location="https://new.example/v1?key=1"),
    ),
    Unusable(
        "wrong-key",
        [
            "not logged in",
            "the server does not accept the key (401 Unauthorized: invalid key)",
            "into $AAP_KEY",
        ],
        more={"api_key_env": "AAP_KEY", "env": {"AAP_KEY": "wrong-key-1"}},
    ),
    Unusable(
        "no-key",
        ["not logged in", "the server wants a key (401", "that holds the key in agents.{name}.api_key_env"],
        more={"api_key_env": None},
    ),
    Unusable(
        "unset-key",
        ["not logged in", "$NO_SUCH_KEY is not set: it holds the key", "or agents.{name}.env.NO_SUCH_KEY"],
        more={"api_key_env": "NO_SUCH_KEY"},
    ),
    Unusable(
        "other-agent",
        ["the server has no agent other; it has: helper", "set agents.{name}.agent to one of them"],
        more={"agent": "other"},
    ),
    Unusable(
        "busy",
        ["the server is busy (429 Too Many Requests: slow down)", ":AcpRestart in 120 s"],
        fault=answers(429, b'{"error": "slow down"}', retry_after="120"),
    ),
    Unusable("failing", ["the server failed (500 Internal Server Error)", ":AcpRestart"], fault=answers(500)),
)


@pytest.mark.req("AAP-01", "AAP-06", "AAP-07", "AAP-75", "AAP-76", "AAP-78")
def test_a_server_that_cannot_be_used(start_screen: StartScreen, tmp_path: Path) -> None:
    """Each in a chat of its own; what is typed meanwhile is in the prompt in the end."""
    _, context = self_signed(tmp_path)
    strange = Unusable(
        "tls",
        ["{url}: its certificate is not accepted: self-signed certificate", "$SSL_CERT_FILE"],
    )
    old = Unusable("old", ["speaks version 2 of AAP; this client speaks version 3", "update the one"])
    with (
        AapServer(key=KEY) as server,
        AapServer(tls=context) as unknown,
        AapServer(version=2) as other,
    ):
        urls = {"tls": unknown.url, "old": other.url}
        cases = (*UNUSABLE, strange, old)
        agents = {}
        for case in cases:
            url = case.url.format(url=urls.get(case.name, server.url))
            given = {"protocol": "aap", "url": url or None, **WITH_KEY, **(case.more or {})}
            agents[case.name] = {name: value for name, value in given.items() if value is not None}
        screen = start_screen(size=(100, 40))
        screen.setup({"agents": agents})
        for number, case in enumerate(cases, 1):
            if case.fault is not None:
                server.fail("GET meta", case.fault)
            screen.command(f"AcpChat {case.name}")
            screen.leave_insert()
            chat = Chat(screen, f"acp://{case.name}/{number}")
            chat.until(*[each.format(name=case.name, url=agents[case.name].get("url")) for each in case.said])
            chat.until_state("failed")
            assert len(chat.troubles) == 1, chat.text
            assert ":AcpRestart" in chat.text, chat.text
            chat.submit(WORDS)
            chat.until_prompt(WORDS)
            chat.until(BACK)
            assert "hush" not in chat.text
            chat.quiet()
        assert server.seen("POST sessions") == []


@dataclass(frozen=True)
class Trouble:
    """A turn that goes wrong: by a fault, or in the middle of an answer (``step``).

    ``back``: the user's words are in the prompt again; else the server has them, and they stand above.
    """

    name: str
    said: Sequence[str]
    fault: Callable[[AapServer], Fault] | None = None
    step: Step | None = None
    back: bool = True


def always(fault: Fault) -> Callable[[AapServer], Fault]:
    return lambda _server: fault


TROUBLES = (
    Trouble(
        "413",
        [
            "✗ not sent: this is too much for the server (413 Request Entity Too Large: too big)",
            "less context",
        ],
        always(answers(413, b'{"error": "too big"}')),
    ),
    Trouble(
        "429",
        ["✗ not sent: the server is busy (429 Too Many Requests)", "send again in 7 s"],
        always(answers(429, retry_after="7")),
    ),
    Trouble(
        "500",
        ["✗ not sent: the server failed (500 Internal Server Error: the disk is full)", "send again"],
        always(answers(500, b"the disk is full", "text/plain")),
    ),
    Trouble(
        "401",
        ["✗ not logged in", "does not accept the key (401 Unauthorized: expired)", "into $AAP_KEY"],
        always(answers(401, b'{"error": "expired"}')),
    ),
    Trouble(
        "404",
        ["✗ not sent: the server does not know this session any more (404", ":AcpChat! begins a new one"],
        always(answers(404, b'{"error": "Session not found"}')),
    ),
    Trouble(
        "moved",
        ["✗ not sent: ", "sends us away to https://new.example (302 Found)", "agents.x.url to where it is"],
        always(answers(302, location="https://new.example/v1")),
    ),
    Trouble(
        "a page",
        ["✗ not sent: the answer to the prompt is not AAP (text/html)", "is agents.x.url right?"],
        always(answers(200, b"<html>", "text/html")),
    ),
    Trouble(
        "no answer",
        [
            "✗ not sent: ",
            "the connection broke off",
            "the server may have it all the same",
            "then send again",
        ],
        always(breaks()),
    ),
    Trouble(
        "half a head",
        ["✗ not sent: ", "the connection broke off", "send again"],
        always(breaks(b"HTTP/1.1 200 OK\r\nContent-")),
    ),
    Trouble(
        "no answer but taken",
        ["✗ error: the connection broke off before an answer came, but the server has your prompt"],
        takes_and_breaks,
        back=False,
    ),
    Trouble(
        "cut",
        [
            "half an answer",
            "✗ error: the connection broke off in the middle",
            "what came is kept; :AcpSessions",
        ],
        step=[text("half an answer"), Cut()],
        back=False,
    ),
    Trouble(
        "a model that fails",
        ["a third", "✗ error: the server's agent failed; it does not say why", "send again"],
        step=[text("a third"), Fail()],
        back=False,
    ),
    Trouble(
        "an error in words",
        ["a quarter", "✗ error: the server failed: no memory", "send again"],
        step=[text("a quarter"), Raw(b"event: error\ndata: no memory\n\n"), Fail()],
        back=False,
    ),
)


@pytest.mark.req("AAP-51", "AAP-75", "AAP-76", "AAP-77")
def test_a_turn_that_goes_wrong(start_screen: StartScreen) -> None:
    """One after the other in one chat, which goes on each time; nothing is there twice."""
    server = AapServer(key=KEY)
    with chatting(start_screen, server, WITH_KEY) as chat:
        for trouble in TROUBLES:
            words = f"{WORDS} {trouble.name}"
            troubles, posts = len(chat.troubles), len(server.turns)
            if trouble.fault is not None:
                server.fail("POST turns", trouble.fault(server))
            else:
                assert trouble.step is not None
                server.script.insert(0, list(trouble.step))
            chat.submit(words)
            chat.until(*trouble.said)
            chat.until_prompt(words if trouble.back else "")
            chat.until_state("idle", "failed")
            assert chat.has(BACK) or not trouble.back
            assert len(chat.troubles) == troubles + 1, chat.text
            assert len(server.turns) == posts + 1
            chat.works(None if trouble.back else "go on")
            assert len(server.turns) == posts + 2
            assert sum(message.get("content") == words for message in server.kept.history) == 1


@pytest.mark.req("AAP-51")
def test_a_server_that_is_gone_and_comes_back(start_screen: StartScreen) -> None:
    first = AapServer([[text("one")]])
    with chatting(start_screen, first) as chat:
        chat.works("hi")
        port = int(first.url.rsplit(":", 1)[1].split("/")[0])
        kept = first.sessions
    chat.submit("more")
    chat.until("nothing listens there", "start the server, or correct agents.x.url; then send again", BACK)
    chat.until_prompt("more")
    with AapServer([[text("two")]], port=port) as second:
        second.sessions.update(kept)
        chat.works()
        assert len(second.turns) == 1


@pytest.mark.req("AAP-76")
def test_a_prompt_that_waits_for_a_server_of_a_wrong_key(start_screen: StartScreen) -> None:
    """What was sent before the server was known to be unusable comes back as well."""
    with AapServer(key="right-key-1") as server:
        settings = remote(server, api_key_env="AAP_KEY", env={"AAP_KEY": "wrong-key-1"})
        screen = start_screen(size=(100, 40))
        screen.setup({"agents": {"x": settings}, "default_agent": "x"})
        screen.command("AcpChat")
        screen.leave_insert()
        chat = Chat(screen)
        chat.submit("words")
        chat.until("the server does not accept the key", "$AAP_KEY", BACK)
        chat.until_prompt("words")
        assert len(chat.troubles) == 1, chat.text
        assert server.seen("POST sessions") == []


@pytest.mark.req("AAP-75", "AAP-77")
def test_a_server_that_fails_as_a_session_is_taken_up_again_keeps_it(start_screen: StartScreen) -> None:
    """Only a server that does not know the session has forgotten it."""
    server = AapServer([[text("one")], [text("two")]])
    with chatting(start_screen, server) as chat:
        chat.works("hi")
        server.fail("GET session", answers(500, b"oh", "text/plain"))
        chat.screen.command("AcpRestart")
        chat.until("the server failed (500 Internal Server Error: oh)", ":AcpRestart")
        chat.until_state("failed")
        assert len(chat.troubles) == 1, chat.text
        chat.screen.command("AcpRestart")
        chat.until("resumed: x remembers this chat")
        chat.works("more")
        assert len(server.sessions) == 1
        assert "does not remember" not in chat.text
