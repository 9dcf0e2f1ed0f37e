"""The demo agent: which version of the protocol is spoken, and with whom."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from .desk import Desk
from .first import VersionOne
from .login import Login
from .memory import Memory
from .peer import INVALID_PARAMS, UNSUPPORTED_VERSION, Handler, Json, Listener, Peer, Reply, RpcError
from .second import VersionTwo

VERSION = "1.0"
INFO: Json = {"name": "demo", "title": "Demo", "version": VERSION}


class Agent:
    """One process, any number of sessions. ``speed``: chunks a second, 0 for no pauses.

    Sessions can be resumed only with a ``memory`` that outlives the process. ``versions``: those of the
    protocol that it speaks, the one first that it has until the client says what it wants.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        speed: float,
        memory: Memory | None = None,
        login: Login | None = None,
        versions: Sequence[int] = (1,),
    ) -> None:
        self._requests: dict[str, Handler] = {}
        self._notifications: dict[str, Listener] = {}
        self._peer = Peer(reader, writer, self._requests, self._notifications)
        desk = Desk(self._peer, speed, memory, login if login is not None else Login(False, None))
        spoken: dict[int, VersionOne | VersionTwo] = {1: VersionOne(desk), 2: VersionTwo(desk)}
        self._spoken = {version: spoken[version] for version in versions}
        self._speak(self._spoken[versions[0]])

    async def serve(self) -> None:
        await self._peer.serve()

    def _speak(self, methods: VersionOne | VersionTwo) -> None:
        self._requests.clear()
        self._requests.update({"initialize": self._initialize, **methods.requests})
        self._notifications.clear()
        self._notifications.update(methods.notifications)

    async def _initialize(self, params: Json) -> Reply:
        """The best version that is not above the one asked for (V2-05); version 1 does for any (V1-28)."""
        asked = params.get("protocolVersion")
        if not isinstance(asked, int):
            raise RpcError(INVALID_PARAMS, "initialize needs protocolVersion, a number.")
        known = sorted(self._spoken)
        fitting = [version for version in known if version <= asked or version == 1]
        if not fitting:
            data = {"requested": asked, "supported": known}
            raise RpcError(UNSUPPORTED_VERSION, f"I speak version {known[0]} of the protocol.", data)
        methods = self._spoken[fitting[-1]]
        answer = methods.hello(params, INFO)
        self._speak(methods)
        return Reply(answer)
