"""A chat as a Markdown document: all of it, also what the transcript cuts or folds (``:w name.md``)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence

from acp_nvim.session.content import Block, Diff
from acp_nvim.session.entities import Compaction, Item, Message, Note, Plan, ToolCall, TurnEnd
from acp_nvim.text import screen
from acp_nvim.text.sanitise import clean, one_line
from acp_nvim.text.sanitise import lines as safe_lines

from . import facts, rows
from .block import Lines
from .content import block_line, hidden
from .elicitation import put_answer
from .ends import draw_compaction, draw_end, draw_note
from .entries import mention
from .fences import Fences
from .look import Look, duration, plural
from .status import topic_of
from .terminals import ending_of, script, text_of

#: Cells of a heading; a longer prompt stands below it in full.
HEADING_CELLS = 100
#: Lines from which on an output is folded away, and those of a terminal that are kept at all.
LONG = 20
MOST_OUTPUT = 100_000


class Markdown:
    """Makes one document. Text is safe and otherwise as it was said; each piece ends with a blank line."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._prompts = 0

    def head(self, now: float) -> str:
        """What stands first. ``now``: seconds since the epoch."""
        session = self._look.session
        about = session.title or topic_of(session) or f"Chat with {self._look.agent}"
        title = one_line(about, HEADING_CELLS)
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
        where = f"- {self._look.agent} in {_code(self._look.folder(session.cwd))}"
        which = [f"- session {_code(one_line(session.remote_id))}"] if session.remote_id else []
        return _piece([f"# {title}", "", where, *which, f"- written {when}"])

    def item(self, item: Item) -> str:
        """An item of the timeline; "" if there is nothing to say of it."""
        match item:
            case Message(role="user"):
                return _piece(self._prompt(item))
            case Message(role="thought"):
                return _piece(self._thought(item))
            case Message():
                return _piece(self._message(item.blocks))
            case ToolCall():
                return _piece(self._call(item))
            case Plan():
                return _piece(self._plan(item))
            case TurnEnd():
                return _piece(_quoted(draw_end(item, self._look.session, self._look).lines))
            case Note():
                return _piece(_quoted(draw_note(item, self._look).lines))
            case Compaction():
                return _piece(_quoted(draw_compaction(item, self._look).lines))

    # -- messages

    def _prompt(self, message: Message) -> list[str]:
        body = self._message(message.blocks)
        said = [line for line in safe_lines(_text(message.blocks).strip()) if line.strip()]
        self._prompts += 1
        first = one_line(said[0], HEADING_CELLS, self._look.icons.cut) if said else ""
        heading = f"## {self._prompts}. {first}".rstrip()
        alone = len(body) == 1 and first == body[0].strip()
        return [heading] if alone else [heading, "", *body]

    def _message(self, blocks: Sequence[Block]) -> list[str]:
        """Texts that follow each other are one; what is no text is named."""
        found: list[str] = []
        others = [
            f"- {_code(mention(block, self._look) or block_line(block).strip())}"
            for block in blocks
            if block.type != "text" and not hidden(block)
        ]
        text = _text(blocks)
        if text.strip():
            found += _closed(safe_lines(text.strip("\r\n")))
        return [*found, *([""] if found and others else []), *others]

    def _thought(self, message: Message) -> list[str]:
        body = self._message(message.blocks)
        if not body:
            return []
        seconds = (message.ended or message.started) - message.started
        return _folded(f"thought, {duration(seconds)}" if seconds >= 1 else "thought", body)

    # -- tool calls

    def _call(self, call: ToolCall) -> list[str]:
        drawn, _ = rows.draw([call], self._look, self._look.session.open_permissions)
        icon, _, rest = drawn.lines[0].partition(" ")
        verb, _, rest = rest.strip().partition(" ")
        head = f"- {icon} **{verb}**" + (f" {_code(rest.strip())}" if rest.strip() else "")
        return [head, *(f"  {line}" if line else "" for line in self._body(call, rest))]

    def _body(self, call: ToolCall, shown: str) -> Iterator[str]:
        look, verb = self._look, facts.verb(call)
        command, _ = facts.command(call)
        command = script(command or next((each.command for each in call.terminals if each.command), "") or "")
        said = safe_lines(command.strip("\r\n"))
        if command and (len(said) > 1 or one_line(command) not in shown):
            yield from _fenced(said, "sh")
        place = facts.location(call)
        if place is not None and look.path(place.path) not in shown and verb != "run":
            yield from ("", _code(look.path(place.path)))
        for permission in call.permissions:
            chosen = next((each.name for each in permission.options if each.id == permission.answer), None)
            if chosen is not None:
                yield from ("", f"asked: {_code(one_line(chosen))}")
        if (asked := facts.elicitation(call)) is not None:
            answer = Lines()
            put_answer(answer, asked, look)
            yield from _fenced(answer.lines) if answer.lines else ()
        changes = facts.diffs(call)
        for change in changes:
            yield from self._diff(change, named=len(changes) > 1)
        yield from self._output(call, changes)
        for item in call.content:
            if isinstance(item, Block) and item.type != "text" and not hidden(item):
                yield from ("", _code(block_line(item).strip()))

    def _diff(self, change: Diff, *, named: bool) -> Iterator[str]:
        found = facts.hunks(change)
        if named and found.path:
            yield from ("", _code(self._look.path(found.path)))
        if found.large:
            yield from ("", "too large to be compared")
        lines = [_unified(clean(line)) for line in facts.all_lines(change)]
        if lines:
            yield from _fenced(lines, "diff")

    def _output(self, call: ToolCall, changes: Sequence[Diff]) -> Iterator[str]:
        said = False
        for terminal in call.terminals:
            lines = screen.output(text_of(terminal, terminal.output.total))[-MOST_OUTPUT:]
            ending = ending_of(terminal)
            if lines and any(lines):
                said = True
                yield from _output(lines)
            if len(call.terminals) > 1 and ending:
                yield from ("", ending)
        if said or (changes and facts.state(call) != "failed"):
            return
        text = facts.plan_text(call) if facts.verb(call) == "mode" else facts.output(call)
        if text.strip():
            yield from _output(safe_lines(text.strip("\r\n")))

    def _plan(self, plan: Plan) -> list[str]:
        done = sum(entry.status == "completed" for entry in plan.entries)
        head = f"**plan**  {done} of {len(plan.entries)}" if plan.entries else "**plan**"
        found = [head, ""]
        for entry in plan.entries:
            state = {"completed": "", "pending": "", "in_progress": "  (in progress)"}.get(
                entry.status, f"  ({one_line(entry.status, 20)})"
            )
            found.append(
                f"- [{'x' if entry.status == 'completed' else ' '}] {one_line(entry.content)}{state}"
            )
        text = plan.text or plan.uri
        return [*found, *([""] if plan.entries and text else []), *(safe_lines(text) if text else ())]


