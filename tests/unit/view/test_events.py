"""Whatever the model's events and their order, and however small the frames: the buffer ends the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgpack import packb
from msgspec import UNSET
from tests.plugin import examples
from tests.unit.session.build import answer, ask, chunk, prompt, whole
from tests.unit.view.buffer import Block as Drawn
from tests.unit.view.helpers import CWD, HOME, Chat, edit

from acp_nvim.editor import valid
from acp_nvim.session.asked import Permission, PermissionOption
from acp_nvim.session.content import Block, Change, Diff, Location, TerminalRef, UnknownContent
from acp_nvim.session.elicitation import ACCEPT, DECLINE, Elicitation, Form, FormChoice, FormField
from acp_nvim.session.entities import Cost, Failure, Note, Plan, PlanEntry, ToolCall, Usage
from acp_nvim.session.events import (
    CompactionAppend,
    CompactionPatch,
    Event,
    InfoPatch,
    MessageAppend,
    MessageSet,
    NoteShown,
    PermissionClosed,
    PermissionOpened,
    PlanRemoved,
    PlanSet,
    StateSet,
    TerminalBytes,
    TerminalPatch,
    ToolAppend,
    ToolPatch,
    TurnAccepted,
    TurnCancelling,
    TurnEnded,
    UsageSet,
)
from acp_nvim.session.terminals import Exit
from acp_nvim.text.sanitise import LINE_BYTES, clean
from acp_nvim.view.details import details_of
from acp_nvim.view.icons import UNICODE
from acp_nvim.view.look import Look
from acp_nvim.view.markdown import Markdown
from acp_nvim.view.places import place_of
from acp_nvim.view.questions import describe, words
from acp_nvim.view.status import Status

#: A stream is a list of what makes events: each chat gets its own, as they may be kept and changed.
Make = Callable[[], Event]

PIECES = [
    "a",
    "word ",
    "é日",
    "🎸",
    "\n",
    "\n\n",
    "```\n",
    "~~~~",
    "\r\n",
    "\x1b[31m",
    "\ud83d",
    "\ude80",
    "\u202e",
]
PIECES += ["\t", "- [x] ", "| a |", "@src/a.py", "x" * 300, "日" * 3000, "\0", "<U+202E>", "e\u0301"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
IDS = st.sampled_from(["1", "2"])
CALLS = st.sampled_from(["t1", "t2", "t3"])
QUESTIONS = st.sampled_from(["q1", "q2", "q3"])
ROLES: Any = st.sampled_from(["user", "agent", "thought"])
KINDS = st.sampled_from(
    ["read", "search", "edit", "execute", "think", "fetch", "delete", "move", "odd", "other"]
)
STATUSES = st.sampled_from(["pending", "in_progress", "completed", "failed", "cancelled", "odd"])
MAYBE = st.one_of(st.just(UNSET), st.none())
PATHS = st.sampled_from(
    [f"{CWD}/a.py", f"{CWD}/src/b\n.py", "/etc/\x1b[m", "relative", "", "/" + "d/" * 60 + "e"]
)
NUMBERS = st.sampled_from([-1, 0, 7, 84_000, 2**63, 2**64, 10**400, -(10**400)])
PATCH_LINES = [
    "diff --git a/x b/x",
    "--- a/x",
    "+++ b/x\ty",
    "@@ -1,2 +1,9 @@ f",
    "-old",
    "+new\r",
    " same",
    "\\ No",
]
PATCH_LINES += ["", "@@", "rename from \x1b", "Binary files differ", "@@ -0,0 +1 @@", "+" + "x" * 3000]
PATCHES = st.lists(st.sampled_from(PATCH_LINES), max_size=8).map("\n".join)
#: What agents put into the raw input and output of tools, and what they might.
KEYS = [
    "command",
    "cmd",
    "cwd",
    "path",
    "file_path",
    "pattern",
    "query",
    "url",
    "plan",
    "args",
    "limit",
    "type",
]
KEYS += [
    "output",
    "stdout",
    "stderr",
    "error",
    "message",
    "exit",
    "exit_code",
    "code",
    "metadata",
    "exitStatus",
]
KEYS += ["matches", "count", "text", "content", "description", "time", "data"]
RAW: Any = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
CONTENT: Any = st.one_of(
    st.builds(
        lambda path, patch: lambda: Diff((Change("modify", path),), patch_format="git_patch", patch=patch),
        PATHS,
        PATCHES,
    ),
    st.builds(lambda text: lambda: Block.of_text(text), TEXT),
    st.builds(lambda path, old, new: lambda: edit(path, old, new), PATHS, st.none() | TEXT, TEXT),
    st.just(lambda: TerminalRef("x1")),
    st.just(lambda: TerminalRef("never told")),
    st.just(lambda: UnknownContent({"type": "odd\n", "n": [1]})),
    st.just(lambda: Block("image", data="AAAA", mime="image/png")),
    st.builds(lambda text, size: lambda: Block("link", uri=text, name=text, size=size), TEXT, NUMBERS),
)


def made(build: Callable[..., Event], *arguments: Any, **fields: Any) -> Any:
    """A strategy of functions that build an event anew each time they are called."""
    return st.builds(lambda *a, **f: lambda: build(*a, **f), *arguments, **fields)


def patched(id_: str, contents: Any, **fields: Any) -> Event:
    content = contents if contents is UNSET else [each() for each in contents]
    return ToolPatch(id_, content=content, **fields)


def form(id_: str, call: str | None, text: str, least: int, most: int) -> Event:
    """A question with a form in it."""
    fields = (
        FormField("n", "integer", text, text, True, most, least, most),
        FormField("t", "text", None, text, False, text, 0, most, text, text),
        FormField(
            "c",
            "choices",
            text,
            default=[text],
            least=least,
            most=most,
            choices=(FormChoice(text, text, text),),
        ),
        FormField("u", "unknown", raw={"type": text}),
    )
    subject = Elicitation(text, Form(fields, text, text), tool_call_id=call)
    options = [PermissionOption(ACCEPT, "Answer", "other"), PermissionOption(DECLINE, "Decline", "other")]
    return PermissionOpened(Permission(id_, options, text, subject=subject, tool_call_id=call))


EVENTS: Any = st.one_of(
    made(form, QUESTIONS, st.none() | CALLS, TEXT, NUMBERS, NUMBERS),
    made(lambda used, size: UsageSet(Usage(abs(used), abs(size), Cost(1e300, "EUR\n"))), NUMBERS, NUMBERS),
    made(InfoPatch, title=MAYBE | TEXT),
    made(chunk, ROLES, TEXT, st.none() | IDS),
    made(chunk, ROLES, TEXT, st.none()),
    made(whole, ROLES, IDS, TEXT),
    made(MessageSet, ROLES, IDS, MAYBE),
    made(lambda role, text: MessageAppend(role, None, Block("resource", uri=text, name=text)), ROLES, TEXT),
    made(
        patched,
        CALLS,
        st.just(UNSET) | st.lists(CONTENT, max_size=3),
        title=MAYBE | TEXT,
        kind=MAYBE | KINDS,
        status=MAYBE | STATUSES,
        locations=MAYBE | st.lists(st.builds(Location, PATHS, st.none() | st.integers(0, 2**32)), max_size=2),
        raw_input=MAYBE | RAW,
        raw_output=MAYBE | RAW,
        meta=MAYBE | st.dictionaries(TEXT, RAW, max_size=2),
    ),
    made(lambda id_, content: ToolAppend(id_, content()), CALLS, CONTENT),
    made(TerminalPatch, st.just("x1"), command=MAYBE | TEXT, exit=MAYBE | st.builds(Exit, st.integers(0, 3))),
    made(lambda text: TerminalBytes("x1", text.encode(errors="replace")), TEXT),
    made(ask, QUESTIONS, st.none() | CALLS),
    made(answer, QUESTIONS, st.sampled_from(["ok", "always", "no"])),
    made(
        lambda question, outcome, by: PermissionClosed(question, outcome, None, by),
        QUESTIONS,
        st.sampled_from(["cancelled", "withdrawn"]),
        st.sampled_from(["user", "cancel", "agent", "close"]),
    ),
    made(lambda *texts: PlanSet(Plan("p", entries=[PlanEntry(text) for text in texts])), TEXT, TEXT),
    made(PlanRemoved, st.just("p")),
    made(lambda title, lines: NoteShown(Note("n", "error", title, lines)), TEXT, st.lists(TEXT, max_size=2)),
    made(CompactionPatch, IDS, status=st.just(UNSET) | STATUSES, error=MAYBE | TEXT),
    made(lambda id_, text: CompactionAppend(id_, Block.of_text(text)), IDS, TEXT),
    made(StateSet, st.sampled_from(["running", "idle", "requires_action"])),
    made(prompt, TEXT),
    made(TurnAccepted, st.none() | IDS),
    made(TurnCancelling),
    made(
        TurnEnded,
        st.sampled_from(["end_turn", "cancelled", "error", "refusal", "odd", None]),
        st.none() | st.builds(Failure, TEXT, data=RAW, remedy=st.none() | TEXT),
    ),
)
STREAMS = st.lists(
    st.tuples(EVENTS, st.lists(st.tuples(st.integers(1, 400), st.integers(1, 5)), max_size=2)), max_size=25
)


def all_of(chat: Chat) -> list[tuple[Any, ...]]:
    """What the buffer holds, block by block, without those in which nothing stands.

    A message that was emptied later keeps the place it had, a thought its first line.
    """
    blocks = chat.buffer.blocks.values()
    return [
        shown(block)
        for block in blocks
        if any(block.lines) and (block.deco["kind"] != "think" or block.deco.get("body"))
    ]


def shown(block: Drawn) -> tuple[Any, ...]:
    """Of what the user said, mentions are marked in the first piece alone, and linked."""
    names = {"marks", "folds", "body", "links", "spin", "kind"}
    if block.deco["kind"] == "user":
        names -= {"marks", "links"}
    return block.lines, block.fences, {name: block.deco.get(name) for name in names}


@examples(150)
@given(STREAMS)
def test_frames_of_any_size_give_the_same_buffer(stream: list[tuple[Make, list[tuple[int, int]]]]) -> None:
    small, large = Chat(), Chat()
    for make, frames in stream:
        small.apply(make())
        large.apply(make())
        for most_bytes, most_events in frames:
            ops, _ = small.transcript.take(most_bytes, most_events)
            small.buffer.apply(ops)
    small.end_message()  # what is marked in a message is certain when it is whole
    large.end_message()
    small.frames()
    ops, _ = large.transcript.take(10**9, 10**9)
    large.buffer.apply(ops)
    assert not large.transcript.dirty
    assert (small.transcript.unread, large.transcript.unread) == (0, 0)
    assert all_of(small) == all_of(large)


@examples(80)
@given(st.lists(EVENTS, max_size=25))
def test_whatever_shows_a_session_can_show_any(stream: list[Make]) -> None:
    """Details, questions, the status, an export: safe lines that can be sent to Neovim."""
    chat, status = Chat(), Status()
    for make in stream:
        chat.apply(make())
        sent(status.patch(chat.session))
    look = Look(chat.session, UNICODE, "", HOME)
    markdown = Markdown(look)
    assert_safe(markdown.head(0.0).split("\n"))
    for item in chat.session.items:
        details = details_of(item, look)
        assert_safe(details)
        assert all(len(line.encode()) <= LINE_BYTES + 8 for line in details)  # indented
        assert_safe(markdown.item(item).split("\n"))
        if isinstance(item, ToolCall):
            place_of(item, CWD)
    for permission in chat.session.permissions.values():
        call = chat.session.tool_calls.get(permission.tool_call_id or "")
        question = describe(permission, call, chat.session, UNICODE, "", HOME)
        assert_safe([words(permission, chat.session), question.title, question.prompt, question.what])
        assert_safe(question.lines)
        assert all(len(line.encode()) <= LINE_BYTES + 8 for line in question.lines)
        sent(question.payload(1))


def sent(value: Any) -> None:
    """It can be packed for Neovim: text without halves, numbers of at most 64 bits."""
    packb(valid(value))  # type: ignore[no-untyped-call]


def assert_safe(lines: Sequence[str]) -> None:
    sent(list(lines))
    for line in lines:
        assert not set(line) & set("\n\r\0\x1b\u202e"), line
        assert line == clean(line), line
