"""The options of the settings (``agents.<name>.options``) and the user, set when a session begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from acp_nvim.session.entities import Session
from acp_nvim.session.options import Option
from acp_nvim.session.ports import Agent, AgentError
from acp_nvim.text.sanitise import one_line
from acp_nvim.view.options import label, typed

from .option_values import ask, remember, said

if TYPE_CHECKING:
    from .chat import Chat

#: Ids and values that are named when one is not offered.
MOST_NAMED = 20


async def preset(chat: Chat, agent: Agent) -> None:
    """Set what the settings want and the agent does not have yet; tell what it does not take, once a chat.

    A key is an option's id, else a category. The model comes first, as others depend on it, the rest in the
    agent's order. A session that is loaded keeps its own values: this is not called for it. What is set here
    is kept like a choice: an agent that is started again may have forgotten it, as a mode that asks.
    Raises AgentError when the connection is lost or the agent wants a login.
    """
    settings = chat.connection.config.options
    chat.preset.clear()
    values = settings if isinstance(settings, dict) else {}
    refused = await _set_all(chat, agent, values, chat.preset)
    if refused and refused != chat.refused:
        chat.refused = refused
        where = f"agents.{chat.session.agent}.options"
        chat.tell.note("warning", f"{chat.session.agent} did not take all of {where}:", refused)
    remember(chat)


def tell_mode(chat: Chat) -> None:
    """A session was loaded, with the mode it has now: say so if it is not the one of the settings.

    Some agents forget it, and go on in one that asks nothing.
    """
    settings = chat.connection.config.options
    mode = chat.session.option("mode")
    if mode is None or not isinstance(settings, dict):
        return
    wanted = _value(mode, settings.get(mode.id, settings.get("mode")))
    if wanted is not None and wanted != mode.value:
        title = f"this session is in the mode {label(mode, mode.value)}, not in that of your settings"
        chat.tell.note("warning", title, [f":AcpOptions {typed(mode.id)} {typed(str(wanted))} sets it"])


async def choose_again(chat: Chat, agent: Agent) -> None:
    """The agent was started again: set what it had by the settings and the user's choice in this chat, and
    does not have any more.

    Raises AgentError as ``preset`` does.
    """
    refused = await _set_all(chat, agent, {**chat.preset, **chat.chosen}, {})
    if refused:
        chat.tell.note("warning", f"{chat.session.agent} did not take again what you had chosen:", refused)


async def _set_all(
    chat: Chat, agent: Agent, values: Mapping[str, object], done: dict[str, str | bool]
) -> list[str]:
    """Returns what the agent did not take, each with the reason; ``done`` gets the rest, by option."""
    wanted, refused = dict(values), list[str]()
    while wanted:
        key = _next(chat.session, wanted)
        problem = await _set(chat, agent, key, wanted.pop(key), done)
        if problem is not None:
            refused.append(f"{one_line(str(key), 80)}: {problem}")
    return refused


def _next(session: Session, wanted: Iterable[str]) -> str:
    """Which of the keys is to be set now; those that no option has come last."""

    def rank(key: str) -> tuple[bool, bool, int]:
        option = _find(session, key)
        if option is None:
            return (True, True, 0)
        return (False, option.category != "model", session.options.index(option))

    return min(wanted, key=rank)


def _find(session: Session, key: str) -> Option | None:
    known = [option for option in session.options if option.type != "unknown"]
    found = next((option for option in known if option.id == key), None)
    return found or next((option for option in known if option.category == key), None)


async def _set(chat: Chat, agent: Agent, key: str, wanted: object, done: dict[str, str | bool]) -> str | None:
    """Returns why the agent has another value, if it has."""
    option = _find(chat.session, key)
    if option is None:
        return "it has no such option" + _there_are([each.id for each in chat.session.options])
    value = _value(option, wanted)
    if value is None:
        offers = ["true", "false"] if option.type == "boolean" else [c.value for c in option.choices]
        return f"{one_line(str(wanted), 80)} is not offered" + _there_are(offers)
    failure = await ask(agent, chat.session, option, value) if value != option.value else None
    if failure is None:
        done[option.id] = value
        return None
    if failure.ends_all:
        raise AgentError(failure)
    return said(failure)


def _value(option: Option, wanted: object) -> str | bool | None:
    """A value by its id, else by its name in whatever case."""
    if option.type == "boolean" or isinstance(wanted, bool):
        return wanted if option.type == "boolean" and isinstance(wanted, bool) else None
    text = str(wanted)
    if option.type in ("text", "secret"):
        return text
    exact = next((choice.value for choice in option.choices if choice.value == text), None)
    return exact or next((c.value for c in option.choices if c.name.lower() == text.lower()), None)


def _there_are(names: list[str]) -> str:
    if not names:
        return "; it offers none"
    more = f", and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"; there are: {', '.join(typed(name) for name in names[:MOST_NAMED])}{more}"
