"""A value of an option: found by what Lua knows of it, and asked of the agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from acp_nvim.session.entities import Failure, Session
from acp_nvim.session.options import Option
from acp_nvim.session.ports import Agent, AgentError
from acp_nvim.text.sanitise import one_line
from acp_nvim.view.options import label, typed

if TYPE_CHECKING:
    from .chat import Chat

#: Cells of what an agent says of a failure.
WORDS_CELLS = 400


def find(options: Sequence[Option], ident: str) -> Option | None:
    """The option that Lua knows by this id."""
    return next((o for o in options if typed(o.id) == ident and o.type != "unknown"), None)


def offered(option: Option, value: str | bool) -> str | bool | None:
    """The agent's own form of a value that Lua knows; None: the option does not have it."""
    if option.type == "boolean" or isinstance(value, bool):
        return value if option.type == "boolean" and isinstance(value, bool) else None
    if option.type in ("text", "secret"):
        return value
    return next((choice.value for choice in option.choices if typed(choice.value) == value), None)


async def ask(agent: Agent, session: Session, option: Option, value: str | bool) -> Failure | None:
    """Ask the agent for a value; returns why it does not have it afterwards, None when it does.

    An agent may agree and change nothing: its own list says what is true (V1-153).
    """
    try:
        await agent.set_option(session, option, value)
    except AgentError as error:
        return error.failure
    now = next((each for each in session.options if each.id == option.id), None)
    if now is None or now.value == value or now.type == "secret":  # nobody repeats a secret
        return None
    return Failure(f"{session.agent} left it at {label(now, now.value)}")


def said(failure: Failure) -> str:
    """A failure in one line."""
    words = one_line(failure.message, WORDS_CELLS)
    return f"{words}; {failure.remedy}" if failure.remedy else words


def remember(chat: Chat) -> None:
    """Lua keeps what was chosen in a chat, for a host that takes the place of this one; but no secrets."""
    secret = {option.id for option in chat.session.options if option.type == "secret"}
    chosen = {**chat.preset, **chat.chosen}
    kept = {ident: value for ident, value in chosen.items() if ident not in secret}
    chat.wiring.announcer.call(chat, "acp.options", "chosen", kept)
