"""The events a protocol adapter, a service or a chat may emit (spec/mapping.md, "Internal events").

Three-state fields: ``UNSET`` leaves the value, ``None`` resets it to its default, anything else
replaces it. Each adapter applies its protocol's null rule before it emits (v1: null means UNSET).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from .agent import AgentInfo
from .asked import Permission
from .content import Block, Diff, Location, ToolContent
from .elicitation import Content, Elicitation
from .entities import Failure, Note, Origin, Plan, Role, SessionState, Usage
from .options import Command, Option
from .terminals import Exit, Owner


class SessionOpened(Struct, frozen=True):
    """The agent has created, loaded or resumed the session. ``roots`` empty: they stay as they are.

    ``waits``: its last turn was left with questions; a prompt without blocks goes on with it.
    """

    remote_id: str
    info: AgentInfo
    roots: Sequence[str] = ()
    waits: bool = False


class ReplayStarted(Struct, frozen=True):
    """The agent begins to repeat an old session: what comes is no news."""


class ReplayEnded(Struct, frozen=True):
    """What comes from now on is new."""


class MessageAppend(Struct, frozen=True):
    """Append a block to a message. ``id`` None: the reducer infers the boundary (V1-90, V1-91).

    ``meta`` is added to what the message has; the newest value of a key counts (V1-209).
    """

    role: Role
    id: str | None
    block: Block
    origin: Origin = "live"
    meta: dict[str, Any] | None = None


class MessageSet(Struct, frozen=True):
    """Replace a message's blocks (UNSET leaves, None empties); creates it when unknown. v2 and AAP."""

    role: Role
    id: str
    blocks: Sequence[Block] | UnsetType | None = UNSET
    meta: dict[str, Any] | UnsetType | None = UNSET
    origin: Origin = "live"


class ToolPatch(Struct, frozen=True):
    """Create or patch a tool call. ``content`` and ``locations`` replace the whole list."""

    id: str
    title: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    kind: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET
    content: Sequence[ToolContent] | UnsetType | None = UNSET
    locations: Sequence[Location] | UnsetType | None = UNSET
    raw_input: Any = UNSET
    raw_output: Any = UNSET
    can_cancel: bool | UnsetType | None = UNSET
    meta: dict[str, Any] | UnsetType | None = UNSET


class OverwriteFound(Struct, frozen=True):
    """A tool call writes ``path`` anew, and there is a file; ``old_text`` None: it cannot be shown (C19)."""

    id: str
    path: str
    old_text: str | None
    replaces: Literal["file", "edits"] = "file"


class FileWritten(Struct, frozen=True):
    """A file was written for the agent; ``names``: what the agent may call it. Told when the turn ends."""

    diff: Diff
    names: Sequence[str]


class ToolAppend(Struct, frozen=True):
    """Append one content item to a tool call (v2)."""

    id: str
    content: ToolContent


class TerminalPatch(Struct, frozen=True):
    """Create or patch a terminal. ``call``: a tool call whose content need not name it, and shows it.

    ``stopped``: the agent has asked for its end. ``owner`` counts when it is created. ``size``: columns and
    rows.
    """

    id: str
    owner: Owner = "client"
    command: str | UnsetType | None = UNSET
    cwd: str | UnsetType | None = UNSET
    exit: Exit | UnsetType | None = UNSET
    size: tuple[int, int] | UnsetType | None = UNSET
    can_cancel: bool | UnsetType | None = UNSET
    stopped: bool | UnsetType = UNSET
    released: bool | UnsetType = UNSET
    call: str | None = None
    meta: dict[str, Any] | UnsetType | None = UNSET


class TerminalSet(Struct, frozen=True):
    """What a terminal shows, from its beginning (v2)."""

    id: str
    data: bytes


class TerminalBytes(Struct, frozen=True):
    """What a command wrote, after what it wrote before."""

    id: str
    data: bytes


class PlanSet(Struct, frozen=True):
    """A plan is shown, instead of the one with its id."""

    plan: Plan


class PlanRemoved(Struct, frozen=True):
    """A plan is not valid any more."""

    id: str


