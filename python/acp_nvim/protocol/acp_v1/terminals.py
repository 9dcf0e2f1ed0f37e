"""``terminal/*``: what the agent asks of terminals (spec section 17)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Raw

from acp_nvim.protocol.rpc_errors import method_not_found
from acp_nvim.session.entities import Session
from acp_nvim.session.ports import CommandLine, RequestError, Terminals
from acp_nvim.session.terminals import Exit
from acp_nvim.wire.acp_v1 import client, codecs
from acp_nvim.wire.acp_v1.connection import Empty
from acp_nvim.wire.jsonrpc import INVALID_PARAMS

U64 = 2**64


class TerminalRequests:
    """Answers them. ``session`` finds the session of a request, or raises RequestError."""

    def __init__(
        self, terminals: Terminals, session: Callable[[str], Session], note: Callable[[str], None]
    ) -> None:
        self._terminals = terminals
        self._session = session
        self._note = note

    async def request(self, method: str, params: Raw) -> object:
        """Answer a request. Wrong types are -32602 (V1-178), by what decoding raises."""
        if method == "terminal/create":
            return await self._create(params)
        if method not in ("terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"):
            raise method_not_found(method)
        request = codecs.TERMINAL.decode(params, self._note)
        session, terminal_id = self._session(request.session_id), request.terminal_id
        match method:
            case "terminal/output":
                text, truncated, ended = self._terminals.output(session, terminal_id)
                return client.TerminalOutputResponse(
                    output=text,
                    truncated=truncated,
                    exit_status=_status(ended) if ended is not None else None,
                )
            case "terminal/wait_for_exit":
                return _status(await self._terminals.wait(session, terminal_id))
            case "terminal/kill":
                await self._terminals.kill(session, terminal_id)
            case _:
                await self._terminals.release(session, terminal_id)
        return Empty()

    async def _create(self, params: Raw) -> client.CreateTerminalResponse:
        request = codecs.CREATE_TERMINAL.decode(params, self._note)
        session = self._session(request.session_id)
        limit = request.output_byte_limit
        if limit is not None and limit >= U64:
            raise RequestError(INVALID_PARAMS, "outputByteLimit is too large", {"outputByteLimit": limit})
        line = CommandLine(
            request.command,
            tuple(request.args),
            {each.name: each.value for each in request.env},
            request.cwd,
            limit,
        )
        return client.CreateTerminalResponse(terminal_id=await self._terminals.create(session, line))


def _status(ended: Exit) -> client.TerminalExitStatus:
    return client.TerminalExitStatus(exit_code=ended.code, signal=ended.signal)
