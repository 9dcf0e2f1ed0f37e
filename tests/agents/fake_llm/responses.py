"""The OpenAI Responses API as codex uses it: its history, its tools, and the events of an answer.

codex has no tools for files: it reads with a shell, and changes with patches in a language of its own.
"""

from __future__ import annotations

import json
import shlex
import uuid
from collections.abc import Iterator, Mapping, Sequence

from .scenario import Plan, Turn
from .tools import Json, ScenarioError

PATCH = "apply_patch"
"""The tool that takes text as it is, not an object."""


def responses_history(body: Json) -> list[Turn]:
    """Several items in a row are one answer of the model's: words, thoughts, calls."""
    turns = []
    for item in body.get("input", []):
        kind, role = str(item.get("type")), item.get("role")
        if kind.endswith("_output"):
            turns.append(Turn("tool", ""))
        elif kind.endswith("_call") or kind == "reasoning" or role == "assistant":
            turns.append(Turn("model", ""))
        elif role == "user":
            parts = [part.get("text", "") for part in item.get("content", []) if isinstance(part, dict)]
            turns.append(Turn("user", "\n".join(parts)))
    return turns


def resolve(call: Json, offered: Mapping[str, Json], workspace: str) -> tuple[str, Json] | None:
    """As ``tools.resolve``; of a patch the arguments are ``{"input": TEXT}``."""
    name, arguments = _made(call)
    return (name, arguments) if name in offered else None


def _made(call: Json) -> tuple[str, Json]:
    match call["tool"]:
        case "shell":
            # To run outside of the sandbox must be asked for, and not every machine has the sandbox.
            asks = {"sandbox_permissions": "require_escalated", "justification": "May the script do this?"}
            return "exec_command", {"cmd": call["command"], "login": False, **asks}
        case "read":
            return "exec_command", {"cmd": f"cat {shlex.quote(call['path'])}", "login": False}
        case "edit":
            return _patch(f"*** Update File: {call['path']}", ["@@", f"-{call['old']}", f"+{call['new']}"])
        case "write":
            lines = [f"+{line}" for line in call["content"].splitlines()]
            return _patch(f"*** Add File: {call['path']}", lines)
        case "todo" | "plan":
            steps = [{"step": each["content"], "status": each["status"]} for each in call["todos"]]
            return "update_plan", {"plan": steps}
        case "search" | "list":
            return "", {}
        case other:
            raise ScenarioError(f"unknown abstract tool {other!r}")


def _patch(head: str, lines: Sequence[str]) -> tuple[str, Json]:
    return PATCH, {"input": "\n".join(("*** Begin Patch", head, *lines, "*** End Patch", ""))}


def events(plan: Plan, asked: int) -> Iterator[tuple[Json, float]]:
    """The events of a streamed answer, and the seconds to wait behind each."""
    answer = {"id": f"resp_{uuid.uuid4().hex[:12]}"}
    yield {"type": "response.created", "response": answer}, 0
    items: list[Json] = []
    if plan.thinking:
        ident = f"rs_{uuid.uuid4().hex[:12]}"
        summary = [{"type": "summary_text", "text": "".join(plan.thinking)}]
        item: Json = {"type": "reasoning", "id": ident, "summary": []}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}, 0
        yield {"type": "response.reasoning_summary_part.added", "item_id": ident, "summary_index": 0}, 0
        for piece in plan.thinking:
            delta = {"item_id": ident, "summary_index": 0, "delta": piece}
            yield {"type": "response.reasoning_summary_text.delta", **delta}, plan.delay
        items.append({**item, "summary": summary, "encrypted_content": "ZmFrZQ=="})
        yield {"type": "response.output_item.done", "output_index": 0, "item": items[-1]}, 0
    if plan.text:
        at, ident = len(items), f"msg_{uuid.uuid4().hex[:12]}"
        item = {"type": "message", "role": "assistant", "id": ident, "content": []}
        yield {"type": "response.output_item.added", "output_index": at, "item": item}, 0
        for piece in plan.text:
            delta = {"item_id": ident, "output_index": at, "content_index": 0, "delta": piece}
            yield {"type": "response.output_text.delta", **delta}, plan.delay
        items.append({**item, "content": [{"type": "output_text", "text": "".join(plan.text)}]})
        yield {"type": "response.output_item.done", "output_index": at, "item": items[-1]}, 0
    for name, arguments in plan.tools:
        call: Json = {"call_id": f"call_{uuid.uuid4().hex[:10]}", "name": name}
        if name == PATCH:
            call |= {"type": "custom_tool_call", "input": arguments["input"]}
        else:
            call |= {"type": "function_call", "arguments": json.dumps(arguments, ensure_ascii=False)}
        yield {"type": "response.output_item.done", "output_index": len(items), "item": call}, 0
        items.append(call)
    written = len(plan.text) + 5
    usage = {"input_tokens": asked, "output_tokens": written, "total_tokens": asked + written}
    yield {"type": "response.completed", "response": {**answer, "output": items, "usage": usage}}, 0
