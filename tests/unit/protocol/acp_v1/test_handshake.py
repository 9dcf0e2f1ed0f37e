"""initialize and authenticate."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v1.bench import Bench, connected

from acp_nvim import __version__
from acp_nvim.session.agent import AgentInfo, AuthMethod, AuthVariable
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio


async def hello(bench: Bench, result: Any = None, error: Any = None) -> AgentInfo:
    async with anyio.create_task_group() as group:
        group.start_soon(bench.answers, "initialize", result, error)
        await bench.adapter.connect()
    assert bench.adapter.info is not None
    return bench.adapter.info


async def refused(bench: Bench, result: Any = None, error: Any = None) -> Failure:
    async with anyio.create_task_group() as group:
        group.start_soon(bench.answers, "initialize", result, error)
        with pytest.raises(AgentError) as caught:
            await bench.adapter.connect()
    return caught.value.failure


@pytest.mark.req("V1-10", "V1-22", "V1-23", "V1-24", "V1-25", "V1-26", "V1-40", "V1-212")
async def test_we_offer_exactly_what_is_there() -> None:
    async with connected() as bench:
        await hello(bench, {"protocolVersion": 1})
        assert bench.sent == [
            {
                "jsonrpc": "2.0",
                "id": 0,
                "method": "initialize",
                "params": {
                    "protocolVersion": 1,
                    "clientCapabilities": {
                        "fs": {"readTextFile": True, "writeTextFile": True},
                        "terminal": True,
                        "elicitation": {"form": {}, "url": {}},
                        "_meta": {"terminal_output": True, "terminal_output_delta": True},
                        "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
                        "auth": {"terminal": True},
                    },
                    "clientInfo": {"name": "acp.nvim", "title": "acp.nvim", "version": __version__},
                },
            }
        ]


@pytest.mark.parametrize(("version", "remedy"), [(2, "update acp.nvim"), (0, "update the agent")])
@pytest.mark.req("V1-27", "V1-28")
async def test_another_version_is_refused_with_a_remedy(version: int, remedy: str) -> None:
    async with connected() as bench:
        failure = await refused(bench, {"protocolVersion": version, "agentCapabilities": {}})
        assert (failure.kind, failure.remedy) == ("unsupported", remedy)
        assert str(version) in failure.message
        assert bench.adapter.info is None


@pytest.mark.req("V1-29", "V1-30", "V1-31", "V1-32", "V1-34", "V1-35")
async def test_capabilities_are_read_leniently() -> None:
    said = {
        "protocolVersion": 1,
        "agentInfo": {"name": "robo", "title": "Robo", "version": "2"},
        "agentCapabilities": {
            "loadSession": "yes",
            "promptCapabilities": {"image": True, "audio": 1, "embeddedContext": True, "odd": {}},
            "mcpCapabilities": {"http": True},
            "sessionCapabilities": {"list": None, "resume": {}, "close": {}, "delete": 7},
        },
        "authMethods": [
            {"id": "key", "name": "API key"},
            {"name": "no id"},
            {"type": "terminal", "id": "tui", "name": "Log in", "args": ["login"], "env": {"A": "b"}},
        ],
    }
    async with connected() as bench:
        info = await hello(bench, said)
    assert (info.protocol, info.name, info.title, info.version) == ("acp-v1", "robo", "Robo", "2")
    assert (info.can_load, info.can_list, info.can_resume, info.can_close, info.can_delete) == (
        False, False, True, True, False,
    )  # fmt: skip
    assert (info.image, info.audio, info.embedded_context, info.mcp_http, info.mcp_sse) == (
        True, False, True, True, False,
    )  # fmt: skip
    assert info.auth_methods == (
        AuthMethod("key", "API key"),
        AuthMethod("tui", "Log in", "terminal", None, ("login",), (("A", "b"),)),
    )


@pytest.mark.req("V1-29", "V1-30")
async def test_an_agent_may_say_nothing_of_itself() -> None:
    async with connected() as bench:
        info = await hello(bench, {"protocolVersion": 1, "agentInfo": None})
    assert (info.name, info.can_load, info.auth_methods) == (None, False, ())


@pytest.mark.req("V1-214", "V1-215")
async def test_a_failing_handshake_tells_why() -> None:
    async with connected() as bench:
        failure = await refused(bench, error={"code": 7, "message": "no", "data": {"details": "licence"}})
        assert (failure.message, failure.code, failure.kind) == ("no: licence", 7, "generic")
    async with connected() as bench:
        failure = await refused(bench, {"agentCapabilities": {}})
        assert "initialize" in failure.message
        assert "protocolVersion" in failure.message


@pytest.mark.req("V1-19")
async def test_the_end_of_the_connection_fails_the_handshake() -> None:
    async def why(_reason: str) -> Failure:
        return Failure("robo exited (3)", kind="transport")

    async with connected(why_lost=why) as bench:
        with pytest.raises(AgentError) as caught:
            bench.transport.end()
            await bench.adapter.connect()
        assert caught.value.failure.message == "robo exited (3)"


TWO = {
    "protocolVersion": 1,
    "authMethods": [
        {"id": "oauth", "name": "OAuth"},
        {"id": "key", "name": "API key"},
        {"id": "tui", "name": "Log in", "type": "terminal"},
    ],
}


@pytest.mark.req("V1-36")
async def test_c13_authenticate_carries_exactly_the_chosen_id() -> None:
    async with connected() as bench:
        await hello(bench, TWO)
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.authenticate, "key")
            assert await bench.answers("authenticate") == {"methodId": "key"}


@pytest.mark.req("V1-36")
async def test_c13_a_refusal_tells_the_agents_details() -> None:
    async with connected() as bench:
        await hello(bench, TWO)
        error = {"code": -32602, "message": "Invalid params", "data": "the key has expired"}
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "authenticate", None, error)
            with pytest.raises(AgentError, match="Invalid params: the key has expired"):
                await bench.adapter.authenticate("key")


@pytest.mark.parametrize(
    ("said", "variables"),
    [
        (
            {
                "vars": [
                    {"name": "KEY", "label": "API key"},
                    {"name": "URL", "secret": False, "optional": True},
                ]
            },
            (AuthVariable("KEY", "API key"), AuthVariable("URL", optional=True)),
        ),
        ({"varName": "KEY"}, (AuthVariable("KEY"),)),
        ({"vars": ["KEY", "KEY", 7, {"name": "no name"}, {"name": None}]}, (AuthVariable("KEY"),)),
        ({"vars": "KEY"}, (AuthVariable("KEY"),)),
        ({"vars": {"name": "KEY"}}, (AuthVariable("KEY"),)),
        ({"varName": 7}, ()),
        ({}, ()),
    ],
)
async def test_variables_are_read_in_every_form_agents_use(
    said: dict[str, Any], variables: tuple[AuthVariable, ...]
) -> None:
    method = {"id": "key", "name": "Key", "type": "env_var", "link": "https://example.org/keys", **said}
    async with connected() as bench:
        info = await hello(bench, {"protocolVersion": 1, "authMethods": [method]})
        expected = AuthMethod("key", "Key", "env_var", variables=variables, link="https://example.org/keys")
        assert info.auth_methods == (expected,)
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.authenticate, "key")
            assert await bench.answers("authenticate") == {"methodId": "key"}


@pytest.mark.parametrize(
    ("said", "type_", "usable"),
    [
        ({}, "agent", True),
        ({"type": None}, "agent", True),
        ({"type": 7}, "agent", True),
        ({"type": "agent"}, "agent", True),
        ({"type": "terminal", "args": None, "env": None, "description": 5}, "terminal", True),
        ({"type": "device_code"}, "device_code", False),
    ],
)
@pytest.mark.req("V1-34")
async def test_the_type_of_a_method(said: dict[str, Any], type_: str, usable: bool) -> None:
    method = {"id": "m", "name": "M", **said}
    async with connected() as bench:
        info = await hello(bench, {"protocolVersion": 1, "authMethods": [method]})
    assert info.auth_methods == (AuthMethod("m", "M", type_),)
    assert info.auth_methods[0].usable is usable


@pytest.mark.parametrize(
    "broken",
    [
        7,
        None,
        {},
        {"id": "x"},
        {"id": None, "name": "X"},
        {"id": "x", "name": "X", "type": "terminal", "args": "login"},
        {"id": "x", "name": "X", "type": "terminal", "env": {"A": 1}},
    ],
)
@pytest.mark.req("V1-35")
async def test_a_broken_method_costs_no_other(broken: Any) -> None:
    methods = [{"id": "a", "name": "A"}, broken, {"id": "b", "name": "B"}]
    async with connected() as bench:
        info = await hello(bench, {"protocolVersion": 1, "authMethods": methods})
    assert info.auth_methods == (AuthMethod("a", "A"), AuthMethod("b", "B"))


@pytest.mark.parametrize("auth", [{}, {"logout": None}, {"logout": False}, None])
@pytest.mark.req("V1-42")
async def test_no_logout_unless_it_is_offered(auth: Any) -> None:
    async with connected() as bench:
        await hello(bench, {"protocolVersion": 1, "agentCapabilities": {"auth": auth}})
        with pytest.raises(AgentError, match="offers no logout"):
            await bench.adapter.logout()
        assert [message["method"] for message in bench.sent] == ["initialize"]


@pytest.mark.req("V1-14", "V1-42")
async def test_logout() -> None:
    async with connected() as bench:
        await hello(bench, {"protocolVersion": 1, "agentCapabilities": {"auth": {"logout": {}}}})
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.logout)
            assert await bench.answers("logout") in (None, {})


@pytest.mark.parametrize("method", ["tui", "unknown"])
@pytest.mark.req("V1-37")
async def test_other_methods_are_never_passed_on(method: str) -> None:
    async with connected() as bench:
        await hello(bench, TWO)
        with pytest.raises(AgentError, match=method):
            await bench.adapter.authenticate(method)
        assert [message["method"] for message in bench.sent] == ["initialize"]


@pytest.mark.req("V1-45")
async def test_no_session_before_the_handshake() -> None:
    async with connected() as bench:
        with pytest.raises(AgentError, match="not connected"):
            await bench.adapter.new_session(bench.session)
        assert bench.sent == []
