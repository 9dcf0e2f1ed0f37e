"""The entities of the one session model (design.md section 3 rule 5, spec/mapping.md).

All three protocols are translated into these; nothing above ``protocol`` sees the wire. Entities are
changed by the reducer alone. Everybody else reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .elicitation import Elicitation
from .terminals import Terminal

Role: TypeAlias = Literal["user", "agent", "thought"]
Origin: TypeAlias = Literal["local", "live", "replay"]
SessionState: TypeAlias = Literal["starting", "idle", "running", "requires_action", "busy", "closed", "lost"]
TurnState: TypeAlias = Literal[
    "queued", "sent", "accepted", "running", "waiting", "done", "failed", "cancelled"
]
LocalMark: TypeAlias = Literal["none", "cancelled", "rejected", "granted"]
PermissionState: TypeAlias = Literal["open", "answered", "withdrawn"]


class Text:
    """Text that only grows, read piece by piece without copying the whole again.

    A reader keeps the index it has read up to; ``since`` gives the pieces that are new. Chunks that
    came since the last read are joined into one piece, so 100,000 chunks cost a piece per frame.
    """

    __slots__ = ("_settled", "_tail", "length")

    def __init__(self, text: str = "") -> None:
        self._settled: list[str] = []
        self._tail: list[str] = []
        self.length = 0
        if text:
            self.append(text)

    def append(self, text: str) -> None:
        """Add text at the end."""
        self._tail.append(text)
        self.length += len(text)

    def since(self, index: int) -> tuple[str, int]:
        """Return what came after ``index`` (a number an earlier call gave; 0 = all) and the new index."""
        if self._tail:
            self._settled.append("".join(self._tail))
            self._tail.clear()
        return "".join(self._settled[index:]), len(self._settled)

    def __str__(self) -> str:
        return self.since(0)[0]

    def __repr__(self) -> str:
        return f"Text({str(self)!r})"


@dataclass(slots=True)
class Block:
    """A content block. ``type`` is text, image, audio, link, resource or unknown.

    ``text`` holds the text of a text block or of an embedded text resource; ``data`` is base64;
    ``size`` is in bytes; ``raw`` keeps what an unknown block said.
    """

    type: str
    text: Text | None = None
    data: str | None = None
    mime: str | None = None
    uri: str | None = None
    name: str | None = None
    title: str | None = None
    description: str | None = None
    size: int | None = None
    audience: tuple[str, ...] | None = None
    raw: Any = None

    @classmethod
    def of_text(cls, text: str) -> Block:
        return cls("text", text=Text(text))


@dataclass(slots=True)
class Message:
    """A message of the user, the agent, or a thought. Its key in the session is ``(role, id)``."""

    role: Role
    id: str
    blocks: list[Block] = field(default_factory=list)
    origin: Origin = "live"
    meta: dict[str, Any] = field(default_factory=dict)
    started: float = 0.0  # seconds, the store's clock
    ended: float | None = None  # set when another timeline item begins, or the turn ends

    @property
    def text(self) -> str:
        return "".join(str(block.text) for block in self.blocks if block.text is not None)


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file: an absolute path; ``line`` counts from 1, None = no line."""

    path: str
    line: int | None = None
    end_line: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a diff. ``op`` is add, delete, modify, move or copy (or the agent's own word)."""

    op: str
    path: str
    old_path: str | None = None
    file_type: str | None = None
    mime: str | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """A proposed or finished change. v1 gives both texts (whole file or fragment), v2 a patch.

    ``replaces``: what it overwrites without a word of the agent: a file, or the user's unsaved edits of one.
    ``old_text`` is then what we have found there, None if that cannot be shown.
    """

    changes: tuple[Change, ...]
    old_text: str | None = None
    new_text: str | None = None
    patch_format: str | None = None
    patch: str | None = None
    replaces: Literal["", "file", "edits"] = ""

    @property
    def unsaid(self) -> str | None:
        """The path of a file that is written anew without an old text: it may exist all the same (C19)."""
        if self.replaces or self.old_text or self.new_text is None or len(self.changes) != 1:
            return None
        return self.changes[0].path if self.changes[0].op in ("add", "modify") else None


@dataclass(frozen=True, slots=True)
class TerminalRef:
    """The place of a terminal in a tool call."""

    terminal_id: str


@dataclass(frozen=True, slots=True)
class UnknownContent:
    """Content of a kind this version does not know; kept and shown generically."""

    raw: Any


ToolContent: TypeAlias = Block | Diff | TerminalRef | UnknownContent


@dataclass(slots=True)
class ToolCall:
    """A tool call: one row of the transcript, at the place where it was first named."""

    id: str
    title: str = ""
    name: str | None = None
    kind: str = "other"
    kind_raw: str | None = None  # what the agent said, if it was no known kind
    status: str = "pending"  # pending, in_progress, paused, completed, failed, cancelled
    status_raw: str | None = None
    content: list[ToolContent] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    raw_input: Any = None
    raw_output: Any = None
    can_cancel: bool = False
    side: Literal["agent", "client"] = "agent"
    local: LocalMark = "none"
    granted_always: str | None = None  # name of the "always" option the user chose, for this call
    unanswered: bool = False  # the turn ended in an error or was lost before a final status came
    permissions: list[Permission] = field(default_factory=list)  # in order of asking, all states
    proposed: list[Diff] = field(default_factory=list)  # the changes the user was last asked about
    terminals: list[Terminal] = field(default_factory=list)  # those of the content, else those told of apart
    told_terminals: list[str] = field(default_factory=list)  # ids the agent told of apart from the content
    meta: dict[str, Any] = field(default_factory=dict)
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


@dataclass(frozen=True, slots=True)
class PlanEntry:
    content: str
    priority: str = "medium"
    status: str = "pending"  # pending, in_progress, completed


@dataclass(slots=True)
class Plan:
    """A plan; v1 has one, ``default``. ``entries`` are replaced as a whole."""

    id: str
    type: str = "items"
    entries: list[PlanEntry] = field(default_factory=list)
    text: str | None = None
    uri: str | None = None
    raw: Any = None
    turn: int = 0  # number of the turn that last set it; 0: before the first


@dataclass(slots=True)
class Compaction:
    """The agent makes room in its context. ``status``: in_progress, completed, failed, cancelled or its own.

    ``local`` is our mark, until the agent says more: the turn ended, or the connection, before this did.
    """

    id: str
    status: str = "in_progress"
    summary: list[Block] = field(default_factory=list)
    error: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    local: Literal["none", "cancelled", "unanswered"] = "none"


@dataclass(frozen=True, slots=True)
class Failure:
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


@dataclass(slots=True)
class Turn:
    """What follows one prompt, until the agent says it is over.

    ``stop`` is ACP's stop reason, ``error``, ``lost``, the agent's own word, or None while it runs and
    when the agent gave none (``state`` tells the two apart).
    """

    n: int
    prompt: list[Block] = field(default_factory=list)
    message_id: str | None = None
    state: TurnState = "sent"
    stop: str | None = None
    error: Failure | None = None
    confirmed: bool = True
    cancelling: bool = False  # we sent session/cancel
    rejected: bool = False  # the user rejected something during this turn
    started: float = 0.0
    ended: float | None = None


@dataclass(slots=True)
class TurnEnd:
    """The timeline item of a turn's end: the line that says how it went."""

    turn: Turn


@dataclass(slots=True)
class Note:
    """A line in the timeline that is not part of the conversation: of ours, or a notice of the agent.

    ``severity_raw``: what the agent said, if it was no known severity.
    """

    id: str
    severity: Literal["info", "warning", "error"]
    title: str
    lines: list[str] = field(default_factory=list)
    by: Literal["client", "agent"] = "client"
    severity_raw: str | None = None
    beside: bool = False  # about what comes before a conversation: a login


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """``kind``: allow_once, allow_always, reject_once, reject_always, or other; ``kind_raw`` as sent."""

    id: str
    name: str
    kind: str
    kind_raw: str = ""


@dataclass(frozen=True, slots=True)
class ToolSubject:
    """The question is about a tool call."""

    tool_call_id: str


@dataclass(frozen=True, slots=True)
class CommandSubject:
    """The question is about running a command. Both in full; ``cwd`` None = not said.

    Of a question of ours: ``real_cwd`` is the folder without links, ``why`` is outside (the folder) or other.
    """

    command: str
    cwd: str | None = None
    real_cwd: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class PathSubject:
    """Our question: the agent wants to touch a file that needs the user's word.

    ``op``: read or write; ``why``: outside, protected, modified (unsaved edits in the way) or other.
    ``diff``: from what the user has now to what the agent would write. With unsaved edits in the way, also
    ``base``: the text the agent has made its own from, and ``disk``: the file as it is; None: not known.
    """

    op: str
    path: str
    real_path: str
    why: str
    diff: Diff | None = None
    base: str | None = None
    disk: str | None = None

    @property
    def written(self) -> bool:
        """Whether the agent has written the file itself already: the question is about the buffer alone."""
        return self.disk is not None and self.diff is not None and self.disk == self.diff.new_text


@dataclass(frozen=True, slots=True)
class LoginWay:
    """One of the ways to log in. ``how``: what choosing it does, or why it is not ``usable``."""

    name: str
    description: str | None = None
    how: str = ""
    usable: bool = True


@dataclass(frozen=True, slots=True)
class LoginSubject:
    """Our question: how to log in to the agent, or (``op`` logout) whether to log out.

    ``said``: the agent's words. ``failed``: why the last attempt failed. The usable ``ways`` are the first
    options of the question, in the same order.
    """

    op: Literal["login", "logout"]
    ways: tuple[LoginWay, ...] = ()
    said: str | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class UnknownSubject:
    """The question is about something this version does not know; kept and shown generically."""

    kind: str
    raw: Any


Subject: TypeAlias = (
    UnknownSubject | ToolSubject | CommandSubject | PathSubject | LoginSubject | Elicitation | None
)


@dataclass(slots=True)
class Permission:
    """A question to the user, the agent's or ours. Answered once, in whatever way."""

    id: str  # ours, unique in this host
    options: list[PermissionOption]
    title: str | None = None  # the agent's words (v2), None: from the tool call
    description: str | None = None
    subject: Subject = None
    tool_call_id: str | None = None  # the row it stands in
    terminal_id: str | None = None  # the agent's, that it is about
    asked_by: Literal["agent", "client"] = "agent"
    state: PermissionState = "open"
    answer: str | None = None  # the option's id; None when open, cancelled or withdrawn
    by: str | None = None  # user, rule, cancel, agent, close
    opened: float = 0.0
    closed: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    name: str
    description: str | None = None
    group: str | None = None


@dataclass(slots=True)
class Option:
    """A setting of the session: a config option (``source`` config) or the modes of v1 (``mode``)."""

    id: str
    name: str
    type: Literal["select", "boolean", "text", "secret", "unknown"]
    value: str | bool | None = None
    choices: list[Choice] = field(default_factory=list)
    description: str | None = None
    category: str | None = None  # mode, model, model_config, thought_level, or the agent's own
    source: Literal["config", "mode", "model", "aap"] = "config"
    raw: Any = None

    @property
    def label(self) -> str:
        """The name of the current value, for people."""
        for choice in self.choices:
            if choice.value == self.value:
                return choice.name or choice.value
        return str(self.value) if self.value is not None else ""


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command of the agent; the name may contain blanks."""

    name: str
    description: str = ""
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    amount: float
    currency: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens in the context and its size; ``cost`` is cumulative for the session."""

    used: int
    size: int
    cost: Cost | None = None


@dataclass(frozen=True, slots=True)
class AuthVariable:
    """A variable of the environment in which an agent finds its credentials."""

    name: str
    label: str | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class AuthMethod:
    """A way to log in. ``args`` and ``env``: of a terminal method; ``variables`` and ``link`` of env_var."""

    id: str
    name: str
    type: str = "agent"  # agent, terminal, env_var, or unknown to us
    description: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    variables: tuple[AuthVariable, ...] = ()
    link: str | None = None

    @property
    def usable(self) -> bool:
        """Whether it can be used from here: its type is one we know."""
        return self.type in ("agent", "terminal", "env_var")


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """What the agent said of itself while connecting. ``protocol``: acp-v1, acp-v2 or aap.

    ``speaks``: that for people. ``states``: it tells the state of its sessions, else that follows from
    turns and questions. ``buffers``: it reads and writes files through us, unsaved edits included.
    """

    protocol: str
    speaks: str = ""
    states: bool = False
    buffers: bool = True
    name: str | None = None
    title: str | None = None
    version: str | None = None
    auth_methods: tuple[AuthMethod, ...] = ()
    can_load: bool = False
    can_resume: bool = False
    can_list: bool = False
    can_close: bool = False
    can_delete: bool = False
    can_logout: bool = False
    can_fork: bool = False
    image: bool = False
    audio: bool = False
    embedded_context: bool = False
    additional_directories: bool = False
    mcp_stdio: bool = True
    mcp_http: bool = False
    mcp_sse: bool = False
    raw: Any = None


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session an agent says it knows: its own id and title, an absolute folder, the time as it sent it."""

    id: str
    cwd: str
    title: str | None = None
    updated_at: str | None = None
    directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionList:
    """``cut``: why there are more than these; None: these are all."""

    sessions: tuple[SessionInfo, ...]
    cut: str | None = None


Item: TypeAlias = Message | ToolCall | Plan | Compaction | TurnEnd | Note


@dataclass(slots=True)
class Echo:
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
    held: list[Any] = field(default_factory=list)  # message events not shown until it is clear whose they are


@dataclass(slots=True, eq=False)
class Session:
    """One conversation. ``id`` is ours and never changes; ``remote_id`` is the agent's, opaque."""

    id: str
    agent: str  # the name in the settings
    cwd: str
    roots: Sequence[str] = ()  # [cwd, ...additional directories], absolute
    remote_id: str | None = None
    title: str | None = None
    updated_at: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    state: SessionState = "starting"
    background: list[Any] | None = None
    items: list[Item] = field(default_factory=list)
    messages: dict[tuple[str, str], Message] = field(default_factory=dict)
    tool_calls: dict[str, ToolCall] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    compactions: dict[str, Compaction] = field(default_factory=dict)
    permissions: dict[str, Permission] = field(default_factory=dict)
    terminals: dict[str, Terminal] = field(default_factory=dict)
    options: list[Option] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    usage: Usage | None = None
    turns: list[Turn] = field(default_factory=list)
    replaying: bool = False
    info: AgentInfo | None = None
    arrival: int = 0  # number of the last event applied
    # Message that still takes chunks without an id (V1-91): (role, id) or None.
    open_message: tuple[Role, str] | None = None
    echo: Echo | None = None  # set while a turn with a prompt runs

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
