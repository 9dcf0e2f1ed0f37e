"""One agent's process and the protocol spoken with it: start, serve, stop, and what went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import anyio

from acp_nvim.process.spawn import AgentProcess, LaunchError, Spawner
from acp_nvim.protocol.acp_v1 import AcpV1
from acp_nvim.protocol.rpc_errors import GONE
from acp_nvim.session.entities import AgentInfo, Failure
from acp_nvim.session.ports import Agent, AgentError, Files, Questions, Sink
from acp_nvim.transport.stdio import StdioTransport

from .launch import Launch, resolve
from .payloads import AgentConfig
from .secrets import Secrets
from .trace import Trace

State = Literal["off", "starting", "ready", "lost"]

#: Lines of the agent's stderr shown when it ends by itself.
STDERR_LINES = 12
#: Seconds between the end of an agent's output and its exit, if that is why it ended.
EXIT_PATIENCE = 1.0


@dataclass(slots=True)
class Services:
    """What every connection needs of the host. ``spawn`` starts an owned task."""

    sink: Sink
    files: Files
    questions: Questions
    spawner: Spawner
    secrets: Secrets
    clock: Callable[[], float]
    spawn: Callable[..., None]


class Connection:
    """A connection is started by the first chat that needs it and shared by all that have the same key.

    Starting is one attempt for all who wait (C29). When the agent ends, every chat is told once; the
    next ``ready`` makes a new attempt.
    """

    def __init__(self, agent: str, cwd: str, config: AgentConfig, demo: bool, services: Services) -> None:
        self.agent = agent
        self.cwd = cwd
        self.config = config
        self.demo = demo
        self.state: State = "off"
        self.info: AgentInfo | None = None
        self.failure: Failure | None = None
        self.trace = Trace(services.clock, services.secrets)
        self.on_lost: Callable[[Failure], Awaitable[None]] | None = None
        self.ready_after = 0.0  # seconds the last start took
        self._services = services
        self._process: AgentProcess | None = None
        self._adapter: AcpV1 | None = None
        self._settled = anyio.Event()
        self._ended = anyio.Event()
        self._ended.set()
        self._stopping = False

    async def ready(self) -> Agent:
        """Return the connected agent; start it first if it does not run. Raises AgentError."""
        if self.state in ("off", "lost"):
            await self._ended.wait()
        if self.state in ("off", "lost"):
            self.state, self.failure, self._stopping = "starting", None, False
            self._settled, self._ended = anyio.Event(), anyio.Event()
            self._services.spawn(self._serve)
        await self._settled.wait()
        if self._adapter is None or self.state != "ready":
            raise AgentError(self.failure or Failure(f"{self.agent} was stopped", kind="transport"))
        return self._adapter

    async def stop(self) -> None:
        """End the agent: stdin first, then signals to everything it started. Returns when it is gone."""
        self._stopping = True
        if self._process is not None:
            await self._process.stop()
        await self._ended.wait()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def _serve(self) -> None:
        """The life of one process, from the start to its last descendant."""
        started = self._services.clock()
        try:
            await self._run(started)
        except AgentError as error:
            self.failure = error.failure
        finally:
            was_ready = self.state == "ready"
            self.state = "lost"
            self._adapter = None
            self._process = None
            self._settled.set()
            self._ended.set()
        if was_ready and self.on_lost is not None and self.failure is not None:
            await self.on_lost(self.failure)

    async def _run(self, started: float) -> None:
        launch = await resolve(self.agent, self.config, self.demo)
        self._services.secrets.add(launch.secrets)
        process = await self._start_process(launch)
        self._process = process
        try:
            adapter = AcpV1(
                StdioTransport(process.stdout, process.stdin),
                sink=self._services.sink,
                files=self._services.files,
                questions=self._services.questions,
                label=self.agent,
                observer=self.trace.record,
                why_lost=self._why_lost,
                mcp_servers=self.config.mcp_servers if isinstance(self.config.mcp_servers, list) else [],
            )
            async with anyio.create_task_group() as group:
                group.start_soon(self._handshake, adapter, started)
                reason = await adapter.run()
                group.cancel_scope.cancel()
            if self.failure is None:
                self.failure = await self._why_lost(reason)
        finally:
            with anyio.CancelScope(shield=True):
                await process.stop()

    async def _start_process(self, launch: Launch) -> AgentProcess:
        try:
            return await self._services.spawner.start(launch.argv, cwd=self.cwd, env=launch.env)
        except LaunchError as error:
            raise AgentError(
                Failure(
                    f"{self.agent} did not start: {error}",
                    kind="transport",
                    data=error.details,
                    remedy=f"set agents.{self.agent}.command, or install {launch.argv[0]}",
                )
            ) from error

    async def _handshake(self, adapter: AcpV1, started: float) -> None:
        try:
            self.info = await adapter.connect()
        except AgentError as error:
            if error.failure.kind != "transport" and self.failure is None:
                self.failure = error.failure
            await adapter.close()
            return
        self._adapter = adapter
        self.ready_after = self._services.clock() - started
        self.state = "ready"
        self._settled.set()

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
            return Failure(f"{self.agent} was stopped", kind="transport", remedy=":AcpRestart")
        exited = reason in GONE and process.returncode is not None
        what = f"{self.agent} {process.describe_exit()}" if exited else f"{self.agent}: {reason}"
        if self.state == "starting":
            what += ", before it was ready"
        tail = [self._services.secrets.mask(line) for line in process.stderr.lines()[-STDERR_LINES:]]
        return Failure(what, kind="transport", data=tail, remedy=":AcpRestart")