def _text(blocks: Iterable[Block]) -> str:
    return "".join(
        str(block.text)
        for block in blocks
        if block.type == "text" and block.text is not None and not hidden(block)
    )


def _piece(lines: Sequence[str]) -> str:
    return "\n".join([*lines, "", ""]) if lines else ""


def _closed(lines: list[str]) -> list[str]:
    """A fence that was never closed, as the answer was cut off, would take in all that follows."""
    fences, mark = Fences(), ""
    for row, line in enumerate(lines):
        fences.start(row)
        fences.feed(line)
        decided, match = fences.complete(), _FENCE.match(line)
        if decided is not None and match is not None and fences.open:
            mark = match[1]
    return [*lines, mark] if fences.open else lines


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def _fenced(lines: Sequence[str], lang: str = "") -> list[str]:
    """Lines as they are, after a blank line; the fence is longer than any in them."""
    longest = max((len(run) for line in lines for run in re.findall(r"`{3,}", line)), default=2)
    fence = "`" * (longest + 1)
    return ["", f"{fence}{lang}", *lines, fence]


def _output(lines: Sequence[str]) -> list[str]:
    if len(lines) <= LONG:
        return _fenced(lines)
    return ["", *_folded(f"output, {plural(len(lines), 'line')}", _fenced(lines)[1:])]


def _folded(summary: str, lines: Sequence[str]) -> list[str]:
    body = [re.sub(r"<(/?)(details|summary)", r"&lt;\1\2", line, flags=re.IGNORECASE) for line in lines]
    return ["<details>", f"<summary>{summary}</summary>", "", *body, "", "</details>"]


def _quoted(lines: Sequence[str]) -> list[str]:
    """Lines of ours, each on its own: two blanks at its end say so."""
    shown = [f"> {line.rstrip()}" for line in lines if line.strip()]
    return [f"{line}  " for line in shown[:-1]] + shown[-1:]


def _code(text: str) -> str:
    """A piece of text on one line that is no Markdown."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    tick = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{tick}{pad}{text}{pad}{tick}"


def _unified(line: str) -> str:
    """A line of a diff as tools have it: without the blank after its sign."""
    return line[0] + line[2:] if line[:1] in ("+", "-", " ") and line[1:2] == " " else line
