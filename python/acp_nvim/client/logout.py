"""Logging out of an agent (V1-42, V1-43)."""

from __future__ import annotations

from collections.abc import Callable

from acp_nvim.session.asked import LoginSubject, Permission, PermissionOption
from acp_nvim.session.ports import AgentError, Questions

from . import payloads
from .chat import Chat
from .login import Logins
from .registry import Registry
from .secrets import Secrets


class Logouts:
    """Answers the message ``logout`` of Lua. ``spawn`` starts an owned task."""

    def __init__(
        self,
        registry: Registry,
        questions: Questions,
        logins: Logins,
        secrets: Secrets,
        spawn: Callable[..., None],
    ) -> None:
        self._registry = registry
        self._questions = questions
        self._logins = logins
        self._secrets = secrets
        self._spawn = spawn

    def logout(self, request: payloads.OfChat) -> None:
        """``:AcpLogout``: ask, then tell the agent. What its sessions do then is the agent's business."""
        chat = self._registry.get(request.chat)
        if chat is not None:
            self._spawn(self._logout, chat)

    async def _logout(self, chat: Chat) -> None:
        name, connection = chat.session.agent, chat.connection
        if connection.state != "ready":
            chat.tell.note(
                "warning", f"{name} is not running, so it cannot log out", [":AcpRestart starts it"]
            )
            return
        if self._logins.under_way(connection):
            chat.tell.note("warning", f"a login to {name} is under way", [":AcpCancel ends it"])
            return
        if connection.info is None or not connection.info.can_logout:
            chat.tell.note("warning", f"{name} offers no logout.", ["log out with the agent's own program"])
            return
        if not await self._sure(chat):
            return
        try:
            agent = await connection.ready()
            await agent.logout()
        except AgentError as error:
            said = self._secrets.mask(error.failure.message)
            chat.tell.note("error", f"not logged out: {said}", [error.failure.remedy or ":AcpTrace"])
            return
        for each in self._registry.sharing(connection):
            each.wants_login = True
            each.push()
        lines = [f"What its sessions still do, {name} decides.", ":AcpLogin logs in again"]
        chat.tell.note("info", f"logged out of {name}", lines)

    async def _sure(self, chat: Chat) -> bool:
        question = Permission(
            "",
            [
                PermissionOption("out", "Log out", "allow_once"),
                PermissionOption("stay", "Stay logged in", "reject_once"),
            ],
            title=f"log out of {chat.session.agent}",
            subject=LoginSubject("logout"),
            asked_by="client",
        )
        return await self._questions.ask(chat.session, question) == "out"
