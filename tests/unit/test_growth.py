"""What is read is read in a time that grows with its length: twice as much takes about twice as long.

Each parser gets the text that is worst for it, short and then eight times as long. One that looks at all of
it again for each of its parts takes 64 times as long then; one that grows with the length about 8 times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from acp_nvim.client.redact import Redact
from acp_nvim.client.secrets import Secrets
from acp_nvim.service.rules import _has_command
from acp_nvim.session.content import Block
from acp_nvim.session.entities import ToolCall
from acp_nvim.text import diff, git_patch, mentions, patch, paths, place, sanitise, screen
from acp_nvim.text.merge import merge
from acp_nvim.text.terminal import TerminalFilter
from acp_nvim.transport.lines import LineDecoder
from acp_nvim.transport.sse import SseDecoder
from acp_nvim.view import facts
from acp_nvim.view.fences import Fences
from acp_nvim.wire import jsonrpc, tolerant

TIMES = 8
MOST = 24.0  # times as long: between 8 and 64
LEAST_SECONDS = 0.001  # what takes less is not measured but noise
TRIES = 5


def seconds(function: Callable[[Any], object], given: Any) -> float:
    began = time.process_time()
    function(given)
    return time.process_time() - began


def grows_evenly(function: Callable[[Any], object], make: Callable[[int], Any], size: int) -> None:
    """Fails if all tries say that it grows faster than its input."""
    small, large = make(size), make(size * TIMES)
    ratios: list[float] = []
    for _ in range(TRIES):
        ratios.append(seconds(function, large) / max(seconds(function, small), LEAST_SECONDS))
        if ratios[-1] < MOST:
            return
    raise AssertionError(f"{TIMES} times as much takes {min(ratios):.0f} times as long")


def redact() -> Redact:
    secrets = Secrets()
    secrets.add(["hunter22", 'a"b\\c/d'])
    return Redact(secrets, "/home/me")


def one_block(text: str) -> ToolCall:
    call = ToolCall("t")
    call.content.append(Block.of_text(text))
    return call


def parsed(data: bytes) -> None:
    with suppress(tolerant.WireError):
        tolerant.parse(data)


def fenced(line: str) -> None:
    fences = Fences()
    fences.start(0)
    for char in line:
        fences.feed(char)
    fences.complete()


def repeated(text: str) -> Callable[[int], str]:
    return lambda size: text * (size // len(text))


def times(part: bytes) -> Callable[[int], bytes]:
    return lambda size: part * (size // len(part))


SHOWN = ["a\x1b[m", "\x1b[1J\n", "x\x00", "\x1b[Bx", "x\x1b[X", "a\b", "\n\x1b[A", "\x1b]", "\x1b[;", "\x1b("]
REDACTED = ['"\\', '"value":"', '"env":{', "authorization:", "://a:", "?key=", "bearer ", '"headers":{"a":1']
PATCHES = ["@@ -1 +1 @@\n", "--- a\n+++ b\n", "@@ -1,9 +1,9 @@\n", 'diff --git "a" "b\n', "\\\n"]
WIRE = [b"[", b'{"a":', b'"', b"[1,", b"\\u", b"\xff", b'{"jsonrpc":', b"9", b"1e", b'"\\ud83d', b" "]

CASES: dict[str, tuple[Callable[[Any], object], Callable[[int], Any], int]] = {
    "blanks in a line": (sanitise.one_line, lambda n: "x" + " " * n + "y", 4000),
    "line ends in a line": (sanitise.one_line, repeated("x \n"), 4000),
    "invisible characters": (sanitise.clean, repeated("é\u200d\u202e"), 4000),
    "surrogates": (sanitise.clean, repeated("\ud83d\ude80\ud83d"), 4000),
    **{f"screen {part!r}": (screen.output, repeated(part), 40_000) for part in SHOWN},
    "a wide screen": (screen.output, lambda n: "a" * n + "\x1b[1K" * (n // 8), 40_000),
    "a high screen": (screen.output, lambda n: "\n" * n + "\x1b[1J" * (n // 8), 16_000),
    **{
        f"terminal {part!r}": (lambda text: TerminalFilter().feed(text.encode()), repeated(part), 8000)
        for part in SHOWN
    },
    "mentions": (mentions.find, repeated('@"a'), 8000),
    "mentions of lines": (mentions.find, lambda n: "@a" + ":1" * n, 8000),
    "code": (mentions.find, lambda n: "`@a` " * n, 2000),
    "folders of a path": (lambda path: paths.shorten(paths.relative(path, "/x")), repeated("/a"), 2000),
    **{f"redact {part!r}": (redact().raw, repeated(part), 8000) for part in REDACTED},
    "redact blanks": (redact().raw, lambda n: '"value"' + " " * n + "x", 8000),
    "redact pieces": (redact().pieces, lambda n: ["x hunter22 "] * n, 500),
    **{f"hunk {part!r}": (lambda text: patch.fragments(text, ""), repeated(part), 8000) for part in PATCHES},
    **{f"git {part!r}": (git_patch.sections, repeated(part), 8000) for part in PATCHES},
    **{f"count {part!r}": (diff.count_patch, repeated(part), 8000) for part in PATCHES},
    "diff of what repeats": (lambda n: diff.diff("a\nb\n" * n, "b\nb\na\n" * n), lambda n: n, 500),
    "diff of what is turned around": (
        lambda n: diff.diff("\n".join(map(str, range(n))), "\n".join(map(str, range(n, 0, -1)))),
        lambda n: n,
        500,
    ),
    "place": (lambda n: place.place("a\n" * n, " a\n" * (n // 2), "b\n", near=5), lambda n: n, 500),
    "merge": (lambda n: merge("a\n" * n, "b\na\n" * n, "c\na\n" * n), lambda n: n, 500),
    "tildes around an output": (facts.output, lambda n: one_block("~" * n + "\n" + "x" * n), 2000),
    "words of a command": (lambda line: _has_command(line, ("rm", "-rf")), repeated("rm "), 8000),
    "fences": (fenced, repeated("`"), 4000),
    **{f"wire {part!r}": (parsed, times(part), 8000) for part in WIRE},
    **{f"read {part!r}": (jsonrpc.read, times(part), 8000) for part in WIRE},
    "lines": (lambda n: [(d := LineDecoder()), [d.decode(b"a") for _ in range(n)]], lambda n: n, 4000),
    "events": (lambda n: [(d := SseDecoder()), [d.decode(b"data") for _ in range(n)]], lambda n: n, 4000),
    "data of an event": (lambda n: SseDecoder().decode(b"data:\n" * n + b"\n"), lambda n: n, 2000),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_time_grows_with_the_length(name: str) -> None:
    grows_evenly(*CASES[name])
