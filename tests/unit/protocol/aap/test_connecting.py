"""What a server says of itself: its version, its agents; servers that are none."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.agents.aap_faults import Fault, answers, breaks
from tests.agents.aap_script import AGENT, Json
from tests.unit.protocol.aap.bench import connected, failing

from acp_nvim.protocol.aap.server import MOST_TRIES

pytestmark = pytest.mark.anyio


@pytest.mark.req("AAP-01", "AAP-02", "AAP-06", "AAP-07", "AAP-66")
async def test_connecting() -> None:
    async with connected(key="k-123456") as bench:
        info = await bench.adapter.connect()
        assert (info.protocol, info.name, info.title, info.version) == ("aap", "helper", "Helper", "1.2.3")
        assert (info.can_load, info.can_resume, info.can_list, info.can_delete) == (True, True, True, True)
        assert info.image
        (seen,) = bench.server.requests
        assert (seen.what, seen.path, seen.headers["authorization"]) == (
            "GET meta",
            "/v1/meta",
            "Bearer k-123456",
        )


@pytest.mark.req("AAP-03", "AAP-08", "AAP-09")
async def test_connecting_without_a_key_to_an_agent_that_can_nothing() -> None:
    agents: list[Json] = [{"name": "x", "version": 7, "capabilities": {"magic": {}, "history": None}, "y": 1}]
    async with connected(agents=agents) as bench:
        info = await bench.adapter.connect()
        assert (info.name, info.can_load, info.image, info.version) == ("x", False, False, None)
        assert "authorization" not in bench.server.requests[0].headers


@pytest.mark.req("AAP-06")
@pytest.mark.parametrize(("version", "said"), [(2, "version 2"), (None, "no version"), ("3", "version 3")])
async def test_another_version(version: Any, said: str) -> None:
    async with connected(version=version) as bench:
        failure = await failing(bench.adapter.connect)
        assert failure.message == f"the server speaks {said} of AAP; this client speaks version 3"


@pytest.mark.req("AAP-07")
async def test_one_of_several_agents() -> None:
    agents = [AGENT, {**AGENT, "name": "other", "title": "Other"}]
    async with connected(agents=agents, agent="other") as bench:
        assert (await bench.adapter.connect()).name == "other"
        await bench.adapter.new_session(bench.session)
        assert bench.server.kept.agent == "other"
    async with connected(agents=agents, agent="third") as bench:
        failure = await failing(bench.adapter.connect)
        assert failure.message == "the server has no agent third; it has: helper, other"
        assert failure.remedy == "set agents.remote.agent to one of them"
    async with connected(agents=[]) as bench:
        failure = await failing(bench.adapter.connect)
        assert failure.message == "which of the server's agents? It has: none"


@pytest.mark.req("AAP-07")
@pytest.mark.parametrize("picked", ["other", None])
async def test_the_user_picks_one_of_several_agents(picked: str | None) -> None:
    agents = [AGENT, {**AGENT, "name": "other", "title": "Other"}]
    async with connected(agents=agents) as bench, anyio.create_task_group() as group:

        async def connect() -> None:
            if picked is not None:
                assert (await bench.adapter.connect()).name == picked
            else:
                failure = await failing(bench.adapter.connect)
                assert failure.message == "which of the server's agents? It has: helper, other"

        group.start_soon(connect)
        await bench.asked()
        content = {"agent": picked} if picked is not None else None
        bench.questions.answer("q1", "accept" if picked else "decline", content)


class Picks:
    """memory.Picks."""

    def __init__(self, name: str | None) -> None:
        self.name = name

    async def recall(self) -> str | None:
        return self.name

    async def keep(self, name: str) -> None:
        self.name = name


@pytest.mark.req("AAP-07")
@pytest.mark.parametrize("before", [None, "gone"])
async def test_what_was_picked_is_remembered(before: str | None) -> None:
    agents = [AGENT, {**AGENT, "name": "other", "title": "Other"}]
    picks = Picks(before)
    async with connected(agents=agents, picks=picks) as bench, anyio.create_task_group() as group:
        group.start_soon(bench.adapter.connect)
        await bench.asked()
        bench.questions.answer("q1", "accept", {"agent": "other"})
    assert picks.name == "other"
    async with connected(agents=agents, picks=picks) as bench:
        assert (await bench.adapter.connect()).name == "other"
    async with connected(agents=agents, picks=picks, agent="helper") as bench:  # the settings win
        assert (await bench.adapter.connect()).name == "helper"


@pytest.mark.req("AAP-75", "AAP-76")
@pytest.mark.parametrize(
    ("fault", "kind", "message", "remedy"),
    [
        pytest.param(
            answers(401, b'{"error": "no"}'),
            "auth",
            "the server does not accept the key (401 Unauthorized: no)",
            "put a valid key into $AAP_KEY (:help acp-aap-key), then :AcpRestart",
            id="401",
        ),
        pytest.param(
            answers(403, b"Forbidden", "text/plain"),
            "auth",
            "the server does not accept the key (403 Forbidden)",
            "put a valid key into $AAP_KEY (:help acp-aap-key), then :AcpRestart",
            id="403",
        ),
        pytest.param(
            answers(404, b"404 Not Found", "text/plain"),
            "generic",
            "there is no AAP server at URL (404 Not Found)",
            "correct agents.remote.url, then :AcpRestart",
            id="404",
        ),
        pytest.param(
            answers(200, b"<html>", "text/html"),
            "generic",
            "the answer to /meta is not AAP (text/html): Expecting value: line 1 column 1 (char 0)",
            "is agents.remote.url right? :AcpTrace has the answer",
            id="a page",
        ),
        pytest.param(
            breaks(),
            "transport",
            "URL: the connection broke off",
            "see whether the server runs, then :AcpRestart",
            id="cut",
        ),
    ],
)
async def test_a_server_that_is_none(fault: Any, kind: str, message: str, remedy: str) -> None:
    async with connected(key="k-123456") as bench:
        bench.server.fail("GET meta", fault, fault, fault)
        failure = await failing(bench.adapter.connect)
        assert failure.message == message.replace("URL", bench.server.url)
        assert (failure.kind, failure.remedy) == (kind, remedy)


@pytest.mark.req("AAP-77")
@pytest.mark.parametrize("status", [429, 503])
async def test_a_get_waits_as_long_as_the_server_wants(status: int) -> None:
    async with connected() as bench:
        bench.server.fail("GET meta", answers(status, retry_after="2"), answers(status, retry_after="3"))
        await bench.adapter.connect()
        assert bench.slept == [2.0, 3.0]


@pytest.mark.req("AAP-77")
@pytest.mark.parametrize(
    ("header", "when"),
    [
        ("3600", "in 3600 s"),
        ("soon", "in a while"),
        ("Fri, 01 Jan 2021 00:00:00 GMT", "in 0 s"),
        ("\u00b2", "in a while"),  # a digit, but no number
        (f"Fri, 01 Jan 2021 00:00:00 +{'9' * 20}", "in a while"),
    ],
)
async def test_a_get_does_not_wait_for_ever(header: str, when: str) -> None:
    async with connected() as bench:
        bench.server.fail("GET meta", *[answers(429, retry_after=header)] * 3)
        failure = await failing(bench.adapter.connect)
        assert failure.message == "the server is busy (429 Too Many Requests)"
        assert failure.remedy == f":AcpRestart {when}"
        assert len(bench.server.requests) == (3 if when == "in 0 s" else 1)


async def test_a_get_that_broke_off_is_sent_again() -> None:
    async with connected() as bench:
        bench.server.fail("GET meta", breaks())
        await bench.adapter.connect()
        assert len(bench.server.requests) == 2


# -- creating, options


@pytest.mark.req("AAP-75", "AAP-76")
@pytest.mark.parametrize("fault", [breaks(), answers(401)])
async def test_what_begins_a_session_fails_with_the_remedy_that_begins_again(fault: Fault) -> None:
    async with connected() as bench:
        await bench.adapter.connect()
        bench.server.fail("POST sessions", fault)
        failed = [await failing(lambda: bench.adapter.new_session(bench.session))]
        await bench.adapter.new_session(bench.session)
        for what in ("GET session", "GET history"):
            bench.server.fail(what, *[fault] * MOST_TRIES)
            ident = bench.server.kept.id
            failed.append(await failing(lambda: bench.adapter.load_session(bench.session, ident)))  # noqa: B023
    assert all(str(each.remedy).endswith("then :AcpRestart") for each in failed), failed
