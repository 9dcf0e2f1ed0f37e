"""Matching text with a pattern of the agent's, bounded in time.

A pattern can take longer than anybody waits, and Python cannot be interrupted while it matches. So it is done
in a process of its own, which ends by itself after a second of work, whatever becomes of us.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

import anyio

#: Seconds until a match counts as one that cannot be checked, the start of the process included.
PATIENCE = 3.0
#: Characters of a pattern, and of a text, that are looked at.
MOST_PATTERN = 2000
MOST_TEXT = 100_000

_PROGRAM = """
import json, re, sys, warnings
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
warnings.simplefilter("ignore")
for pattern, text in json.load(sys.stdin):
    try:
        found = re.compile(pattern, re.ASCII).search(text) is not None
    except Exception:
        found = None
    print(json.dumps(found), flush=True)
"""


async def matches(pairs: Sequence[tuple[str, str]]) -> list[bool | None]:
    """Whether each text matches its pattern (of ECMA-262) somewhere. None: it cannot be told."""
    found: list[bool | None] = [None] * len(pairs)
    asked = [n for n, (p, t) in enumerate(pairs) if len(p) <= MOST_PATTERN and len(t) <= MOST_TEXT]
    # One process each for those that took too long, so that they do not cost the others their answer.
    while asked:
        answers = await _run([(translate(pairs[n][0]), pairs[n][1]) for n in asked])
        for n, answer in zip(asked, answers, strict=False):
            found[n] = answer
        asked = asked[len(answers) + 1 :]
    return found


async def _run(pairs: list[tuple[str, str]]) -> list[bool | None]:
    """The answers in order, as far as they came in time."""
    said = b""
    try:
        async with await anyio.open_process(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            try:
                with anyio.move_on_after(PATIENCE):
                    await process.stdin.send(json.dumps(pairs).encode())
                    await process.stdin.aclose()
                    async for data in process.stdout:
                        said += data
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
    except (OSError, anyio.BrokenResourceError):
        pass
    return [json.loads(line) for line in said.split(b"\n")[:-1]]


def translate(pattern: str) -> str:
    """An ECMA-262 pattern in Python's words, where they differ: the end of the text, and named groups."""
    made, at, in_class = "", 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            if pattern.startswith("k<", at + 1) and (end := pattern.find(">", at)) > 0:
                made += f"(?P={pattern[at + 3 : end]})"
                at = end + 1
            else:
                made += pattern[at : at + 2]
                at += 2
            continue
        if in_class:
            in_class = char != "]"
            made += "\\[" if char == "[" else char
        elif char == "[":
            in_class = True
            made += char
        elif char == "$":
            made += r"\Z"
        elif pattern.startswith("(?<", at) and pattern[at + 3 : at + 4] not in ("=", "!"):
            made += "(?P<"
            at += 2
        else:
            made += char
        at += 1
    return made
