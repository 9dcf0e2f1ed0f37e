"""A scripted ACP agent for the benchmark: no dependencies, no language model, a load on demand.

What the prompt says is what it does: ``go COUNT [RATE]`` sends message chunks (RATE a second, 0 = as fast
as the pipe takes them), ``tools COUNT`` tool calls with four updates and a diff each, ``diff BYTES`` one
update with a diff of about that size, ``say`` a few words. An argument makes that many chunks at the start.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

SESSION = "bench"
CHUNK = 60  # characters
WORDS = [
    "the",
    "parser",
    "reads",
    "one",
    "line",
    "at",
    "a",
    "time",
    "and",
    "keeps",
    "what",
    "it",
    "has",
    "seen",
    "so",
    "that",
    "a",
    "later",
    "pass",
    "can",
    "find",
    "it",
    "again",
    "without",
    "looking",
    "twice",
    "which",
    "is",
    "why",
    "the",
    "`cache`",
    "must",
    "hold",
    "**every**",
    "entry",
    "until",
    "the",
    "*end*",
    "of",
    "the",
    "run",
]
PROSE = (
    "## Step {n}: look at `module_{n}`",
    "",
    "{words} {words}",
    "",
    "- first, {words}",
    "- then [the notes](https://example.org/{n}) about it",
    "",
    "| name | value |",
    "| ---- | ----- |",
    "| a{n} | `{n}` |",
    "",
)
CODE = (
    "```lua",
    "local function step_{n}(list, limit)",
    "  local total = {n} -- the sum of what was seen",
    "  for i, item in ipairs(list) do",
    "    if item.value > limit then",
    "      total = total + item.value * 2",
    "    end",
    "  end",
    "  return {{ total = total, name = 'step {n}' }}",
    "end",
    "```",
    "",
)


def markdown() -> Iterator[str]:
    """An endless answer, about half of it code."""
    n = 0
    while True:
        n += 1
        words = " ".join(WORDS[(n + i) % len(WORDS)] for i in range(30))
        for line in PROSE + CODE:
            yield line.format(n=n, words=words) + "\n"


def chunks(count: int) -> Iterator[str]:
    """Pieces of the answer, as they come from a language model: lines do not matter to it."""
    text = ""
    lines = markdown()
    for _ in range(count):
        while len(text) < CHUNK:
            text += next(lines)
        yield text[:CHUNK]
        text = text[CHUNK:]


def write(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def update(session: str, body: dict[str, Any]) -> str:
    params = {"sessionId": session, "update": body}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": params})


def say(session: str, text: str) -> str:
    content = {"type": "text", "text": text}
    return update(session, {"sessionUpdate": "agent_message_chunk", "content": content})


prepared: list[str] = []
"""Chunks made before the clock runs: what making them costs is not measured."""


def go(session: str, count: int, rate: int) -> None:
    lines = prepared[:count] if len(prepared) >= count else [say(session, text) for text in chunks(count)]
    begin = time.monotonic()
    if not rate:
        for start in range(0, count, 200):
            write(*lines[start : start + 200])
        return
    for i, line in enumerate(lines):
        time.sleep(max(0.0, begin + i / rate - time.monotonic()))
        write(line)


def diff_of(size: int, tag: str) -> dict[str, Any]:
    """A diff with both texts, one line in a hundred changed."""
    old = [f"line {n} of {tag}: the quick brown fox jumps over it" for n in range(max(size // 100, 10))]
    new = [f"{line}, again" if n % 100 == 5 else line for n, line in enumerate(old)]
    path = f"/tmp/{tag}.txt"
    return {"type": "diff", "path": path, "oldText": "\n".join(old), "newText": "\n".join(new)}


def tools(session: str, count: int) -> None:
    for n in range(count):
        ident, base = f"call-{n}", {"sessionUpdate": "tool_call_update", "toolCallId": f"call-{n}"}
        location = [{"path": f"/tmp/file_{n}.py", "line": n + 1}]
        call = {"sessionUpdate": "tool_call", "toolCallId": ident, "kind": "edit", "status": "pending",
                "title": f"Edit file_{n}.py", "locations": location}  # fmt: skip
        write(
            update(session, call),
            update(session, {**base, "status": "in_progress"}),
            update(session, {**base, "content": [diff_of(2000, f"file_{n}")]}),
            update(session, {**base, "title": f"Edit file_{n}.py again"}),
            update(session, {**base, "status": "completed"}),
        )


def diff(session: str, size: int) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "big", "title": "Edit big.txt", "kind": "edit",
            "status": "in_progress"}  # fmt: skip
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "big", "status": "completed",
            "content": [diff_of(size, "big")]}  # fmt: skip
    write(update(session, call))
    write(update(session, done))


def act(session: str, text: str) -> None:
    """Do what the prompt says."""
    word, *rest = text.split() or ["say"]
    numbers = [int(item) for item in rest]
    if word == "go":
        go(session, numbers[0], numbers[1] if len(numbers) > 1 else 0)
    elif word == "tools":
        tools(session, numbers[0])
    elif word == "diff":
        diff(session, numbers[0])
    write(say(session, "\n\nAll said."))


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}
    if method == "session/new":
        return {"sessionId": SESSION}
    if method == "session/prompt":
        text = "".join(part.get("text", "") for part in params["prompt"])
        act(params["sessionId"], text)
        return {"stopReason": "end_turn"}
    return None


def main() -> None:
    if len(sys.argv) > 1:
        prepared.extend(say(SESSION, text) for text in chunks(int(sys.argv[1])))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "not known"}
        else:
            reply["result"] = result
        write(json.dumps(reply))


if __name__ == "__main__":
    main()
