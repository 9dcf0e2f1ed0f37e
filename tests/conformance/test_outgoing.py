"""The check of what we send finds what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.protocol.acp_v1.bench import opened

from .definitions import STABLE, errors
from .outgoing import Outgoing


def call(method: str, params: Any, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params, **more}


def answer(result: Any, ident: Any = 7) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "result": result}


def failure(code: int, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "error": {"code": code, "message": "no", **more}}


PROMPT = {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}]}
NEW = {"cwd": "/ws", "mcpServers": []}
CHOSEN = {"outcome": {"outcome": "selected", "optionId": "ok"}}


@pytest.mark.parametrize(
    "message",
    [
        call("session/prompt", PROMPT, id=1),
        call("session/new", NEW, id="a"),
        call("session/cancel", {"sessionId": "s"}),
        call("session/fork", {"sessionId": "s", **NEW}, id=1),
        call("session/set_model", {"sessionId": "s", "modelId": "m"}, id=1),
        call("$/cancel_request", {"requestId": 1}),
        call("session/set_config_option", {"sessionId": "s", "configId": "c", "value": "x"}, id=1),
        call(
            "session/set_config_option",
            {"sessionId": "s", "configId": "c", "type": "boolean", "value": True},
            id=1,
        ),
        answer(CHOSEN),
        failure(-32602, data={"path": "a"}),
        failure(-32601),
        failure(17),
    ],
    ids=str,
)
def test_what_is_right(message: Any) -> None:
    checked = Outgoing()
    checked.heard({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission"})
    checked.said(message)
    assert checked.problems == []


@pytest.mark.parametrize(
    "message",
    [
        [call("session/prompt", PROMPT, id=1)],
        {"method": "session/cancel", "params": {"sessionId": "s"}},
        call("session/cancel", {"sessionId": "s"}, id=1),
        call("session/prompt", PROMPT),
        call("session/prompt", PROMPT, id=None),
        call("session/prompt", PROMPT, id=1, more=1),
        call("session/prompt", {**PROMPT, "more": 1}, id=1),
        call("session/prompt", {**PROMPT, "prompt": [{"type": "text", "text": "hi", "more": 1}]}, id=1),
        call("session/prompt", {**PROMPT, "prompt": [{"type": "text"}]}, id=1),
        call("session/prompt", {**PROMPT, "prompt": [{"type": "smell", "text": "hi"}]}, id=1),
        call("session/new", {**NEW, "cwd": "ws"}, id=1),
        call("session/new", {"cwd": "/ws"}, id=1),
        call("session/new", {**NEW, "additionalDirectories": ["/a", "b"]}, id=1),
        call(
            "session/new",
            {**NEW, "mcpServers": [{"name": "m", "command": "m", "args": [], "env": []}]},
            id=1,
        ),
        call("session/made_up", {}, id=1),
        call("initialize", {"protocolVersion": 1, "clientCapabilities": {"plan": {}}}, id=1),
        answer({"outcome": "selected", "optionId": "ok"}),
        answer({}),
        answer({**CHOSEN, "more": 1}),
        {**answer(CHOSEN), **failure(-32602)},
        failure(-32050),
        failure(-32850),
        failure(-32602, more=1),
    ],
    ids=str,
)
def test_what_is_wrong(message: Any) -> None:
    checked = Outgoing()
    checked.heard({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission"})
    checked.said(message)
    assert checked.problems != []


def test_an_id_is_used_once() -> None:
    checked = Outgoing()
    for ident in (1, "1", 2):
        checked.said(call("session/prompt", PROMPT, id=ident))
    assert checked.problems == []
    checked.said(call("session/prompt", PROMPT, id=2))
    assert checked.problems != []


@pytest.mark.anyio
@pytest.mark.req("V1-25", "V1-210", "V1-218")
async def test_what_we_offer_is_of_the_stable_schema() -> None:
    async with opened() as bench:
        [hello] = [message for message in bench.sent if message.get("method") == "initialize"]
    assert list(errors(STABLE.closed("InitializeRequest"), hello["params"])) == []
