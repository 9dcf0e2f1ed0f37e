"""The catalog of agents: every entry has the fields the plugin relies on, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

CATALOG = Path(__file__).parents[2] / "lua/acp/catalog"
ENTRIES = sorted(CATALOG.glob("*.json"))

LINE = {"type": "string", "pattern": r"^\S(.*\S)?$", "maxLength": 200}
VARIABLE = r"^[A-Z][A-Z0-9_]*$"
SCHEMA = {
    "type": "object",
    "required": ["name", "title", "command", "install", "login", "home"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": r"^[A-Za-z0-9_.-]+$"},
        "title": {**LINE, "maxLength": 30},
        "command": {"type": "array", "minItems": 1, "items": {**LINE, "pattern": r"^\S+$"}},
        "install": LINE,
        "login": LINE,
        "home": {"type": "string", "pattern": r"^https://\S+$"},
        "env": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": VARIABLE},
            "additionalProperties": {"type": "string"},
        },
        "quirks": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {"missing_file": {"enum": ["empty"]}},
        },
        "note": LINE,
        "note_unless": {"type": "string", "pattern": VARIABLE},
    },
    "dependentRequired": {"note_unless": ["note"]},
}

WANTED = {
    *("auggie", "claude", "codex", "copilot", "cursor", "gemini", "goose", "kimi", "opencode", "qwen"),
    *("cline", "droid", "qoder", "vibe"),
}


def read(path: Path) -> dict[str, Any]:
    entry = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(entry, dict)
    return entry


@pytest.mark.parametrize("path", ENTRIES, ids=lambda path: path.stem)
def test_an_entry(path: Path) -> None:
    entry = read(path)
    jsonschema.Draft202012Validator(SCHEMA).validate(entry)
    assert entry["name"] == path.stem
    assert "/" not in entry["command"][0], "a name to be looked for in PATH"
    if "note_unless" in entry:
        assert entry["note_unless"] in entry["note"], "the note names the remedy"
    if "note" in entry:
        assert f"agents.{entry['name']}." in entry["note"]


def test_the_schema_itself() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_which_agents_there_are() -> None:
    assert {path.stem for path in ENTRIES} == WANTED


def test_no_two_agents_are_one_program() -> None:
    commands = [tuple(read(path)["command"]) for path in ENTRIES]
    assert len(set(commands)) == len(commands)


def test_nothing_is_approved_by_a_setting_of_ours() -> None:
    """No catalog entry switches the agent's own questions off."""
    for path in ENTRIES:
        entry = read(path)
        words = " ".join([*entry["command"], *entry.get("env", {}), *entry.get("env", {}).values()]).lower()
        assert not re.search(r"yolo|bypass|dangerous|allow-all|auto[-_]?approve|skip-perm", words), path.stem
