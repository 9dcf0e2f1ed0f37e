"""The session and its timeline: the one model (design.md section 3 rule 5, spec/mapping.md).

All three protocols are translated into these; nothing above ``protocol`` sees the wire. Entities are
changed by the reducer alone. Everybody else reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from .agent import AgentInfo
from .asked import LoginSubject, Permission
from .content import Block, Diff, Location, ToolContent
from .options import Command, Option
from .terminals import Terminal

Role: TypeAlias = Literal["user", "agent", "thought"]
Origin: TypeAlias = Literal["local", "live", "replay"]
SessionState: TypeAlias = Literal["starting", "idle", "running", "requires_action", "busy", "closed", "lost"]
TurnState: TypeAlias = Literal[
    "queued", "sent", "accepted", "running", "waiting", "done", "failed", "cancelled"
]
LocalMark: TypeAlias = Literal["none", "cancelled", "rejected", "granted"]


class Message(Struct):
    """A message of the user, the agent, or a thought. Its key in the session is ``(role, id)``."""

    role: Role
    id: str
    blocks: list[Block] = []
    origin: Origin = "live"
    meta: dict[str, Any] = {}
    started: float = 0.0  # seconds, the store's clock
    ended: float | None = None  # set when another timeline item begins, or the turn ends

    @property
    def text(self) -> str:
        """The text of all its blocks."""
        return "".join(str(block.text) for block in self.blocks if block.text is not None)


class ToolCall(Struct):
    """A tool call: one row of the transcript, at the place where it was first named."""

    id: str
    title: str = ""
    name: str | None = None
    kind: str = "other"
    kind_raw: str | None = None  # what the agent said, if it was no known kind
    status: str = "pending"  # pending, in_progress, paused, completed, failed, cancelled
    status_raw: str | None = None
    content: list[ToolContent] = []
    locations: list[Location] = []
    raw_input: Any = None
    raw_output: Any = None
    can_cancel: bool = False
    side: Literal["agent", "client"] = "agent"
    local: LocalMark = "none"
    granted_always: str | None = None  # name of the "always" option the user chose, for this call
    unanswered: bool = False  # the turn ended in an error or was lost before a final status came
    permissions: list[Permission] = []  # in order of asking, all states
    proposed: list[Diff] = []  # the changes the user was last asked about
    terminals: list[Terminal] = []  # those of the content, else those told of apart
    told_terminals: list[str] = []  # ids the agent told of apart from the content
    meta: dict[str, Any] = {}
    started: float = 0.0
    ended: float | None = None

    @property
    def open_permissions(self) -> list[Permission]:
        return [p for p in self.permissions if p.state == "open"]

    @property
    def is_login(self) -> bool:
        """Whether it is the row of a login or logout."""
        return bool(self.permissions) and isinstance(self.permissions[-1].subject, LoginSubject)

    @property
    def final(self) -> bool:
        """True when the row has come to rest: by the agent's status, or by our own mark."""
        return (
            self.status in ("completed", "failed", "cancelled")
            or self.local in ("cancelled", "rejected")
            or self.unanswered
        )


class PlanEntry(Struct, frozen=True):
    """One line of a plan. ``priority``: high, medium, low; all three are the agent's words."""

    content: str
    priority: str = "medium"
    status: str = "pending"  # pending, in_progress, completed


class Plan(Struct):
    """A plan; v1 has one, ``default``. ``entries`` are replaced as a whole."""

    id: str
    type: str = "items"
    entries: list[PlanEntry] = []
    text: str | None = None
    uri: str | None = None
    raw: Any = None
    turn: int = 0  # number of the turn that last set it; 0: before the first


class Compaction(Struct):
    """The agent makes room in its context. ``status``: in_progress, completed, failed, cancelled or its own.

    ``local`` is our mark, until the agent says more: the turn ended, or the connection, before this did.
    """

    id: str
    status: str = "in_progress"
    summary: list[Block] = []
    error: str | None = None
    meta: dict[str, Any] = {}
    local: Literal["none", "cancelled", "unanswered"] = "none"


class Failure(Struct, frozen=True):
    """Why something failed.

    ``kind``: auth, not_found, cancelled (the user wanted it), unsupported, invalid, generic, transport, or
    slow (nothing has failed yet).
    """

    message: str
    code: int | None = None
    data: Any = None
    kind: str = "generic"
    remedy: str | None = None  # a command to type, or a sentence; one line
    unsent: bool = False  # the agent did not take the prompt: its text is the user's again

    @property
    def ends_all(self) -> bool:
        """Whether a request failed because of the agent as a whole: nothing else will work either.

        A cancelled request has the agent's code; without one the agent was stopped by the user.
        """
        return self.kind in ("auth", "transport") or (self.kind == "cancelled" and self.code is None)


