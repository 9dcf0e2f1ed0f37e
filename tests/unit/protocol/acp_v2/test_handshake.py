"""initialize, logging in and out."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from tests.unit.protocol.acp_v2.bench import HELLO, INFO, Bench, connected, opened

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio


async def greeted(bench: Bench, hello: dict[str, Any]) -> AgentInfo:
    async with anyio.create_task_group() as group:
        group.start_soon(bench.answers, "initialize", hello)
        info: AgentInfo = await bench.adapter.connect()
    return info


@pytest.mark.req("V2-01", "V2-13", "V2-15", "V2-19", "V2-21")
async def test_what_is_offered() -> None:
    async with connected() as bench:
        await greeted(bench, HELLO)
        assert bench.sent[0]["params"] == {
            "protocolVersion": 2,
            "info": {
                "name": "acp.nvim",
                "title": "acp.nvim",
                "version": bench.sent[0]["params"]["info"]["version"],
            },
            "capabilities": {"auth": {"terminal": {}}, "elicitation": {"form": {}, "url": {}}},
        }
        assert isinstance(bench.sent[0]["id"], int)


@pytest.mark.req("V2-20", "V2-21", "V2-22", "V2-25")
@pytest.mark.parametrize(
    ("capabilities", "can"),
    [
        ({}, set()),
        ({"session": None}, set()),
        ({"session": {}}, {"can_load", "can_resume", "can_list", "can_close"}),
        (
            {"session": {"delete": {}, "additionalDirectories": {}, "prompt": {"image": {}, "audio": None}}},
            {
                "can_load",
                "can_resume",
                "can_list",
                "can_close",
                "can_delete",
                "additional_directories",
                "image",
            },
        ),
        (
            {"session": {"prompt": {"embeddedContext": {}, "audio": {}}, "mcp": {"stdio": {}, "http": None}}},
            {"can_load", "can_resume", "can_list", "can_close", "embedded_context", "audio", "mcp_stdio"},
        ),
        (
            {"session": {"prompt": 7, "mcp": {"http": {}, "stdio": True}, "delete": "x"}, "auth": 1},
            {"can_load", "can_resume", "can_list", "can_close", "mcp_http"},
        ),
    ],
)
async def test_what_is_there_is_supported(capabilities: dict[str, Any], can: set[str]) -> None:
    async with connected() as bench:
        info = await greeted(bench, {"protocolVersion": 2, "info": INFO, "capabilities": capabilities})
        flags = {name for name in AgentInfo.__struct_fields__ if getattr(info, name) is True} - {
            "states",
            "links",
        }
        assert flags == can
        assert (info.speaks, info.title, info.version) == ("ACP v2", "Robo", "2.6")
        assert info.states
        assert not info.buffers


@pytest.mark.req("V2-22")
async def test_without_sessions_no_method_of_theirs_is_used() -> None:
    async with connected() as bench:
        await greeted(bench, {"protocolVersion": 2, "info": INFO})
        for attempt in (
            bench.adapter.new_session(bench.session),
            bench.adapter.resume_session(bench.session, "r"),
            bench.adapter.list_sessions(),
            bench.adapter.delete_session("r"),
        ):
            with pytest.raises(AgentError, match="cannot"):
                await attempt
        assert [message["method"] for message in bench.sent] == ["initialize"]


@pytest.mark.req("V2-02", "V2-03")
@pytest.mark.parametrize("version", [1, 3])
async def test_another_version_is_refused(version: int) -> None:
    async with connected() as bench:
        with pytest.raises(AgentError, match=f"version {version}"):
            async with anyio.create_task_group() as group:
                group.start_soon(bench.answers, "initialize", {**HELLO, "protocolVersion": version})
                try:
                    await bench.adapter.connect()
                except AgentError as error:
                    failure = error
            raise failure
        assert bench.adapter.info is None


METHODS = [
    {"type": "agent", "methodId": "a", "name": "Account", "description": None},
    {"type": "terminal", "methodId": "t", "name": "Terminal", "args": ["--login"],
     "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
    {"type": "_own", "methodId": "o", "name": "Own", "more": 1},
    {"type": "agent", "id": "of v1", "name": "No method id"},
]  # fmt: skip


@pytest.mark.req("V2-25", "V2-26", "V2-27", "V2-28")
async def test_login_methods() -> None:
    async with opened({**HELLO, "authMethods": METHODS}) as bench:
        info = bench.adapter.info
        assert info is not None
        assert [(each.id, each.type, each.usable) for each in info.auth_methods] == [
            ("a", "agent", True),
            ("t", "terminal", True),
            ("o", "other", False),
        ]
        assert info.auth_methods[1].env == (("A", "1"), ("B", "2"))
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.authenticate, "a")
            assert await bench.answers("auth/login", {}) == {"methodId": "a"}
        for method in ("t", "o", "x"):
            with pytest.raises(AgentError, match=f"the login method {method}"):
                await bench.adapter.authenticate(method)
        async with anyio.create_task_group() as group:
            group.start_soon(bench.adapter.logout)
            assert await bench.answers("auth/logout", {}) == {}


@pytest.mark.req("V2-25")
async def test_without_methods_there_is_no_logout() -> None:
    async with opened() as bench:
        with pytest.raises(AgentError, match="no logout"):
            await bench.adapter.logout()


@pytest.mark.req("V2-30", "V2-155")
@pytest.mark.parametrize(
    ("code", "kind"), [(-32000, "auth"), (-32602, "invalid"), (-32022, "unsupported"), (-31999, "generic")]
)
async def test_errors_of_requests(code: int, kind: str) -> None:
    async with connected() as bench:
        await greeted(bench, {**HELLO, "authMethods": METHODS})
        async with anyio.create_task_group() as group:
            group.start_soon(bench.answers, "session/new", None, {"code": code, "message": "no"})
            with pytest.raises(AgentError) as raised:
                await bench.adapter.new_session(bench.session)
        assert (raised.value.failure.kind, raised.value.failure.code) == (kind, code)


@pytest.mark.req("V2-18", "V2-23")
@pytest.mark.parametrize(
    "method",
    [
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/kill",
        "_x/y",
    ],
)
async def test_what_is_not_of_v2_is_not_found(method: str) -> None:
    async with opened() as bench:
        bench.asks("x", method, path="/ws/a", command="ls", content="", terminalId="t1")
        assert (await bench.reply("x"))["error"]["code"] == -32601
        assert bench.files.calls == []
        assert bench.terminals.calls == []


@pytest.mark.req("V2-16", "V2-17")
@pytest.mark.parametrize("ident", ["null", "1.5", "true"])
async def test_requests_without_a_real_id_are_refused(ident: str) -> None:
    async with opened() as bench:
        line = f'{{"jsonrpc":"2.0","id":{ident},"method":"session/request_permission","params":{{}}}}'
        bench.transport.push(line.encode())
        await bench.settle()
        refused = [message["error"]["code"] for message in bench.sent if message.get("id", 0) is None]
        assert refused == [-32600]


@pytest.mark.req("V2-12", "V2-14")
async def test_a_batch_is_refused_as_a_whole() -> None:
    async with opened() as bench:
        bench.transport.push(
            b'[{"jsonrpc":"2.0","id":1,"method":"_x"},{"jsonrpc":"2.0","method":"session/update"}]'
        )
        await bench.settle()
        refused = [message["error"]["code"] for message in bench.sent if message.get("id", 0) is None]
        assert refused == [-32600]
