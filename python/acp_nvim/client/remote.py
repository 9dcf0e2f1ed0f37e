"""An agent that is reached over HTTP: the protocol is AAP, and there is no process of ours."""

from __future__ import annotations

import ipaddress
import re
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
from msgspec import structs

from acp_nvim import __version__
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError

from .launch import variable
from .life import Ready
from .local import stopped
from .remembered import Picked, Remembered
from .services import Services
from .trace import Direction

if TYPE_CHECKING:
    from acp_nvim.protocol.aap import Aap

    from .connection import Connection

#: What no address has, or what programs read in their own ways.
_NEVER = re.compile(r"""[\s\x00-\x20\x7f\\"<>`{}|^]""")


class RemoteAgent:
    """Implements ``life.Life``. It ends when it is stopped, or when the server cannot be used."""

    def __init__(self, connection: Connection, services: Services) -> None:
        self.variables: frozenset[str] = frozenset()
        self._connection = connection
        self._agent = connection.agent
        self._config = connection.config
        self._services = services
        self._adapter: Aap | None = None
        self._stopped = anyio.Event()
        self._waits = f"the command of agents.{self._agent}.env has not ended"

    async def run(self, ready: Ready) -> Failure:
        """As in ``life.Life``."""
        failure = stopped(self._agent)
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, group.cancel_scope)
            try:
                await self._serve(ready)
            except AgentError as error:
                failure = error.failure
            group.cancel_scope.cancel()
        return failure

    async def stop(self) -> None:
        """As in ``life.Life``."""
        self._stopped.set()

    async def end(self) -> None:
        """As in ``life.Life``: nothing is left."""

    def waits(self) -> str:
        """As in ``life.Life``."""
        return self._waits

    def said(self, lines: int) -> list[str]:
        """As in ``life.Life``: a server says nothing besides."""
        return []

    def doubts(self) -> list[str]:
        """As in ``life.Life``."""
        return []

    async def _watch(self, scope: anyio.CancelScope) -> None:
        await self._stopped.wait()
        if self._adapter is not None:
            await self._adapter.end(stopped(self._agent))
        scope.cancel()

    async def _serve(self, ready: Ready) -> None:
        """Raises AgentError when the server cannot be used."""
        base, loopback = address(self._agent, self._config.url)
        key = await self._key()
        try:
            from acp_nvim.protocol.aap import Aap, Place, Server
            from acp_nvim.transport.http import Http
        except ImportError as error:
            raise AgentError(_no_http(error)) from error
        headers = {"User-Agent": f"acp.nvim/{__version__}"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        secrets, trace = self._services.secrets, self._connection.trace

        def observe(direction: Direction, what: str, body: bytes) -> None:
            note = what if direction == "note" else ""
            trace.record(direction, body, note, "" if note else what)

        place = Place(self._agent, base, self._config.api_key_env or None)
        http = Http(base, headers, loopback=loopback)
        try:
            adapter = Aap(
                Server(http, place, observe, secrets.mask),
                sink=self._services.sink,
                questions=self._services.questions,
                agent=self._config.agent or None,
                folder=self._connection.cwd,
                label=self._agent,
                asker=lambda: self._services.asker(self._connection),
                hide=self._hide,
                memory=Remembered(self._services.cache / "aap-sessions.json", base, secrets.mask),
                tools=self._services.tools,
                offers=[str(name) for name in self._config.client_tools],
                options=self._config.options if isinstance(self._config.options, dict) else {},
                picks=Picked(self._services.cache / "aap-agents.json", self._agent, base),
            )
            self._waits = f"{base} does not answer"
            try:
                info = await adapter.connect()
            except AgentError as error:
                failure = error.failure
                message = f"{self._agent} cannot be used: {failure.message}"
                remedy = _with_restart(failure.remedy)
                raise AgentError(structs.replace(failure, message=message, remedy=remedy)) from error
            self._adapter = adapter
            ready(adapter, info)
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await http.close()

    async def _key(self) -> str | None:
        """The key, from ``agents.<name>.env`` or the environment; it is masked wherever it may show."""
        name = self._config.api_key_env
        if not name:
            return None
        key = await variable(self._agent, self._config, name, self._services.spawner.reaper)
        if not key:
            remedy = f"set it before Neovim starts, or agents.{self._agent}.env.{name}, then :AcpRestart"
            raise AgentError(Failure(f"${name} is not set: it holds the key", kind="auth", remedy=remedy))
        if not (key.isascii() and key.isprintable()) or " " in key:
            remedy = "correct it, then :AcpRestart"
            why = f"${name} holds no key: it has blanks or other characters"
            raise AgentError(Failure(why, kind="auth", remedy=remedy))
        self._services.secrets.add([key])
        return key

    def _hide(self, name: str, value: str) -> None:
        self._services.secrets.add([value])
        if value:
            self._services.secrets.add_member(name, value)


def address(agent: str, url: str) -> tuple[str, bool]:
    """The address without a slash at its end, and whether it is this machine's (AAP-01, AAP-78).

    Raises AgentError for one that is not to be used.
    """
    setting, url = f"agents.{agent}.url", url.strip()
    remedy = f"set {setting}, as 'https://host/v1', then :AcpRestart"
    if not url:
        raise AgentError(Failure(f"{setting} is not set", kind="invalid", remedy=remedy))
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        why = f"{setting} is no address: {error}"
        raise AgentError(Failure(why, kind="invalid", remedy=remedy)) from error
    if parts.username is not None:
        why = f"{setting} must not hold a name or a password"
        remedy = f"use agents.{agent}.api_key_env, then :AcpRestart"
        raise AgentError(Failure(why, kind="invalid", remedy=remedy))
    wrong = ""
    if _NEVER.search(url):
        wrong = "it has blanks or other characters that no address has"
    elif parts.scheme not in ("http", "https") or not host:
        wrong = "it does not begin with https:// and the name of a host"
    elif parts.query or parts.fragment:
        wrong = "it must end before ? and #"
    if wrong:
        raise AgentError(
            Failure(f"{setting} is no address of a server: {wrong}", kind="invalid", remedy=remedy)
        )
    loopback = _is_loopback(host)
    if parts.scheme == "http" and not loopback:
        why = f"{url} is not encrypted: the key and all text could be read on the way"
        remedy = f"use https:// in {setting}, or a tunnel to this machine (ssh -L), then :AcpRestart"
        raise AgentError(Failure(why, kind="invalid", remedy=remedy))
    return url.rstrip("/"), loopback


def _is_loopback(host: str) -> bool:
    """``127.example.org`` is a name, and not of this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _with_restart(remedy: str | None) -> str | None:
    """What is corrected outside of the chat is of use when the agent is begun with again."""
    return remedy if remedy is None or ":AcpRestart" in remedy else f"{remedy}; then :AcpRestart"


def _no_http(error: ImportError) -> Failure:
    return Failure(
        f"agents over HTTP need the Python package httpx2 ({error})",
        kind="invalid",
        remedy=f":AcpInstall installs it, or you do for {sys.executable}; then start Neovim again",
    )
