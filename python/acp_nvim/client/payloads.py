"""What Lua tells the host, as types. A payload that does not fit is a bug of ours and is reported as one.

Lua's empty table may arrive as a list or a map, so optional containers accept both.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Nothing(msgspec.Struct):
    """A message that says no more than its name."""


class Hello(msgspec.Struct):
    """Sent once, right after the host was started. ``cache`` and ``state`` are Neovim's folders."""

    cache: str
    state: str
    settings: dict[str, Any] = msgspec.field(default_factory=dict)
    version: str = ""
    icons: Literal["unicode", "ascii"] = "unicode"
    seq: int = 0


class AgentConfig(msgspec.Struct):
    """One agent of the settings (design.md section 4). ``env`` values: text, or ``{cmd = {...}}``.

    Of the catalog: ``quirks``, ``note`` (what the user should know), the commands ``install`` and ``login``.
    """

    command: list[str] = msgspec.field(default_factory=list)
    env: dict[str, Any] | list[Any] = msgspec.field(default_factory=dict)
    protocol: str = "acp-v1"
    batches: bool = False
    mcp_servers: list[Any] | dict[str, Any] = msgspec.field(default_factory=list)
    directories: list[str] | dict[str, Any] = msgspec.field(default_factory=list)
    options: dict[str, Any] | list[Any] = msgspec.field(default_factory=dict)
    stall_s: float = 60.0
    quirks: dict[str, Any] | list[Any] = msgspec.field(default_factory=dict)
    note: str = ""
    install: str = ""
    login: str = ""
    # Of an agent that is reached over HTTP: where, which of the server's, the variable with the key, and the
    # names of the tools of the editor that it may have.
    url: str = ""
    agent: str = ""
    api_key_env: str = ""
    client_tools: list[str] | dict[str, Any] = msgspec.field(default_factory=list)


class Open(msgspec.Struct):
    """A chat begins; its buffers are there already. ``buf``: the transcript's; ``cwd``: absolute."""

    chat: int
    agent: str
    buf: int
    cwd: str
    config: AgentConfig = msgspec.field(default_factory=AgentConfig)
    demo: bool = False
    # The folder of the connection, if it is not the session's own.
    home: str | None = None
    # A session of the agent's to begin with; ``fork``: to go on from, in a new one.
    load: str | None = None
    fork: bool = False
    title: str | None = None
    directories: list[str] | dict[str, Any] = msgspec.field(default_factory=list)
    # After the host was lost: the agent's id of the chat's session, and the first free block id.
    session: str | None = None
    first_block: int = 1
    # And the options the user has chosen in it, by id.
    chosen: dict[str, str | bool] | list[Any] = msgspec.field(default_factory=dict)
    follow: bool = False


class ListSessions(msgspec.Struct):
    """``cwd`` None: of all folders. ``agent`` is connected if it is not (``home``, ``config``, ``demo``).

    ``only``: no other agent is asked. ``view`` and ``seq`` come back with the answers.
    """

    view: str
    seq: int
    cwd: str | None = None
    only: bool = False
    agent: str | None = None
    home: str = ""
    config: AgentConfig = msgspec.field(default_factory=AgentConfig)
    demo: bool = False


class EndSessions(msgspec.Struct):
    """The list ``view`` was closed: its answers are not wanted any more."""

    view: str


class DeleteSession(msgspec.Struct):
    """``home``: the folder of the connection that has listed it."""

    agent: str
    home: str
    id: str
    config: AgentConfig = msgspec.field(default_factory=AgentConfig)
    demo: bool = False


class ForgetSession(msgspec.Struct):
    """A session is not to be offered any more; the agent is not asked."""

    agent: str
    id: str


class Export(msgspec.Struct):
    """The chat is to be written to ``path``, absolute, as Markdown. ``id`` comes back with the answer."""

    chat: int
    id: int
    path: str


class Context(msgspec.Struct):
    """Lines of a file given with a prompt; ``first`` and ``last`` count from 1."""

    path: str
    text: str
    first: int | None = None
    last: int | None = None


class Spot(msgspec.Struct):
    """Where the user was last in the code: a buffer, and the lines selected there, by mark and by number.

    What ``@buffer``, ``@selection`` and ``@diagnostics`` mean; Lua makes and reads it (lua/acp/spot.lua).
    """

    buf: int
    first: int | None = None
    last: int | None = None
    mark: int | None = None


class Mentions(msgspec.Struct):
    """What stands in the prompt: what are its mentions? ``seq`` comes back with the answer."""

    chat: int
    seq: int
    text: str
    spot: Spot | None = None


class PasteImage(msgspec.Struct):
    """The user wants the picture of the clipboard in the prompt. ``id`` comes back with the answer."""

    chat: int
    id: int


class Send(msgspec.Struct):
    """A prompt is sent. ``seq`` counts the chat's sends from 1; ``now``: into the running turn,
    or instead of it.
    """

    chat: int
    text: str
    seq: int
    context: list[Context] | dict[str, Any] = msgspec.field(default_factory=list)
    now: bool = False
    spot: Spot | None = None


