"""What one life of a connection runs over: a process of ours (local.py), or a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import Agent

#: Told once, when the agent can be used.
Ready: TypeAlias = Callable[[Agent, AgentInfo], None]


class Life(Protocol):
    """From the start to the end of one connection; the next start has a new one."""

    #: Names of the variables of the environment that have a value where the agent runs.
    variables: frozenset[str]

    async def run(self, ready: Ready) -> Failure:
        """Start, call ``ready``, and stay until it is over; returns why. Raises AgentError likewise."""

    async def stop(self) -> None:
        """End it from our side: ``run`` returns soon."""

    async def end(self) -> None:
        """After ``run``: leave nothing behind. Who works with the agent has been told of the end already."""

    def waits(self) -> str:
        """Before it is ready: what it waits for, as a sentence without its end."""

    def said(self, lines: int) -> list[str]:
        """The last lines the agent said besides its protocol, without secrets."""

    def doubts(self) -> list[str]:
        """Before it is ready: what may be wrong with the settings, by what came so far."""
