"""What must be true after any fault: one checker for all runs, with Neovim and without it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance.outgoing import Outgoing
from tests.plugin.processes import marked

Json = dict[str, Any]


class Rows:
    """The log of an agent (agent.py)."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self) -> list[Json]:
        if not self._path.exists():
            return []
        whole = self._path.read_bytes().rpartition(b"\n")[0]  # the agent may be writing a row
        return [json.loads(line) for line in whole.splitlines()]

    def prompts(self) -> list[str]:
        """The texts of the prompts that agents have received."""
        received = [row["in"] for row in self() if row.get("in", {}).get("method") == "session/prompt"]
        return [_text(message["params"]["prompt"]) for message in received]

    def refused(self) -> list[str]:
        """The texts of those that the agent has refused for want of a login."""
        return [row["refused"] for row in self() if "refused" in row]

    def methods(self) -> list[str]:
        """The methods the last process has received."""
        rows = self()
        last = [row["pid"] for row in rows if row.get("event") == "start"][-1:]
        return [row["in"].get("method", "") for row in rows if "in" in row and row["pid"] in last]

    def due(self) -> list[str]:
        """Requests that were written whole, by processes whose connection lives, and have no answer yet."""
        rows = self()
        dead = {row["pid"] for row in rows if "lost" in row or row.get("event") == "eof"}
        last = [row["pid"] for row in rows if row.get("event") == "start"][-1:]
        counts = _balance([row for row in rows if row["pid"] in last and row["pid"] not in dead])
        return [name for name, (clean, _dirty, answers) in counts.items() if answers < clean]


@dataclass
class Outcome:
    """What is left after a run. ``written``: files that may be whole new texts of the agent, or as before.

    ``unsaved``: buffers as they were and as they are. ``opened``, ``closed``: ids of questions.
    ``places``: where the user finds a text again: transcript, queue, prompt. ``faults``: what the host has
    reported as its own fault.
    """

    rows: Rows
    workspace: Path
    before: Mapping[str, str]
    sent: Sequence[str]
    places: Mapping[str, str]
    unsaved: Sequence[tuple[str, str]] = ()
    opened: Sequence[str] = ()
    closed: Sequence[str] = ()
    faults: Sequence[str] = ()
    marker: str | None = None
    extra: Sequence[str] = field(default_factory=list)


def problems(outcome: Outcome) -> list[str]:
    """Everything that is wrong. Call it when all is over: the agent stopped, the chat closed."""
    return [
        *(f"the host says: {fault}" for fault in outcome.faults),
        *_answers(outcome.rows()),
        *_acp(outcome.rows()),
        *_texts(outcome),
        *_files(outcome),
        *_questions(outcome),
        *(f"an unsaved buffer was {old!r}, is {new!r}" for old, new in outcome.unsaved if old != new),
        *(f"alive: {each}" for each in (marked(outcome.marker).items() if outcome.marker else ())),
        *outcome.extra,
    ]


def _balance(rows: Sequence[Json]) -> dict[str, tuple[int, int, int]]:
    """Of each request: how often it was written whole, how often perhaps, and how often it was answered."""
    clean: Counter[str] = Counter()
    dirty: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for row in rows:
        if "asked" in row:
            (clean if row["clean"] else dirty)[str(row["asked"])] += 1
        elif "in" in row and "method" not in row["in"]:
            answers[str(row["in"].get("id"))] += 1
    return {name: (clean[name], dirty[name], answers[name]) for name in {*clean, *dirty, *answers}}


def _answers(rows: Sequence[Json]) -> Iterator[str]:
    """No request is answered more often than it was written."""
    for name, (clean, dirty, answers) in _balance(rows).items():
        if answers > clean + dirty and clean + dirty:
            yield f"request {name}: {answers} answers, written {clean + dirty} times"


def _acp(rows: Sequence[Json]) -> Iterator[str]:
    """What the client has written is ACP."""
    checked: dict[int, Outgoing] = {}
    for row in rows:
        each = checked.setdefault(row["pid"], Outgoing())
        if "asked" in row:
            each.asked(row["asked"], row["method"])
        if "in" in row:
            if row["in"].get("method") == "initialize":
                version = row["in"]["params"]["protocolVersion"]
                each.said(row["in"])
                each.heard({"id": row["in"]["id"], "result": {"protocolVersion": version}})
            else:
                each.said(row["in"])
    for each in checked.values():
        yield from each.problems


def _texts(outcome: Outcome) -> Iterator[str]:
    """Each prompt went out once, or the user has it."""
    received = outcome.rows.prompts()
    for text in outcome.sent:
        count = sum(text in each for each in received)
        count -= min(sum(text in each for each in outcome.rows.refused()), max(count - 1, 0))
        if count > 1:
            yield f"prompt {text!r} was sent {count} times"
        if not count and not any(text in place for place in outcome.places.values()):
            yield f"prompt {text!r} is lost"


def _files(outcome: Outcome) -> Iterator[str]:
    """Every file is whole: as it was, or one of the texts that were to be written there."""
    tokens: dict[str, set[str]] = {}
    for row in outcome.rows():
        if "token" in row:
            tokens.setdefault(str(Path(row["path"]).resolve()), set()).add(row["text"])
    folder = outcome.workspace.parent
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        name = _name(path, outcome.workspace)
        if ".acp-" in path.name:
            yield f"left behind: {name}"
            continue
        allowed = tokens.get(str(path.resolve()), set())
        text = path.read_bytes().decode("utf-8", "replace")
        if text != outcome.before.get(name) and text not in allowed:
            yield f"{name} is not whole: {len(text)} characters, {text[:60]!r}"
    for name in outcome.before:
        if not (outcome.workspace / name).exists():
            yield f"{name} is gone"


def _questions(outcome: Outcome) -> Iterator[str]:
    closed = Counter(outcome.closed)
    for ident in outcome.opened:
        if closed[ident] != 1:
            yield f"question {ident} was closed {closed[ident]} times"


def _name(path: Path, workspace: Path) -> str:
    if path.is_relative_to(workspace):
        return str(path.relative_to(workspace))
    return f"../{path.relative_to(workspace.parent)}"


def _text(blocks: Sequence[Json]) -> str:
    return "".join(str(block.get("text", "")) for block in blocks)
