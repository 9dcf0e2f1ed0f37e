"""Chats begin and end, and so do the connections to their agents."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from acp_nvim.session.entities import Failure, Session
from acp_nvim.view.icons import Icons
from acp_nvim.view.transcript import Transcript

from . import payloads
from .chat import Chat, Wiring
from .connection import Connection
from .opening import Old
from .prompt import Prompt
from .queued import Queued
from .registry import Registry
from .services import Services


class Chats:
    """Answers the messages ``open``, ``close``, ``restart``, ``send`` and ``cancel`` of Lua.

    ``begun(chat, request)`` is called before a chat starts, ``over(chat)`` when it has ended. ``keep`` tells
    whether an agent without a chat is still wanted.
    """

    def __init__(
        self,
        registry: Registry,
        wiring: Wiring,
        services: Services,
        queued: Queued,
        icons: Icons,
        spawn: Callable[..., None],
        *,
        begun: Callable[[Chat, payloads.Open], None],
        over: Callable[[Chat], None],
        keep: Callable[[Connection], bool],
    ) -> None:
        self._registry = registry
        self._wiring = wiring
        self._services = services
        self._queued = queued
        self._icons = icons
        self._spawn = spawn
        self._begun = begun
        self._over = over
        self._keep = keep

    def open(self, request: payloads.Open) -> None:
        """A chat begins; its buffers are there already."""
        if request.chat in self._registry.chats:
            return
        session = Session(f"chat-{request.chat}", request.agent, request.cwd, roots=(request.cwd,))
        session.remote_id, session.title = request.session, request.title
        connection = self.connection(request.agent, request.home or request.cwd, request.config, request.demo)
        transcript = Transcript(
            request.chat, session, icons=self._icons, label=request.agent, first=request.first_block
        )
        wiring = self._wiring
        chat = Chat(request.chat, session, connection, transcript, wiring)
        chat.tell.reopened = request.first_block > 1
        chat.chosen.update(request.chosen if isinstance(request.chosen, dict) else {})
        if request.load is not None and request.session is None:
            directories = request.directories if isinstance(request.directories, list) else []
            chat.old = Old(request.load, request.fork, directories)
        elif not chat.tell.reopened:
            wiring.earlier.greet(chat)
        chat.tell.first = all(other.session.agent != request.agent for other in self._registry)
        self._registry.add(chat)
        wiring.store.add(session)
        wiring.frames.add(transcript)
        wiring.announcer.add(chat)
        wiring.store.gate(session, partial(wiring.frames.room, request.chat))
        self._begun(chat, request)
        self._spawn(chat.start)
        self._spawn(chat.queue.work)

    def connection(self, agent: str, cwd: str, config: payloads.AgentConfig, demo: bool) -> Connection:
        """The connection of this key, made if there is none. Settings count from its next start on."""
        key = (agent, cwd)
        connection = self._registry.connections.get(key)
        if connection is None:
            connection = Connection(agent, cwd, config, demo, self._services)
            connection.on_lost = partial(self._lost, key)
            self._registry.connections[key] = connection
        elif connection.vacant:
            connection.config, connection.demo = config, demo
        return connection

    async def _lost(self, key: tuple[str, str], failure: Failure) -> None:
        self._wiring.logins.lost(self._registry.connections[key])
        for chat in self._registry.sharing(self._registry.connections[key]):
            await chat.lost(failure)

    def send(self, request: payloads.Send) -> None:
        """A prompt is sent; ``now``: before all others, and into the running turn where the agent can."""
        chat = self._registry.get(request.chat)
        if chat is None:
            return
        context = request.context if isinstance(request.context, list) else []
        prompt = Prompt(request.text, context, request.spot, id=request.seq)
        chat.queue.send(prompt, now=request.now, seq=request.seq)
        if request.now:
            self._queued.at_once(chat, prompt)

    def outdated(self, request: payloads.OfChat) -> None:
        """The packages this host runs with were installed for another version of the plugin."""
        chat = self._registry.get(request.chat)
        if chat is not None:
            remedy = ":AcpInstall renews them; then start Neovim again"
            chat.tell.note("warning", "the Python packages are outdated", [remedy], beside=True)

    def cancel(self, request: payloads.Cancel) -> None:
        """The running turn is not wanted any more."""
        chat = self._registry.get(request.chat)
        if chat is not None:
            self._spawn(chat.cancel, request.queue)

    def close(self, request: payloads.OfChat) -> None:
        """A chat's buffer is gone."""
        self._spawn(self._close, request.chat)

    async def _close(self, n: int) -> None:
        chat = self._registry.remove(n)
        if chat is None:
            return
        wiring = self._wiring
        await chat.close()
        wiring.logins.closed(chat)
        wiring.frames.remove(chat.transcript)
        wiring.announcer.remove(chat)
        self._over(chat)
        wiring.store.remove(chat.session)
        if not self._registry.sharing(chat.connection) and not self._keep(chat.connection):
            await chat.connection.stop()

    def restart(self, request: payloads.Restart) -> None:
        """The agent is ended and started again, for all chats it serves."""
        self._spawn(self._restart, request)

    async def _restart(self, request: payloads.Restart) -> None:
        chat = self._registry.get(request.chat)
        if chat is None:
            return
        connection = chat.connection
        if request.config is not None:
            connection.config, connection.demo = request.config, request.demo
        chats = self._registry.sharing(connection)
        await connection.stop(again=True)
        for each in chats:
            self._spawn(each.start)
