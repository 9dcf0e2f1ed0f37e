"""The pages for people: each known agent has its part, links and pictures lead somewhere, commands exist."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "doc").glob("*.md"))]
ENTRIES = sorted((ROOT / "lua/acp/catalog").glob("*.json"))
LATER = {ROOT / "bench/results.md"}
"""What is written by a target of the Makefile, and may not be there."""

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?<![\w/]):(?:\d+|\[N\]|\[range\]|'<,'>)?(Acp\w+)")
KILOBYTES = 20


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """The anchors a page has for its headings, as web sites make them."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def section(name: str) -> str:
    """The part of the agents' page about one."""
    found = re.search(rf"^## {re.escape(name)}: .*?(?=^## |\Z)", text_of(ROOT / "doc/agents.md"), re.M | re.S)
    assert found, f"doc/agents.md has no part '## {name}: …'"
    return " ".join(found[0].split())


@pytest.mark.parametrize("path", ENTRIES, ids=lambda path: path.stem)
def test_an_agent_has_its_part(path: Path) -> None:
    entry: dict[str, Any] = json.loads(text_of(path))
    part = section(entry["name"])
    assert part.startswith(f"## {entry['name']}: {entry['title']} ")
    for wanted in (entry["install"], entry["login"], " ".join(entry["command"])):
        assert f"`{wanted}`" in part, wanted
    for wanted in (entry["home"], "- Tried: ", *entry.get("env", {}), entry.get("note_unless", "")):
        assert wanted in part, wanted


def test_no_part_is_about_an_agent_that_is_not_known() -> None:
    parts = re.findall(r"^## ([\w-]+): ", text_of(ROOT / "doc/agents.md"), re.MULTILINE)
    assert parts == [*sorted(path.stem for path in ENTRIES), "demo"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(text_of(page)):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists() or file in LATER, target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_help_tags_exist(page: Path) -> None:
    text, the_help = text_of(page), text_of(ROOT / "doc/acp.txt")
    commands = set(re.findall(r"command\(\s*'(Acp\w+)'", text_of(ROOT / "plugin/acp.lua")))
    assert set(COMMAND.findall(text)) <= commands
    tags = set(re.findall(r"(?<!\S)\*(\S+)\*(?!\S)", the_help))
    assert set(re.findall(r":help (acp[\w-]*)", text)) <= tags


def test_make_targets_exist() -> None:
    makefiles = "\n".join(text_of(ROOT / name) for name in ("Makefile", "bench/bench.mk", "tools/demo.mk"))
    targets = set(re.findall(r"^([a-z-]+):", makefiles, re.MULTILINE))
    for page in [*PAGES, ROOT / "doc/acp.txt"]:
        assert set(re.findall(r"(?:`|^\s*)make ([a-z-]+)", text_of(page), re.MULTILINE)) <= targets, page


def test_pictures_are_shown_and_small() -> None:
    pictures = sorted((ROOT / "doc/img").glob("*.svg"))
    shown = {(page.parent / link).resolve() for page in PAGES for link in LINK.findall(text_of(page))}
    assert [picture for picture in pictures if picture.resolve() not in shown] == []
    for picture in pictures:
        assert picture.stat().st_size < KILOBYTES * 1024
        assert 'fill="#14161b"' in text_of(picture), "a background of its own, for light and dark pages"