class ChangeQueued(msgspec.Struct):
    """A queued prompt is changed. ``id``: the ``seq`` of its send; ``seq``: counted with the sends.

    ``text`` None: it stays; blank: the prompt is dropped. ``before``: the id of the prompt it goes before,
    0 for the end. ``now``: it is sent at once.
    """

    chat: int
    id: int
    seq: int
    text: str | None = None
    before: int | None = None
    now: bool = False
    spot: Spot | None = None


class Cancel(msgspec.Struct):
    """The user cancels the turn, or a start or request. ``queue``: forget the queued prompts, too."""

    chat: int
    queue: bool = False


class Answer(msgspec.Struct):
    """``index`` counts from 1 in the agent's order; 0 means cancelled."""

    id: str
    index: int
    by: Literal["user", "rule", "cancel", "close"] = "user"


class FillForm(msgspec.Struct):
    """What was typed into a form, by the key of its field. ``only``: look at this field alone.

    ``send``: it is the answer, if nothing is wrong. ``seq`` comes back with what is wrong.
    """

    id: str
    seq: int
    values: dict[str, Any] | list[Any] = msgspec.field(default_factory=dict)
    only: str | None = None
    send: bool = False


class PageFailed(msgspec.Struct):
    """The page of a question did not open."""

    id: str
    why: str = ""


class ShowDiff(msgspec.Struct):
    """The change of a question, a call, or a row of the transcript, else the newest; of ``path`` if given.

    ``id`` comes back with the answer.
    """

    id: int
    chat: int
    question: str | None = None
    path: str | None = None
    call: str | None = None
    block: int | None = None
    row: int = 0


class ShowTerminal(msgspec.Struct):
    """A terminal buffer was opened (``on``) or closed. ``number``: of the terminal in its chat."""

    chat: int
    number: int
    view: int
    on: bool


class OfChat(msgspec.Struct):
    """A message that says no more than the chat."""

    chat: int


class OfFolder(msgspec.Struct):
    """A message about the prompts that were sent in a folder."""

    cwd: str


class SwitchFollow(msgspec.Struct):
    """The user turns follow on or off in a chat."""

    chat: int
    on: bool


class Restart(msgspec.Struct):
    """``config``: the agent's settings now, which may have changed since the chat was opened."""

    chat: int
    config: AgentConfig | None = None
    demo: bool = False


class Login(msgspec.Struct):
    """``config``: the agent's settings now, for the process after this one."""

    chat: int
    config: AgentConfig | None = None
    demo: bool = False


class LoginEnded(msgspec.Struct):
    """The terminal of a login. ``closed``: by the user, before its process had ended."""

    id: int
    code: int = -1
    closed: bool = False


class SetOption(msgspec.Struct):
    """``id`` and ``value`` as in the rows of view/options.py; a bool for a boolean."""

    chat: int
    id: str
    value: str | bool


class ShowTrace(msgspec.Struct):
    """Fill the buffer with the trace of the agent's connections; of one session only, if it is named."""

    agent: str
    buf: int
    session: str | None = None


class OfTrace(msgspec.Struct):
    """A buffer with a trace."""

    agent: str
    buf: int


class OfTraceRow(msgspec.Struct):
    """A row of a trace, from 1."""

    agent: str
    buf: int
    row: int


class WriteTrace(msgspec.Struct):
    """Write what a trace shows to a file; ``path`` is absolute."""

    agent: str
    buf: int
    path: str


class Details(msgspec.Struct):
    """Show all there is of a block (its id), at a row of it, from 0."""

    chat: int
    block: int
    row: int = 0


class OpenContent(msgspec.Struct):
    """The content behind a link of a block (view/block.py, ``link``). ``id`` comes back with the answer.

    ``how``: ``file`` (the key for files: of an embedded text the file it was made from), or ``open``.
    """

    chat: int
    id: int
    block: int
    place: list[int]
    how: Literal["open", "file"] = "open"


class OpenAddress(msgspec.Struct):
    """An address the user has pointed at in the text of a transcript. ``id`` comes back with the answer."""

    chat: int
    id: int
    url: str


class Complete(msgspec.Struct):
    """The paths that ``typed`` may mean. ``id`` comes back with the answers; a later one ends an earlier one.

    ``recent``: where the user was, absolute, the latest first; told when a mention begins, else None.
    """

    chat: int
    id: int
    typed: str
    recent: list[str] | dict[str, Any] | None = None


class Settings(msgspec.Struct):
    """The whole settings, after the user has called ``setup`` again."""

    settings: dict[str, Any] = msgspec.field(default_factory=dict)


class RuleSetting(msgspec.Struct):
    """One of ``permission.rules``, as lua/acp/rules.lua has checked it. ``off``: revoked."""

    action: Literal["allow", "reject", "ask"]
    words: str
    kind: list[str] | dict[str, Any] = msgspec.field(default_factory=list)
    path: list[str] | dict[str, Any] = msgspec.field(default_factory=list)
    command: list[str] | dict[str, Any] = msgspec.field(default_factory=list)
    agent: str | None = None
    off: bool = False