class Turn(Struct):
    """What follows one prompt, until the agent says it is over.

    ``stop`` is ACP's stop reason, ``error``, ``lost``, the agent's own word, or None while it runs and
    when the agent gave none (``state`` tells the two apart).
    """

    n: int
    prompt: list[Block] = []
    message_id: str | None = None
    state: TurnState = "sent"
    stop: str | None = None
    error: Failure | None = None
    confirmed: bool = True
    cancelling: bool = False  # we sent session/cancel
    rejected: bool = False  # the user rejected something during this turn
    started: float = 0.0
    ended: float | None = None
    written: dict[str, Written] = {}  # by real path, in the order of the first write

    @property
    def outcome(self) -> str | None:
        """``stop`` as the user knows it: a turn they cancelled was cancelled, also where the agent ends it as
        any other, gives no reason, or fails at what it was stopped in (V1-83).
        """
        error = self.error
        aborted = self.stop == "error" and error is not None and error.kind == "generic" and not error.unsent
        return "cancelled" if self.cancelling and (aborted or self.stop in ("end_turn", None)) else self.stop


class Written(Struct, frozen=True):
    """What became of a file during the turn by writes of ours; ``names``: what the agent may call it."""

    diff: Diff
    names: frozenset[str]


class TurnEnd(Struct):
    """The timeline item of a turn's end: the line that says how it went."""

    turn: Turn


class Note(Struct):
    """A line in the timeline that is not part of the conversation: of ours, or a notice of the agent.

    ``severity_raw``: what the agent said, if it was no known severity.
    """

    id: str
    severity: Literal["info", "warning", "error"]
    title: str
    lines: list[str] = []
    by: Literal["client", "agent"] = "client"
    severity_raw: str | None = None
    beside: bool = False  # about what comes before a conversation: a login


class Cost(Struct, frozen=True):
    """``currency`` is a code of ISO 4217, as the agent says it."""

    amount: float
    currency: str


class Usage(Struct, frozen=True):
    """Tokens in the context and its size; ``cost`` is cumulative for the session."""

    used: int
    size: int
    cost: Cost | None = None


Item: TypeAlias = Message | ToolCall | Plan | Compaction | TurnEnd | Note


class Echo(Struct):
    """What the agent may repeat of the running turn's prompt, so that it is not shown twice.

    v1 compares text as it accumulates (V1-75); v2 knows the message by its id, and holds what comes
    before the prompt's response names it (V2-51).
    """

    message: Message  # our copy, already in the timeline
    text: str  # the prompt's text blocks, without the blanks around them
    by_id: bool = False
    at: int = 0  # characters of ``text`` seen so far
    done: bool = False  # the whole text was seen
    place: int = 0  # number of timeline items when the last piece came: a larger one ends the run
    held: list[Any] = []  # message events not shown until it is clear whose they are


class Session(Struct, eq=False):
    """One conversation. ``id`` is ours and never changes; ``remote_id`` is the agent's, opaque."""

    id: str
    agent: str  # the name in the settings
    cwd: str
    roots: Sequence[str] = ()  # [cwd, ...additional directories], absolute
    remote_id: str | None = None
    title: str | None = None
    updated_at: str | None = None
    meta: dict[str, Any] = {}
    state: SessionState = "starting"
    background: list[Any] | None = None
    items: list[Item] = []
    messages: dict[tuple[str, str], Message] = {}
    tool_calls: dict[str, ToolCall] = {}
    plans: dict[str, Plan] = {}
    compactions: dict[str, Compaction] = {}
    permissions: dict[str, Permission] = {}
    terminals: dict[str, Terminal] = {}
    options: list[Option] = []
    commands: list[Command] = []
    usage: Usage | None = None
    turns: list[Turn] = []
    replaying: bool = False
    info: AgentInfo | None = None
    arrival: int = 0  # number of the last event applied
    # Message that still takes chunks without an id (V1-91): (role, id) or None.
    open_message: tuple[Role, str] | None = None
    echo: Echo | None = None  # set while a turn with a prompt runs
    waits: bool = False  # an earlier turn was left with questions: a prompt without blocks asks them

    @property
    def turn(self) -> Turn | None:
        """The turn that runs, or None."""
        last = self.turns[-1] if self.turns else None
        return last if last is not None and last.ended is None else None

    @property
    def open_permissions(self) -> list[Permission]:
        return [p for p in self.permissions.values() if p.state == "open"]

    @property
    def blank(self) -> bool:
        """Whether nothing stands in it yet, but perhaps a login that had to come first."""
        return all(
            item.is_login if isinstance(item, ToolCall) else isinstance(item, Note) and item.beside
            for item in self.items
        )

    def option(self, category: str) -> Option | None:
        """The first option of a category (``mode``, ``model``), or None."""
        return next((o for o in self.options if o.category == category), None)
