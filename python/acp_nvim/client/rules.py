"""The user's rules about permissions: from the settings, and each decision explained in the trace."""

from __future__ import annotations

import msgspec

from acp_nvim.service.rules import Decision, Rule, Rules
from acp_nvim.session.asked import Permission
from acp_nvim.session.entities import Session

from .payloads import RuleSetting
from .registry import Registry
from .settings import Settings

_SETTINGS = list[RuleSetting]


class PermissionRules:
    """What QuestionService asks before it shows a question."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings
        self._rules = Rules(self._now, settings.protected)

    def _now(self) -> list[Rule]:
        permission = self._settings.now.get("permission")
        rules = permission.get("rules") if isinstance(permission, dict) else None
        if not rules:
            return []
        return [
            Rule(
                each.action,
                each.words,
                kinds=tuple(each.kind),
                paths=tuple(each.path),
                command=tuple(each.command),
                agent=each.agent,
            )
            for each in msgspec.convert(rules, _SETTINGS)
            if not each.off
        ]

    async def decide(self, session: Session, permission: Permission) -> Decision | None:
        """What the rules say to a question; the trace tells why (design.md section 4)."""
        decision = await self._rules.decide(session, permission)
        chat = self._registry.of(session)
        if decision is not None and chat is not None:
            said = {None: "asked", 0: "cancelled"}.get(decision.index, "answered by rule")
            why = "" if decision.index is not None or decision.why == "ask" else f": {decision.why}"
            chat.connection.trace.note(f"permission {permission.id} {said} ({decision.rule.words}){why}")
        return decision
