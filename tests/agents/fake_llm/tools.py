"""From a scenario's abstract call to one of a tool that the request offers, spelled by its schema."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class ScenarioError(Exception):
    """The scenario cannot be played: it does not exist, or wants a tool nobody knows."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Names that agents give a tool, best first, and the names of its arguments."""

    names: Sequence[str]
    args: Mapping[str, Sequence[str]]


PATH = ("filePath", "file_path", "absolute_path", "abs_path", "path", "target_file")
_TODO = Tool(
    ("todowrite", "todo_write", "write_todos", "TodoWrite", "update_plan"),
    {"todos": ("todos", "plan", "items")},
)
TOOLS: dict[str, Tool] = {
    "read": Tool(
        ("read", "read_file", "Read", "view"),
        {"path": PATH, "line": ("line", "start_line"), "limit": ("limit",)},
    ),
    "edit": Tool(
        ("edit", "replace", "edit_file", "Edit", "str_replace"),
        {
            "path": PATH,
            "old": ("oldString", "old_string", "old_str", "old_text"),
            "new": ("newString", "new_string", "new_str", "new_text"),
            "why": ("instruction", "description"),
        },
    ),
    "write": Tool(
        ("write", "write_file", "Write", "create_file"),
        {"path": PATH, "content": ("content", "contents", "file_text", "text")},
    ),
    "shell": Tool(
        ("bash", "run_shell_command", "shell", "Bash", "execute", "terminal"),
        {
            "command": ("command", "cmd"),
            "why": ("description",),
            "cwd": ("workdir", "directory", "dir_path"),
        },
    ),
    "todo": _TODO,
    "plan": _TODO,
    "search": Tool(
        ("grep", "grep_search", "search_file_content", "Grep"),
        {"pattern": ("pattern", "query"), "path": ("path", "dir_path")},
    ),
    "list": Tool(
        ("list_directory", "list", "glob", "ls"),
        {"path": ("path", "dir_path", *PATH[:4]), "pattern": ("pattern",)},
    ),
}


def resolve(call: Json, offered: Mapping[str, Json], workspace: str) -> tuple[str, Json] | None:
    """The name and arguments of the offered tool for a scenario's call; None when no such tool is offered."""
    tool = TOOLS.get(call["tool"])
    if tool is None:
        raise ScenarioError(f"unknown abstract tool {call['tool']!r}")
    name = next((name for name in tool.names if name in offered), None)
    if name is None:
        return None
    schema = offered[name]
    properties = schema.get("properties") or {}
    given = {key: value for key, value in call.items() if key != "tool"}
    if "path" in given:
        given["path"] = os.path.normpath(Path(workspace, given["path"]))
    given.setdefault("why", "scripted by the fake model")
    arguments: Json = {}
    for abstract, value in given.items():
        spelled = next((name for name in tool.args.get(abstract, (abstract,)) if name in properties), None)
        if spelled is not None:
            is_plan = abstract == "todos"
            arguments[spelled] = _entries(value, properties[spelled], schema) if is_plan else value
    for needed in schema.get("required") or []:
        if needed not in arguments:
            arguments[needed] = smallest(properties.get(needed, {}), schema)
    return name, arguments


def smallest(schema: Any, root: Json | None = None, depth: int = 0) -> Any:
    """A small value that satisfies a JSON schema, harmless for what agents ask beside their main loop."""
    root = schema if root is None else root
    schema = _follow(schema, root)
    if depth > 8:
        return None
    if "const" in schema:
        return schema["const"]
    if choices := schema.get("enum"):
        return "user" if "user" in choices else choices[0]  # "who speaks next": "user" ends the turn
    for alternatives in ("anyOf", "oneOf", "allOf"):
        if schema.get(alternatives):
            return smallest(schema[alternatives][0], root, depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    match (kind or ("object" if "properties" in schema else "string")).lower():
        case "object":
            properties = schema.get("properties") or {}
            names = schema.get("required") or list(properties)
            return {name: smallest(properties.get(name, {}), root, depth + 1) for name in names}
        case "array":
            items = schema.get("items", {})
            return [smallest(items, root, depth + 1) for _ in range(int(schema.get("minItems") or 0))]
        case "number" | "integer":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return "none"


def _follow(schema: Any, root: Json, depth: int = 0) -> Json:
    """The schema itself, references followed."""
    if isinstance(schema, dict) and "$ref" in schema and depth < 20:
        node: Any = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            node = node.get(part, {}) if isinstance(node, dict) else {}
        return _follow(node, root, depth + 1)
    return schema if isinstance(schema, dict) else {}


def _entries(entries: Sequence[Json], schema: Any, root: Json) -> list[Json]:
    """Plan entries ``{content, status, priority}`` in the shape that a todo tool wants."""
    item = _follow(_follow(schema, root).get("items", {}), root)
    properties = item.get("properties") or {"content": {}, "status": {}}
    rows = []
    for number, entry in enumerate(entries, 1):
        row: Json = {}
        for name in properties:
            match name:
                case "content" | "description" | "step" | "text" | "title" | "activeForm":
                    row[name] = entry["content"]
                case "status":
                    row[name] = entry.get("status", "pending")
                case "priority":
                    row[name] = entry.get("priority", "medium")
                case "id":
                    row[name] = str(number)
                case _ if name in (item.get("required") or []):
                    row[name] = smallest(properties[name], root)
        rows.append(row)
    return rows
