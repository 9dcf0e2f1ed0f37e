"""The sessions agents know of: asked for when they are listed, and deleted (spec section 4)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

import anyio
from anyio import to_thread

from acp_nvim.editor import Editor
from acp_nvim.service.roots import real_path
from acp_nvim.session.agent import SessionList
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError
from acp_nvim.text.sanitise import one_line
from acp_nvim.view.sessions import listed
from acp_nvim.view.status import ERROR_CELLS

from . import payloads
from .connection import Connection
from .earlier import Earlier
from .registry import Registry

#: Seconds an agent that was started for a list alone lives on after it: who picks a session from it needs it.
LINGER = 60.0


class Sessions:
    """Answers the messages ``sessions``, ``sessions_end``, ``session_delete`` and ``session_forget`` of Lua.

    ``connect`` gives the connection of an agent and a folder. A view is who has asked: the list, or a call
    of the Lua interface.
    """

    def __init__(
        self,
        registry: Registry,
        editor: Editor,
        connect: Callable[[str, str, payloads.AgentConfig, bool], Connection],
        spawn: Callable[..., None],
        earlier: Earlier,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._registry = registry
        self._editor = editor
        self._connect = connect
        self._spawn = spawn
        self._earlier = earlier
        self._sleep = sleep
        self._views: dict[str, anyio.CancelScope] = {}  # those that are open, with what they wait for
        self._held: set[Connection] = set()  # without a chat, perhaps
        self._lingering: anyio.CancelScope | None = None  # of those who wait, the last

    def ask(self, request: payloads.ListSessions) -> None:
        """Ask every agent that is connected, or the one that was named, and tell each answer as it comes."""
        earlier = self._views.get(request.view)
        if earlier is not None:
            earlier.cancel()
        scope = self._views[request.view] = anyio.CancelScope()
        self._spawn(self._ask_all, request, scope, self._asked(request))

    def keep(self, connection: Connection) -> bool:
        """The last chat of a connection was closed. Whether the agent is kept, as its sessions are listed."""
        if self._views or connection in self._held:
            self._held.add(connection)
            return True
        return False

    def end(self, request: payloads.EndSessions) -> None:
        """A view was closed. After the last one, agents that serve no chat are ended soon."""
        scope = self._views.pop(request.view, None)
        if scope is not None:
            scope.cancel()
        if not self._views and self._held:
            if self._lingering is not None:
                self._lingering.cancel()
            self._lingering = anyio.CancelScope()
            self._spawn(self._linger, self._lingering)

    def delete(self, request: payloads.DeleteSession) -> None:
        """Have the agent forget a session; tell how it went."""
        self._spawn(self._delete, request)

    def forget(self, request: payloads.ForgetSession) -> None:
        """Offer a session no longer; the agent keeps it."""
        self._earlier.forget(request.agent, request.id)
        self._editor.notify("acp.sessions", "deleted", request.agent, request.id, False)

    def _asked(self, request: payloads.ListSessions) -> list[Connection]:
        connections = [
            each
            for each in self._registry.connections.values()
            if each.state in ("ready", "starting")
            and not each.vacant
            and not (request.only and each.agent != request.agent)
        ]
        name = request.agent
        if name is not None and all(each.agent != name for each in connections):
            connections.append(self._connect(name, request.home, request.config, request.demo))
        self._held.update(connections)
        return connections

    async def _ask_all(
        self, request: payloads.ListSessions, scope: anyio.CancelScope, connections: Iterable[Connection]
    ) -> None:
        with scope:
            async with anyio.create_task_group() as group:
                group.start_soon(self._remembered, request)
                for connection in connections:
                    group.start_soon(self._ask, connection, request)
            self._editor.notify("acp.sessions", "settled", request.view, request.seq)

    async def _remembered(self, request: payloads.ListSessions) -> None:
        """Tell of the sessions of earlier Neovims, also of agents that are not asked, or cannot list."""
        rows = await self._earlier.listed(request.cwd, request.agent if request.only else None)
        self._editor.notify("acp.sessions", "remembered", request.view, request.seq, rows)

    async def _ask(self, connection: Connection, request: payloads.ListSessions) -> None:
        tell = partial(self._tell, connection, request)
        tell({"state": "asking"})
        seconds = connection.config.stall_s
        try:
            with anyio.fail_after(seconds):
                agent = await connection.ready()
                info = agent.info
                able = {
                    "open": info is not None and (info.can_load or info.can_resume),
                    "delete": info is not None and info.can_delete,
                    "fork": info is not None and info.can_fork,
                }
                if info is None or not info.can_list:
                    tell({"state": "cannot", **able})
                    return
                found = await agent.list_sessions(request.cwd)
        except AgentError as error:
            tell(_failed(error.failure))
            return
        except TimeoutError:
            tell(_failed(connection.slow(seconds, "session/list")))
            return
        if request.cwd is not None:  # some agents list all folders, whatever they are asked for
            found = await to_thread.run_sync(_in_folder, found, request.cwd, abandon_on_cancel=True)
        tell({
            "state": "done",
            "sessions": [listed(each) for each in found.sessions],
            **({"cut": one_line(found.cut, ERROR_CELLS)} if found.cut else {}),
            **able,
        })  # fmt: skip

    def _tell(self, connection: Connection, request: payloads.ListSessions, source: dict[str, Any]) -> None:
        whose = {"agent": connection.agent, "home": connection.cwd}
        self._editor.notify("acp.sessions", "told", request.view, request.seq, {**whose, **source})

    async def _linger(self, scope: anyio.CancelScope) -> None:
        with scope:
            await self._sleep(LINGER)
        if scope.cancel_called or self._views:
            return
        held, self._held = self._held, set()
        for connection in held:
            if not self._registry.sharing(connection):
                await connection.stop()

    async def _delete(self, request: payloads.DeleteSession) -> None:
        error: str | None = None
        connection = self._connect(request.agent, request.home, request.config, request.demo)
        try:
            agent = await connection.ready()
            await agent.delete_session(request.id)
            self._earlier.forget(request.agent, request.id)
        except AgentError as failed:
            error = one_line(failed.failure.message, ERROR_CELLS)
        if self.keep(connection) is False and not self._registry.sharing(connection):
            await connection.stop()
        self._editor.notify("acp.sessions", "deleted", request.agent, request.id, error or False)


def _failed(failure: Failure) -> dict[str, Any]:
    return {
        "state": "failed",
        "kind": failure.kind,
        "error": one_line(failure.message, ERROR_CELLS),
        "remedy": failure.remedy or "",
    }


def _in_folder(found: SessionList, cwd: str) -> SessionList:
    """The sessions of one folder, whatever its name. Touches the disk."""
    real = os.path.realpath(cwd)
    same = {folder for folder in {each.cwd for each in found.sessions} if real_path(folder) == real}
    return SessionList(tuple(each for each in found.sessions if each.cwd in same), found.cut)