class StateSet(Struct, frozen=True):
    """The session's state; ``background``: what the agent does beside a turn (v2), unset: as before."""

    state: SessionState
    background: list[Any] | UnsetType | None = UNSET


class TurnStarted(Struct, frozen=True):
    """The user's prompt goes out (or, without blocks, the agent works by itself, v2).

    ``sent``: what the agent gets, where that is not what is shown: it may send it back as an echo.
    """

    prompt: Sequence[Block] = ()
    sent: Sequence[Block] = ()


class TurnSteered(Struct, frozen=True):
    """The agent has taken one more prompt of the user into the turn that runs. ``sent`` as in TurnStarted."""

    prompt: Sequence[Block]
    sent: Sequence[Block] = ()


class TurnAccepted(Struct, frozen=True):
    """The agent has taken the prompt. ``message_id``: the id it gave the user's message (v2)."""

    message_id: str | None = None


class TurnCancelling(Struct, frozen=True):
    """The user cancelled: unfinished rows are marked at once, questions are answered by the service."""


class TurnEnded(Struct, frozen=True):
    """The turn is over. ``stop`` None: the agent gave no reason. ``error`` for stop ``error``/``lost``."""

    stop: str | None
    error: Failure | None = None
    confirmed: bool = True


class OptionsSet(Struct, frozen=True):
    """All options of the session; others it had are gone."""

    options: Sequence[Option]


class OptionValue(Struct, frozen=True):
    """One option has a new value (v1 ``current_mode_update``)."""

    category: str
    value: str


class CommandsSet(Struct, frozen=True):
    """All commands of the agent; others it had are gone."""

    commands: Sequence[Command]


class UsageSet(Struct, frozen=True):
    """``keep_cost``: a usage without cost keeps the last one (V1-158)."""

    usage: Usage
    keep_cost: bool = True


class InfoPatch(Struct, frozen=True):
    """What the agent says of the session; unset: as before, None: there is none."""

    title: str | UnsetType | None = UNSET
    updated_at: str | UnsetType | None = UNSET
    meta: dict[str, Any] | UnsetType | None = UNSET


class NoteShown(Struct, frozen=True):
    """A line in the timeline: a notice of the agent, or an error of ours."""

    note: Note


class CompactionPatch(Struct, frozen=True):
    """What changed of a compaction; one with a new id begins. Unset: as before."""

    id: str
    status: str | UnsetType = UNSET
    summary: Sequence[Block] | UnsetType | None = UNSET
    error: str | UnsetType | None = UNSET
    meta: dict[str, Any] | UnsetType | None = UNSET


class CompactionAppend(Struct, frozen=True):
    """A compaction's summary goes on."""

    id: str
    block: Block


class PermissionOpened(Struct, frozen=True):
    """A question was put. Its tool call exists already, or is created by this event."""

    permission: Permission


class PermissionClosed(Struct, frozen=True):
    """A question has its answer. ``option`` None: cancelled or withdrawn, by ``outcome``.

    ``content``: what was filled in, without what looks secret.
    """

    id: str
    outcome: Literal["selected", "cancelled", "withdrawn"]
    option: str | None
    by: Literal["user", "rule", "cancel", "agent", "close"]
    content: Content | None = None


class ElicitationFinished(Struct, frozen=True):
    """The agent says that the user is done with a page they were sent to."""

    elicitation: Elicitation


class Unknown(Struct, frozen=True):
    """Something this version does not know; it is in the trace."""

    what: str
    raw: Any = None


Event: TypeAlias = (
    SessionOpened
    | ReplayStarted
    | ReplayEnded
    | MessageAppend
    | MessageSet
    | ToolPatch
    | FileWritten
    | ToolAppend
    | OverwriteFound
    | TerminalPatch
    | TerminalSet
    | TerminalBytes
    | PlanSet
    | PlanRemoved
    | StateSet
    | TurnStarted
    | TurnSteered
    | TurnAccepted
    | TurnCancelling
    | TurnEnded
    | OptionsSet
    | OptionValue
    | CommandsSet
    | UsageSet
    | InfoPatch
    | NoteShown
    | CompactionPatch
    | CompactionAppend
    | PermissionOpened
    | PermissionClosed
    | ElicitationFinished
    | Unknown
)
