"""Logging in to an agent (spec section 3)."""

from __future__ import annotations

from collections.abc import Callable

from acp_nvim.session.ports import AgentError

from . import payloads
from .announce import Announcer, known
from .registry import Registry


class Logins:
    """Answers the message ``login`` of Lua. ``spawn`` starts an owned task."""

    def __init__(self, registry: Registry, announcer: Announcer, spawn: Callable[..., None]) -> None:
        self._registry = registry
        self._announcer = announcer
        self._spawn = spawn

    def login(self, request: payloads.Login) -> None:
        """Offer the agent's methods, or log in by the one that was chosen."""
        self._spawn(self._login, request.chat, request.method)

    async def _login(self, n: int, method: str | None) -> None:
        chat = self._registry.get(n)
        if chat is None:
            return
        name = chat.session.agent
        try:
            agent = await chat.connection.ready()
        except AgentError as error:
            if chat.failure is not error.failure:  # else the chat says it
                chat.note("error", error.failure.message, [error.failure.remedy or ":AcpTrace"])
            return
        methods = [m for m in (agent.info.auth_methods if agent.info else ()) if m.type == "agent"]
        if method is None:
            if not methods:
                chat.note(
                    "warning",
                    f"{name} offers no login the editor can do.",
                    [chat.connection.login_remedy],
                )
                return
            rows = [known(id=m.id, name=m.name, description=m.description) for m in methods]
            self._announcer.call(chat, "acp.login", "choose", name, rows)
            return
        try:
            with chat.waiting():
                await agent.authenticate(method)
        except AgentError as error:
            if error.failure.kind != "transport":  # else its end is told
                chat.note("error", f"not logged in: {error.failure.message}", [":AcpLogin tries again"])
            return
        chat.note("info", f"logged in to {name}")
        for each in self._registry.sharing(chat.connection):
            if each is chat or (each.failure is not None and each.failure.kind == "auth"):
                self._spawn(each.start)
