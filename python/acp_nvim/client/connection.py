"""One agent's process and the protocol spoken with it: start, serve, stop, and what went wrong."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import anyio

from acp_nvim.process.environment import clean_environment
from acp_nvim.process.spawn import AgentProcess, LaunchError, Spawner
from acp_nvim.protocol.acp_v1 import AcpV1
from acp_nvim.protocol.rpc_errors import GONE
from acp_nvim.session.entities import AgentInfo, Failure, Session
from acp_nvim.session.ports import Agent, AgentError, Files, Questions, Sink, Terminals
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
    terminals: Terminals
    spawner: Spawner
    secrets: Secrets
    clock: Callable[[], float]
    spawn: Callable[..., None]
    asker: Callable[[Connection], Session | None]


class Connection:
    """A connection is started by the first chat that needs it and shared by all that have the same key.

    Starting is one attempt for all who wait (C29). When the agent ends, every chat is told once; the
    next ``ready`` makes a new attempt. ``restarts`` counts how often the user wanted a new process:
    who waits for the old one when it grows should ask again.
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
        self.restarts = 0
        self.restarting = False  # the old process is ended to make room for a new one
        self.variables: frozenset[str] = frozenset()  # names of what the process has in its environment
        self._services = services
        self._process: AgentProcess | None = None
        self._adapter: AcpV1 | None = None
        self._settled = anyio.Event()
        self._ended = anyio.Event()
        self._ended.set()
        self._stopping = False
        self._launching: anyio.CancelScope | None = None
        self._since = 0.0  # when the last start began

    async def ready(self) -> Agent:
        """Return the connected agent; start it first if it does not run. Raises AgentError."""
        if self.vacant:
            await self._ended.wait()
        if self.vacant:
            self.state, self.failure, self._stopping = "starting", None, False
            self.info, self.restarting = None, False
            self._settled, self._ended = anyio.Event(), anyio.Event()
            self._services.spawn(self._serve)
        await self._settled.wait()
        if self._adapter is None or self.state != "ready":
            raise AgentError(self.failure or Failure(f"{self.agent} was stopped", kind="transport"))
        return self._adapter

    async def stop(self, *, again: bool = False) -> None:
        """End the agent: stdin first, then signals to everything it started. Returns when it is gone.

        ``again``: the user wants a new process; who asks for it is the caller's business.
        """
        self._stopping = True
        if again:
            self.restarts += 1
            self.restarting = True
        if self._launching is not None:
            self._launching.cancel()
        if self._adapter is not None:
            await self._adapter.abort()
        if self._process is not None:
            await self._process.stop()
        await self._ended.wait()

    @property
    def agent_now(self) -> Agent | None:
        """The connected agent; None while there is none."""
        return self._adapter

    @property
    def vacant(self) -> bool:
        """Whether who wants the agent now gets a new process: the last one has ended, or is being ended."""
        return self._stopping or self.state in ("off", "lost")

    @property
    def login_remedy(self) -> str:
        """What to do when the agent offers no login we can do; the catalog's command on a line of its own."""
        if self.config.login:
            return f"{self.config.login}\nlogs in, in a terminal; then :AcpRestart"
        return "log in with the agent's own program, then :AcpRestart"

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
            await self._over()
            self._process = None
            self._ended.set()

    async def _over(self) -> None:
        """Tell who waits and who works with the agent, before its last descendants are gone."""
        was_ready = self.state == "ready"
        self.state = "lost"
        self._adapter = None
        self._settled.set()
        if was_ready and self.on_lost is not None and self.failure is not None:
            await self.on_lost(self.failure)

    async def _run(self, started: float) -> None:
        self._since = started
        with anyio.CancelScope() as self._launching:
            launch = await self.launch()
            self.variables = frozenset(
                name for name, value in {**clean_environment(os.environ), **launch.env}.items() if value
            )
            self._process = await self._start_process(launch)
        self._launching = None
        process = self._process
        if process is None:
            raise AgentError(self._stopped())
        try:
            adapter = AcpV1(
                StdioTransport(process.stdout, process.stdin),
                sink=self._services.sink,
                files=self._services.files,
                questions=self._services.questions,
                terminals=self._services.terminals,
                label=self.agent,
                observer=self.trace.record,
                why_lost=self._why_lost,
                asker=partial(self._services.asker, self),
                login=self.login_remedy,
                mcp_servers=launch.mcp_servers,
                mcp_problems=launch.mcp_problems,
                path=self._services.spawner.environment(launch.env).get("PATH", ""),
                mask=self._services.secrets.mask_all,
                directories=self.config.directories if isinstance(self.config.directories, list) else [],
            )
            async with anyio.create_task_group() as group:
                group.start_soon(self._handshake, adapter, started)
                reason = await adapter.run()
                group.cancel_scope.cancel()
            if self.failure is None:
                self.failure = await self._why_lost(reason)
            await self._over()
        finally:
            with anyio.CancelScope(shield=True):
                await process.stop()

    async def launch(self) -> Launch:
        """What the settings say is to be started, with its secrets. Raises AgentError."""
        launch = await resolve(self.agent, self.config, self.demo, self._services.spawner.reaper)
        self._services.secrets.add(launch.secrets)
        return launch

    async def _start_process(self, launch: Launch) -> AgentProcess:
        try:
            return await self._services.spawner.start(launch.argv, cwd=self.cwd, env=launch.env)
        except LaunchError as error:
            if not await anyio.Path(self.cwd).is_dir():
                failure = Failure(
                    f"{self.agent} did not start: the folder {self.cwd} does not exist",
                    kind="transport",
                    remedy="make it again, then :AcpRestart; :AcpChat! works in the present folder",
                )
            else:
                failure = Failure(
                    f"{self.agent} did not start: {error}",
                    kind="transport",
                    data=[line for line in error.details if not line.startswith("command: ")],
                    remedy=self._how_to_get_it(launch.argv[0]),
                )
            raise AgentError(failure) from error

    def _how_to_get_it(self, program: str) -> str:
        """The remedy for a program that is not there: the catalog's command on a line of its own."""
        setting = f"set agents.{self.agent}.command"
        if self.config.install:
            return f"{self.config.install}\ninstalls it, then :AcpRestart; or {setting}"
        install = "" if "/" in program else f", or install {program}"
        return f"{setting}{install}; then :AcpRestart"

    async def _handshake(self, adapter: AcpV1, started: float) -> None:
        try:
            self.info = await adapter.connect()
        except AgentError as error:
            if error.failure.kind != "transport" and self.failure is None:
                self.failure = replace(
                    error.failure,
                    message=f"{self.agent} cannot be used: {error.failure.message}",
                    remedy=error.failure.remedy or ":AcpRestart tries again; :AcpTrace has the full answer",
                )
            await adapter.close()
            return
        for method in self.info.auth_methods:
            self._services.secrets.add(value for _, value in method.env)
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
            return self._stopped()
        exited = reason in GONE and process.returncode is not None
        what = f"{self.agent} {process.describe_exit()}" if exited else f"{self.agent}: {reason}"
        remedy = ":AcpRestart starts it again"
        if self.state == "starting":
            what += ", before it was ready"
            remedy = ":AcpRestart tries again; :AcpTrace has all it said"
        elif self.info is not None and (self.info.can_resume or self.info.can_load):
            remedy += " and resumes this chat"
        return Failure(what, kind="transport", data=self.said(STDERR_LINES), remedy=remedy)

    def _stopped(self) -> Failure:
        """Of kind ``cancelled``: the user wanted it, so nothing is wrong."""
        return Failure(f"{self.agent} was stopped by :AcpRestart", kind="cancelled", remedy=":AcpRestart")

    def said(self, lines: int) -> list[str]:
        """The last lines the agent wrote to stderr, without secrets."""
        if self._process is None:
            return []
        return [self._services.secrets.mask(line) for line in self._process.stderr.lines()[-lines:]]

    def slow(self, seconds: float, method: str) -> Failure:
        """What there is to say of an agent that has not become ready within ``seconds``.

        ``method`` is what the chat asks first.
        """
        if self.state == "ready":
            waits = f"it does not answer {method}"
        elif self._process is None:
            waits = f"the commands of agents.{self.agent}.env have not ended"
        else:
            waits = "it does not answer initialize"
        lines = self.said(STDERR_LINES // 3)
        stray = self.trace.stray(self._since)
        if stray is not None and self.state != "ready":
            lines.append(f"It prints what is not ACP: “{stray}”. Is agents.{self.agent}.command right?")
        return Failure(f"{self.agent} is still starting: {waits} ({seconds:g} s)", kind="slow", data=lines)
