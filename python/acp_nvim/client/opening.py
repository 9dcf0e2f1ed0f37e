"""How a chat gets its session: a new one, the one it had, or one the agent knows from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from acp_nvim.session.entities import Failure, Message, Session
from acp_nvim.session.events import InfoPatch
from acp_nvim.session.ports import Agent, AgentError
from acp_nvim.view.look import plural

from .preset import choose_again, preset, tell_mode

if TYPE_CHECKING:
    from .chat import Chat

How = Literal["new", "loaded", "resumed", "forked"]


@dataclass(frozen=True, slots=True)
class Old:
    """A session of the agent's that a chat is to show, or (``fork``) to go on from.

    ``directories``: those it had besides its folder, as the agent says.
    """

    id: str
    fork: bool = False
    directories: Sequence[str] = ()


async def open_session(chat: Chat, agent: Agent) -> How:
    """Give the chat its session, and note what happened to an old one. Raises AgentError."""
    how: How
    if chat.old is not None:
        how = await _take_up(chat, agent, chat.old)
        _tell_directories(chat, chat.old)
        chat.old, chat.continues = None, True
        tell_mode(chat)
        if how != "forked":
            chat.wiring.earlier.note(chat)
        return how
    how = "resumed" if await _resume(chat, agent) else "new"
    if how == "new":
        await agent.new_session(chat.session)
        await preset(chat, agent)
    await choose_again(chat, agent)
    return how


async def _take_up(chat: Chat, agent: Agent, old: Old) -> How:
    name, session = chat.session.agent, chat.session
    if old.fork:
        await agent.fork_session(session, old.id)
        chat.tell.note("info", f"forked: {name} remembers what was said before. It is not shown here.")
        return "forked"
    again = not session.blank  # of an attempt that failed in the middle
    replayed = await agent.load_session(session, old.id)
    if replayed is None:
        chat.tell.note("info", f"resumed: {name} does not repeat what was said before")
        return "resumed"
    if not replayed:
        chat.tell.note("warning", f"{name} restored nothing: it may not remember this session")
    elif again:
        chat.tell.note("warning", "loaded; what stands above was cut short when it was loaded before")
    else:
        chat.tell.note("info", f"loaded {plural(_messages(session), 'message')}")
    return "loaded"


#: What agents say that have no code for it.
_GONE = re.compile(
    r"\b(session|conversation|thread|rollout)s?\b.{0,80}\b(not found|not exist|unknown|expired)\b"
    r"|\b(no such|unknown|invalid) (session|conversation|thread|rollout)\b"
    r"|\bno (previous |saved )?(session|conversation|thread|rollout)s? (found|with|for)\b",
    re.IGNORECASE | re.DOTALL,
)


def gone(failure: Failure) -> bool:
    """Whether an agent that was to load a session says that it does not have it (V1-58, and by words)."""
    if failure.ends_all or failure.kind in ("cancelled", "unsupported"):
        return False
    return failure.kind == "not_found" or _GONE.search(failure.message[:400]) is not None


def forget(chat: Chat, old: Old, failure: Failure) -> Failure:
    """The session is not there any more: it is not offered again, and the chat may begin a new one."""
    name = chat.session.agent
    chat.old = None
    chat.wiring.store.apply(chat.session, InfoPatch(title=None))
    chat.wiring.earlier.gone(name, old.id)
    return Failure(
        f"{name} does not have this session any more; it is off the list",
        code=failure.code,
        kind="not_found",
        data=[failure.message],
        remedy=":AcpRestart begins a new session here; :AcpSessions lists the others",
    )


def _messages(session: Session) -> int:
    return sum(isinstance(item, Message) and item.role != "thought" for item in session.items)


def _tell_directories(chat: Chat, old: Old) -> None:
    """What the user did not name is not opened to an agent because it says so: the user is told."""
    missing = [folder for folder in old.directories if folder not in chat.session.roots]
    if missing:
        chat.tell.note(
            "warning",
            "this session had more folders, which it does not have now:",
            [*missing, f"set agents.{chat.session.agent}.directories, then :AcpRestart"],
        )


async def _resume(chat: Chat, agent: Agent) -> bool:
    """Take up the session the chat had, if something was said in it; else a new one has to be made.

    An agent that refuses has forgotten it: that is told, and is no failure.
    """
    name, old, info = chat.session.agent, chat.session.remote_id, agent.info
    if old is None or info is None or not (chat.session.turns or chat.tell.reopened or chat.continues):
        return False
    if not (info.can_resume or info.can_load):
        chat.tell.note("warning", f"{name} cannot resume: it does not remember this chat")
        return False
    if chat.session.blank:
        # What a load replays is left out when something is shown already: it stands above.
        chat.tell.note("info", f"{name} was started again")
    try:
        replayed = await agent.resume_session(chat.session, old)
    except AgentError as error:
        if error.failure.ends_all or error.failure.kind == "cancelled":
            raise
        chat.tell.note("warning", f"{name} does not remember this chat: {error.failure.message}")
        return False
    if replayed == 0:
        chat.tell.note("warning", f"{name} restored nothing: it may not remember this chat")
    else:
        chat.tell.note("info", f"resumed: {name} remembers this chat")
    return True
