"""What the user can ask for, and how it is said: plain patterns, no language model, no guessing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from .commands import plain


@dataclass(frozen=True, slots=True)
class Help:
    """What the demo understands."""


@dataclass(frozen=True, slots=True)
class Tour:
    """Everything once."""


@dataclass(frozen=True, slots=True)
class List:
    """The files below ``where`` (None: all)."""

    where: str | None = None


@dataclass(frozen=True, slots=True)
class Show:
    """A file, or its lines ``first`` to ``last`` (1-based, inclusive)."""

    name: str | None = None
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Search:
    text: str
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Replace:
    """``everywhere``: in all files; else in ``name``, or in the attached file. ``at_once``: one question."""

    old: str
    new: str
    name: str | None = None
    everywhere: bool = False
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Create:
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Delete:
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class Run:
    command: str


@dataclass(frozen=True, slots=True)
class Background:
    """A command that goes on by itself."""

    command: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A form for the user to fill in."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the web for the user to look at."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Something drawn, and a link."""


@dataclass(frozen=True, slots=True)
class Mode:
    """Another mode, by its id."""

    id: str


@dataclass(frozen=True, slots=True)
class Name:
    """A title for the chat."""

    title: str


@dataclass(frozen=True, slots=True)
class Got:
    """What the prompt was made of: the words, and what was mentioned."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Make room in the context."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Write a file that the user has changed meanwhile, ``seconds`` after the answer."""

    name: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A command that writes ``lines`` lines, five a second."""

    lines: int | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """Say nothing for so long."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Several requests, one after the other. Empty: a plan of the demo's own."""

    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Unknown:
    text: str


Trial = Conflict | Output | Silence
Extra = Ask | Page | Picture | Mode | Name | Compact | Got
Action = (
    Help
    | Tour
    | List
    | Show
    | Search
    | Replace
    | Create
    | Delete
    | Move
    | Run
    | Background
    | Extra
    | Trial
    | Unknown
)
Request = Action | Plan


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a plan: the user's words, and what they ask for."""

    words: str
    action: Action


def parse(text: str) -> Request:
    """The request a prompt makes. Lines and ``then`` separate several requests, which become a plan.

    A slash command is one request: ``/run a; b`` is for the shell to separate.
    """
    said = text.strip()
    text = plain(said)
    planned = re.match(
        r"(?:(?:please )?make (?:me )?a plan\b(?: and (?:do|follow) it)?|plan\b)\s*[:,.]?", text, re.I
    )
    body = re.sub(r"^to\s+", "", text[planned.end() :].strip()) if planned else text
    if planned and not body:
        return Plan()
    pieces = [piece for piece in (_BULLET.sub("", piece).strip() for piece in _SPLIT.split(body)) if piece]
    steps = tuple(Step(piece, parse_one(piece)) for piece in pieces)
    if planned or (
        text == said
        and len(steps) > 1
        and not any(isinstance(step.action, Unknown | Help | Tour) for step in steps)
    ):
        return Plan(steps)
    action = parse_one(text)
    return Unknown(said) if isinstance(action, Unknown) else action


def parse_one(text: str) -> Action:
    """One request, without plans."""
    words = _POLITE.sub("", text.strip())
    for pattern, build in _PATTERNS:
        if found := pattern.fullmatch(words):
            return build(found)
    return Unknown(text)


_VERBS = (
    r"(?:list|ls|show|read|open|cat|search|find|grep|replace|change|create|write|delete|remove|move|rename"
    r"|run|execute|demo|ask|go|switch|draw|call|compact)"
)
_SPLIT = re.compile(rf"\n+|[,;.]?\s+(?:and\s+)?then,?\s+(?={_VERBS}\b)|;\s+(?={_VERBS}\b)", re.I)
_BULLET = re.compile(r"^\s*(?:[-*]|\d+[.)])\s+")
_POLITE = re.compile(
    r"^(?:(?:please|now|ok|okay|can you|could you|would you|i want to|let us|let's)[,:]?\s+)+", re.I
)

_QUOTES = {"'": "'", '"': '"', "`": "`", "“": "”"}
_WORD = r"""(?:'[^']*'|"[^"]*"|`[^`]*`|“[^”]*”|\S+)"""
_TEXT = r"""(?:'[^']*'|"[^"]*"|`[^`]*`|“[^”]*”|.+?)"""
_END = r"(?:\s*[.!?])?"
_ALL = r"(?:\s+in\s+(?:all|every|the whole|each)(?:\s+(?:the\s+)?(?:files?|project))?|\s+everywhere)"
_SECONDS = r"(?:\s+(\d{1,4}(?:\.\d+)?)(?:\s*s(?:ec(?:onds?)?)?)?)?"
_FILE = rf"(?:\s+in\s+(?:the\s+)?(?:file\s+)?({_WORD}?))"


def _bare(text: str | None) -> str:
    """Without the quotes around it."""
    text = text or ""
    if len(text) >= 2 and _QUOTES.get(text[0]) == text[-1]:
        return text[1:-1]
    return text


def _name(text: str | None) -> str | None:
    """A file name as mentioned: without quotes, the ``@`` of a mention and the line numbers after it."""
    name = re.sub(r":\d+(?:-\d+)?$", "", _bare(text).removeprefix("@"))
    return None if name.lower() in ("", ".", "it", "this", "here", "this file") else name


def _list(found: re.Match[str]) -> Action:
    return List(_name(found[1]))


def _show(found: re.Match[str]) -> Action:
    lines = re.search(r":(\d+)(?:-(\d+))?$", _bare(found[3]))
    first, last = (lines[1], lines[2]) if lines else (found[1], found[2])
    return Show(_name(found[3]), int(first) if first else None, int(last or first) if first else None)


