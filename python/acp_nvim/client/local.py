"""An agent that is a process of ours, and the protocol spoken with it over its stdio."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

import anyio
from msgspec import structs

from acp_nvim.process.environment import clean_environment
from acp_nvim.process.spawn import AgentProcess, LaunchError
from acp_nvim.protocol.adapter import Parts
from acp_nvim.protocol.batches import Batches
from acp_nvim.protocol.channel import Channel
from acp_nvim.protocol.negotiation import Client, Dialect, Negotiation, OlderError
from acp_nvim.protocol.rpc import Lines
from acp_nvim.protocol.rpc_errors import GONE
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError
from acp_nvim.transport.stdio import StdioTransport

from .launch import Launch
from .life import Ready
from .services import Services

if TYPE_CHECKING:
    from .connection import Connection

#: Lines of the agent's stderr shown when it ends by itself.
STDERR_LINES = 12
#: Seconds between the end of an agent's output and its exit, if that is why it ended.
EXIT_PATIENCE = 1.0


class LocalAgent:
    """Implements ``life.Life``. ``launch`` works out what is to be started; raises AgentError."""

    def __init__(
        self, connection: Connection, services: Services, launch: Callable[[], Awaitable[Launch]]
    ) -> None:
        self.variables: frozenset[str] = frozenset()
        self._connection = connection
        self._agent = connection.agent
        self._config = connection.config
        self._services = services
        self._launch = launch
        self._process: AgentProcess | None = None
        self._adapter: Client | None = None
        self._stopping = False
        self._ready = False
        self._refused: Failure | None = None  # why the handshake failed
        self._older = False  # it has to be started again, and asked for the older version
        self._launching: anyio.CancelScope | None = None
        self._since = 0.0  # when it began

    async def run(self, ready: Ready) -> Failure:
        """As in ``life.Life``."""
        self._since = self._services.clock()
        if self._stopping:
            return stopped(self._agent)
        launch: Launch | None = None
        with anyio.CancelScope() as self._launching:
            launch = await self._launch()
            self.variables = frozenset(
                name for name, value in {**clean_environment(os.environ), **launch.env}.items() if value
            )
        self._launching = None
        if launch is None:
            return stopped(self._agent)
        dialect = self._dialect()
        reason = await self._speak(launch, dialect, ready)
        if self._older and not self._stopping:
            await self._end_process()
            self._connection.older = True
            reason = await self._speak(launch, "acp-v1", ready)
        if self._process is None:
            return stopped(self._agent)
        return self._refused or await self._why_lost(reason)

    def _dialect(self) -> Dialect:
        """What the settings say; an agent that was found to know only the older version is asked for that."""
        match self._config.protocol:
            case "auto" if not self._connection.older:
                return "auto"
            case "acp-v2":
                return "acp-v2"
            case _:
                return "acp-v1"

    async def _speak(self, launch: Launch, dialect: Dialect, ready: Ready) -> str:
        """One process, from its start to the end of the connection; returns why that ended."""
        if self._stopping:
            return ""
        with anyio.CancelScope() as self._launching:
            self._process = await self._start_process(launch)
        self._launching = None
        process = self._process
        if process is None:
            return ""
        transport: Lines = StdioTransport(process.stdout, process.stdin)
        if self._config.batches:
            transport = Batches(transport)
        channel = Channel(transport, self._connection.trace.record)
        parts = Parts(
            sink=self._services.sink,
            files=self._services.files,
            questions=self._services.questions,
            terminals=self._services.terminals,
            label=self._agent,
            why_lost=self._why_lost,
            asker=partial(self._services.asker, self._connection),
            login=self._connection.login_remedy,
            mcp_servers=launch.mcp_servers,
            mcp_problems=launch.mcp_problems,
            path=self._services.spawner.environment(launch.env).get("PATH", ""),
            mask=self._services.secrets.mask_all,
            directories=self._config.directories if isinstance(self._config.directories, list) else [],
        )
        negotiation = Negotiation(channel, parts, dialect)
        async with anyio.create_task_group() as group:
            group.start_soon(self._handshake, negotiation, channel, ready)
            reason = await negotiation.run()
            group.cancel_scope.cancel()
        return reason

    async def stop(self) -> None:
        """Stdin first, then signals to everything it started. Returns when it is gone."""
        self._stopping = True
        if self._launching is not None:
            self._launching.cancel()
        if self._adapter is not None:
            await self._adapter.abort()
        if self._process is not None:
            await self._process.stop()

    async def end(self) -> None:
        """Its last descendants are ended, too."""
        await self._end_process()
        self._adapter = None

    async def _end_process(self) -> None:
        if self._process is not None:
            await self._process.stop()
        self._process = None

    async def _start_process(self, launch: Launch) -> AgentProcess:
        connection = self._connection
        try:
            return await self._services.spawner.start(launch.argv, cwd=connection.cwd, env=launch.env)
        except LaunchError as error:
            if not await anyio.Path(connection.cwd).is_dir():
                failure = Failure(
                    f"{self._agent} did not start: the folder {connection.cwd} does not exist",
                    kind="transport",
                    remedy="make it again, then :AcpRestart; :AcpChat! works in the present folder",
                )
            else:
                failure = Failure(
                    f"{self._agent} did not start: {error}",
                    kind="transport",
                    data=[line for line in error.details if not line.startswith("command: ")],
                    remedy=self._how_to_get_it(launch.argv[0]),
                )
            raise AgentError(failure) from error

    def _how_to_get_it(self, program: str) -> str:
        """The remedy for a program that is not there: the catalog's command on a line of its own."""
        setting = f"set agents.{self._agent}.command"
        if self._config.install:
            return f"{self._config.install}\ninstalls it, then :AcpRestart; or {setting}"
        install = "" if "/" in program else f", or install {program}"
        return f"{setting}{install}; then :AcpRestart"

    async def _handshake(self, negotiation: Negotiation, channel: Channel, ready: Ready) -> None:
        try:
            adapter = await negotiation.connect()
        except OlderError as error:
            self._older = True
            self._connection.trace.record("note", b"", f"{error.why}; it is started again for version 1")
            await channel.close()
            return
        except AgentError as error:
            if error.failure.kind in ("transport", "cancelled"):
                self._refused = error.failure  # it knows better than the reader how it ended
            else:
                self._refused = structs.replace(
                    error.failure,
                    message=f"{self._agent} cannot be used: {error.failure.message}",
                    remedy=error.failure.remedy or ":AcpRestart tries again; :AcpTrace has the full answer",
                )
            await channel.close()
            return
        info = adapter.known()
        for method in info.auth_methods:
            self._services.secrets.add(value for _, value in method.env)
        self._adapter = adapter
        self._ready = True
        ready(adapter, info)

    async def _why_lost(self, reason: str) -> Failure:
        """What the user is told of the end. When the agent has just gone, its exit status says why."""
        process = self._process
        if process is None:
            return Failure("connection lost", kind="transport", remedy=":AcpRestart")
        if reason in GONE:
            with anyio.move_on_after(EXIT_PATIENCE):
                await process.wait()
        return self._describe_end(process, reason)

    def _describe_end(self, process: AgentProcess, reason: str) -> Failure:
        if self._stopping:
            return stopped(self._agent)
        exited = reason in GONE and process.returncode is not None
        what = f"{self._agent} {process.describe_exit()}" if exited else f"{self._agent}: {reason}"
        remedy = ":AcpRestart starts it again"
        info = self._connection.info
        if not self._ready:
            what += ", before it was ready"
            remedy = ":AcpRestart tries again; :AcpTrace has all it said"
        elif info is not None and (info.can_resume or info.can_load):
            remedy += " and resumes this chat"
        return Failure(what, kind="transport", data=self.said(STDERR_LINES), remedy=remedy)

    def said(self, lines: int) -> list[str]:
        """The last lines it wrote to stderr, without secrets."""
        if self._process is None:
            return []
        return [self._services.secrets.mask(line) for line in self._process.stderr.lines()[-lines:]]

    def waits(self) -> str:
        """As in ``life.Life``."""
        if self._process is None:
            return f"the commands of agents.{self._agent}.env have not ended"
        return "it does not answer initialize"

    def doubts(self) -> list[str]:
        """What it printed that is no message: the command may be another program's."""
        stray = self._connection.trace.stray(self._since)
        if stray is None:
            return []
        return [f"It prints what is not ACP: “{stray}”. Is agents.{self._agent}.command right?"]


def stopped(agent: str) -> Failure:
    """Of kind ``cancelled``: the user wanted it, so nothing is wrong."""
    return Failure(f"{agent} was stopped by :AcpRestart", kind="cancelled", remedy=":AcpRestart")
