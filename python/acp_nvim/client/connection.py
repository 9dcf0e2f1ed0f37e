"""A connection to an agent: started when it is needed, shared by chats, ended, and what went wrong."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Literal

import anyio

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import Agent, AgentError

from .launch import Launch, resolve
from .life import Life
from .local import STDERR_LINES, LocalAgent
from .payloads import AgentConfig
from .remote import RemoteAgent
from .services import Services
from .trace import Trace

State = Literal["off", "starting", "ready", "lost"]


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
        self.older = False  # it was found to know only the oldest version of its protocol (auto)
        self.restarting = False  # the old process is ended to make room for a new one
        self._services = services
        self._life: Life | None = None
        self._adapter: Agent | None = None
        self._settled = anyio.Event()
        self._ended = anyio.Event()
        self._ended.set()
        self._stopping = False
        self._since = 0.0  # when the last start began (monotonic)

    async def ready(self) -> Agent:
        """Return the connected agent; start it first if it does not run. Raises AgentError."""
        if self.vacant:
            await self._ended.wait()
        if self.vacant:
            self.state, self.failure, self._stopping = "starting", None, False
            self.info, self.restarting = None, False
            self._settled, self._ended = anyio.Event(), anyio.Event()
            self._life = self._new_life()
            self._services.spawn(self._serve, self._life)
        await self._settled.wait()
        if self._adapter is None or self.state != "ready":
            raise AgentError(self.failure or Failure(f"{self.agent} was stopped", kind="transport"))
        return self._adapter

    async def stop(self, *, again: bool = False) -> None:
        """End the agent, with everything it started. Returns when it is gone.

        ``again``: the user wants a new one; who asks for it is the caller's business.
        """
        self._stopping = True
        if again:
            self.restarts += 1
            self.restarting = True
            self.older = False
        if self._life is not None:
            await self._life.stop()
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
    def variables(self) -> frozenset[str]:
        """Names of what the agent's last process has in its environment."""
        return self._life.variables if self._life is not None else frozenset()

    @property
    def login_remedy(self) -> str:
        """What to do when the agent offers no login we can do; the catalog's command on a line of its own."""
        if self.remote:
            return f"the key comes from agents.{self.agent}.api_key_env (:help acp-aap-key); then :AcpRestart"
        if self.config.login:
            return f"{self.config.login}\nlogs in, in a terminal; then :AcpRestart"
        return "log in with the agent's own program, then :AcpRestart"

    async def launch(self) -> Launch:
        """What the settings say is to be started, with its secrets. Raises AgentError."""
        launch = await resolve(self.agent, self.config, self.demo, self._services.spawner.reaper)
        self._services.secrets.add(launch.secrets)
        return launch

    @property
    def remote(self) -> bool:
        """Whether the agent is a server: there is no process."""
        return self.config.protocol == "aap" and not self.demo

    def _new_life(self) -> Life:
        if self.remote:
            return RemoteAgent(self, self._services)
        return LocalAgent(self, self._services, self.launch)

    async def _serve(self, life: Life) -> None:
        """The life of one process, from the start to its last descendant."""
        self._since = time.monotonic()  # not the clock: that can be set while the agent starts
        try:
            try:
                self.failure = await life.run(self._ready)
            except AgentError as error:
                self.failure = error.failure
            finally:
                await self._over()
        finally:
            with anyio.CancelScope(shield=True):
                await life.end()
            self._ended.set()

    def _ready(self, adapter: Agent, info: AgentInfo) -> None:
        self._adapter, self.info = adapter, info
        self.ready_after = time.monotonic() - self._since
        self.state = "ready"
        self._settled.set()

    async def _over(self) -> None:
        """Tell who waits and who works with the agent, before its last descendants are gone."""
        was_ready = self.state == "ready"
        self.state = "lost"
        self._adapter = None
        self._settled.set()
        if was_ready and self.on_lost is not None and self.failure is not None:
            await self.on_lost(self.failure)

    def doubts(self) -> list[str]:
        """Before it is ready: what makes one doubt that it is an agent at all."""
        return self._life.doubts() if self._life is not None and self.state == "starting" else []

    def slow(self, seconds: float, method: str) -> Failure:
        """What there is to say of an agent that has not become ready within ``seconds``.

        ``method`` is what the chat asks first.
        """
        lines: list[str] = []
        waits = f"it does not answer {method}"
        if self._life is not None:
            lines = self._life.said(STDERR_LINES // 3)
            if self.state != "ready":
                waits = self._life.waits()
                lines += self._life.doubts()
        return Failure(f"{self.agent} is still starting: {waits} ({seconds:g} s)", kind="slow", data=lines)
