"""A scripted ACP agent for the benchmark: no dependencies, no language model, a load on demand.

What the prompt says is what it does: ``go COUNT [RATE]`` sends message chunks (RATE a second, 0 = as fast
as the pipe takes them), ``think COUNT`` the same as thoughts, ``tools COUNT`` tool calls with four updates,
growing content and a diff each, ``diff BYTES`` one update with a diff of about that size, ``line BYTES`` a
chunk without an end of line, ``noise BYTES [COLOUR]`` a terminal whose command writes that much, ``say`` a
few words. An argument prepares that many chunks at the start; ``session/load`` replays as many messages as
the session's id says. ``$BENCH_STAMP`` names a file that gets the time at which the last byte was written.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
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


def say(session: str, text: str, kind: str = "agent_message_chunk") -> str:
    return update(session, {"sessionUpdate": kind, "content": {"type": "text", "text": text}})


prepared: list[str] = []
"""Texts of chunks made before the clock runs: what making them costs is not measured."""

waiting: deque[dict[str, Any]] = deque()
"""Messages that came while the answer to a request of ours was waited for."""


def stream(lines: list[str], rate: int) -> None:
    begin = time.monotonic()
    if not rate:
        for start in range(0, len(lines), 200):
            write(*lines[start : start + 200])
        return
    for i, line in enumerate(lines):
        time.sleep(max(0.0, begin + i / rate - time.monotonic()))
        write(line)


def go(session: str, count: int, rate: int, kind: str = "agent_message_chunk") -> None:
    texts = prepared[:count] if len(prepared) >= count else list(chunks(count))
    stream([say(session, text, kind) for text in texts], rate)


def diff_of(size: int, tag: str) -> dict[str, Any]:
    """A diff with both texts, one line in a hundred changed; both together have about ``size`` bytes."""
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
        grown = [
            {"type": "content", "content": {"type": "text", "text": f"reading file {n}\n" * size}}
            for size in (5, 20)
        ]
        diff = diff_of(2000, f"file_{n}")
        write(
            update(session, call),
            update(session, {**base, "status": "in_progress", "content": grown[:1]}),
            update(session, {**base, "content": grown}),
            update(session, {**base, "content": [*grown, diff], "title": f"Edit file_{n}.py again"}),
            update(session, {**base, "status": "completed"}),
        )


def diff(session: str, size: int) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "big", "title": "Edit big.txt", "kind": "edit",
            "status": "in_progress"}  # fmt: skip
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "big", "status": "completed",
            "content": [diff_of(size, "big")]}  # fmt: skip
    write(update(session, call))
    write(update(session, done))


def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Ask the client and wait for its answer."""
    ident = f"{method} {time.monotonic_ns()}"
    write(json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params}))
    for line in sys.stdin:
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == ident and "method" not in message:
            return message.get("result") or {}
        waiting.append(message)
    raise SystemExit


def noise(session: str, size: int, colour: int) -> None:
    """A terminal of the client's, shown in a tool call, whose command writes ``size`` bytes."""
    words = ["-m", "bench.noise", str(size), str(colour)]
    env = [{"name": "PYTHONPATH", "value": str(Path(__file__).resolve().parents[1])}]
    made = request("terminal/create", {"sessionId": session, "command": sys.executable, "args": words,
                                       "env": env, "outputByteLimit": 1 << 20})  # fmt: skip
    terminal = {"sessionId": session, "terminalId": made["terminalId"]}
    shown = [{"type": "terminal", "terminalId": made["terminalId"]}]
    call = {"sessionUpdate": "tool_call", "toolCallId": "noise", "title": "noise", "kind": "execute"}
    write(update(session, {**call, "status": "in_progress", "content": shown}))
    request("terminal/wait_for_exit", terminal)
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "noise", "status": "completed"}
    write(update(session, done))
    request("terminal/release", terminal)


def act(session: str, text: str) -> None:
    """Do what the prompt says."""
    word, *rest = text.split() or ["say"]
    numbers = [int(item) for item in rest]
    first, second = (*numbers, 0, 0)[:2]
    match word:
        case "go":
            go(session, first, second)
        case "think":
            go(session, first, second, "agent_thought_chunk")
        case "tools":
            tools(session, first)
        case "diff":
            diff(session, first)
        case "line":
            write(say(session, ("all work and no play " * (first // 21 + 1))[:first]))
        case "noise":
            noise(session, first, second)
    write(say(session, "\n\nAll said."))


def replay(session: str) -> None:
    """An old session: its id says of how many messages, the user's and the agent's in turn."""
    texts = chunks(1 << 30)
    for n in range(int(session)):
        kind = "agent_message_chunk" if n % 2 else "user_message_chunk"
        write(say(session, "".join(next(texts) for _ in range(8)) if n % 2 else f"Look at part {n}.", kind))
    write(say(session, "\n\nAll said."))


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        return {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}, "authMethods": []}
    if method == "session/new":
        return {"sessionId": SESSION}
    if method == "session/load":
        replay(params["sessionId"])
        return {}
    if method == "session/prompt":
        text = "".join(part.get("text", "") for part in params["prompt"])
        act(params["sessionId"], text)
        return {"stopReason": "end_turn"}
    return None


def serve(message: dict[str, Any]) -> None:
    if "id" not in message or "method" not in message:
        return
    result = answer(message["method"], message.get("params") or {})
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "not known"}
    else:
        reply["result"] = result
    write(json.dumps(reply))
    if stamp := os.environ.get("BENCH_STAMP"):
        with Path(stamp).open("a", encoding="ascii") as file:
            file.write(f"{time.monotonic_ns()}\n")


def main() -> None:
    if len(sys.argv) > 1:
        prepared.extend(chunks(int(sys.argv[1])))
    for line in sys.stdin:
        serve(json.loads(line))
        while waiting:
            serve(waiting.popleft())


if __name__ == "__main__":
    main()