def _search(found: re.Match[str]) -> Action:
    return Search(_bare(found[1]), _name(found[2]))


def _replace(found: re.Match[str]) -> Action:
    return Replace(_bare(found[1]), _bare(found[2]), _name(found[5]), bool(found[3]), bool(found[4]))


def _create(found: re.Match[str]) -> Action:
    return Create(_name(found[1]) or "", _bare(found[2]))


def _delete(found: re.Match[str]) -> Action:
    return Delete(_name(found[1]))


def _move(found: re.Match[str]) -> Action:
    return Move(_name(found[1]) or "", _name(found[2]) or "")


def _mode(found: re.Match[str]) -> Action:
    word = found[1].lower()
    return Mode("read" if word in ("plan", "only") else word)


def _conflict(found: re.Match[str]) -> Action:
    return Conflict(_name(found[1]), float(found[2]) if found[2] else None)


def _output(found: re.Match[str]) -> Action:
    return Output(int(found[1]) if found[1] else None)


def _silence(found: re.Match[str]) -> Action:
    return Silence(float(found[1]) if found[1] else None)


def _run(found: re.Match[str]) -> Run:
    command = found[1].strip()
    return Run(_bare(command) if command.startswith("`") else command)


def _rule(
    pattern: str, build: Callable[[re.Match[str]], Action]
) -> tuple[re.Pattern[str], Callable[[re.Match[str]], Action]]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL), build


_PATTERNS = (
    _rule(rf"help{_END}|\?|what can (?:you|i) do{_END}|(?:hi|hello|hey)(?: there)?{_END}", lambda _: Help()),
    _rule(rf"(?:tour|demo|(?:please )?show (?:me )?everything|give me a tour){_END}", lambda _: Tour()),
    _rule(
        r"(?:run|execute)\s+(?:the command\s+)?(.+?)\s+in\s+the\s+background[.!]?",
        lambda found: Background(_run(found).command),
    ),
    _rule(
        r"(?:run|execute)\s+(?:the command\s+)?(.+)|[!$]\s*(.+)",
        lambda found: _run(found) if found[1] else Run(found[2]),
    ),
    _rule(rf"ask\s+me(?:\s+(?:something|anything|a question|(?:some )?questions))?{_END}", lambda _: Ask()),
    _rule(
        rf"(?:open|show|visit)(?:\s+me)?\s+(?:a|the)\s+(?:web\s*)?(?:page|site|website){_END}",
        lambda _: Page(),
    ),
    _rule(rf"(?:show|draw|paint)(?:\s+me)?\s+(?:a|the|some)\s+pictures?{_END}", lambda _: Picture()),
    _rule(
        rf"(?:(?:go|switch|change)\s+(?:in)?to|(?:set|change|switch)\s+(?:the\s+)?mode\s+to)"
        rf"\s+(?:the\s+|mode\s+)?(?:read[- ](?=only))?(ask|edit|read|plan|only)(?:\s+mode)?{_END}",
        _mode,
    ),
    _rule(
        rf"(?:call|name)\s+this(?:\s+(?:chat|session))?\s+({_TEXT}){_END}",
        lambda found: Name(_bare(found[1])),
    ),
    _rule(rf"compact{_END}", lambda _: Compact()),
    _rule(r"what\s+(?:do|did|have)\s+(?:you|i)\s+(?:see|get|got|received?|send|sent)\b.*", lambda _: Got()),
    _rule(
        rf"(?:replace|change)\s+(?:all\s+|every\s+)?({_TEXT})\s+(?:by|with|to|into)\s+({_TEXT})"
        rf"(?:({_ALL})(\s+at\s+once)?|{_FILE})?{_END}",
        _replace,
    ),
    _rule(
        rf"(?:create|write)\s+(?:a\s+)?(?:new\s+)?(?:file\s+)?({_WORD})\s+(?:with|saying|containing)\s+"
        rf"(?:the text\s+)?(.+)",
        _create,
    ),
    _rule(rf"(?:delete|remove|rm)(?:\s+the)?(?:\s+file)?\s+({_WORD}?){_END}", _delete),
    _rule(
        rf"(?:move|rename|mv)(?:\s+the)?(?:\s+file)?\s+({_WORD})\s+(?:to|as|into)\s+({_WORD}?){_END}", _move
    ),
    _rule(rf"demo\s+conflict{_FILE}?{_SECONDS}{_END}", _conflict),
    _rule(rf"demo\s+(?:long\s+)?output(?:\s+(\d{{1,6}})(?:\s+lines)?)?{_END}", _output),
    _rule(rf"demo\s+silence{_SECONDS}{_END}", _silence),
    _rule(rf"(?:search|find|grep|look)(?:\s+for)?\s+({_TEXT})(?:{_ALL}|{_FILE})?{_END}", _search),
    _rule(
        rf"(?:list|ls|dir|show(?:\s+me)?(?=\s+(?:all\s+|the\s+)*files\b))(?:\s+(?:all\s+|the\s+)*files)?"
        rf"(?:\s+(?:in\s+|of\s+)?({_WORD}?))?{_END}",
        _list,
    ),
    _rule(
        rf"(?:show|read|open|cat|print)(?:\s+me)?(?:\s+lines?\s+(\d+)(?:\s*(?:-|to)\s*(\d+))?\s+(?:of|in|from))?"
        rf"(?:\s+the)?(?:\s+file)?\s+({_WORD}?){_END}",
        _show,
    ),
)
