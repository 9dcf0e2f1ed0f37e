"""doc/security.md names the tests that hold its promises: each of them exists, and each promise has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "doc/security.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)
WITHOUT = ("Security", "Who is trusted, and how far", "Report a vulnerability")
"""Sections that promise nothing."""


def names_in(path: Path) -> set[str]:
    """The tests of a file; those that always skip themselves hold nothing."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not any(re.search(r"mark\.skip\b", ast.unparse(each)) for each in node.decorator_list)
    }


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_each_named_test_exists(file: str) -> None:
    wanted = {name for named, name in NAMED if named == file}
    assert wanted <= names_in(ROOT / file)


def test_each_promise_names_a_test() -> None:
    for section in re.split(r"^#+ ", TEXT, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        if title in WITHOUT:
            continue
        promises = re.split(r"^- ", body, flags=re.MULTILINE)
        assert "`tests/" in body, title
        for promise in promises[1:]:
            assert "`tests/" in promise, f"{title}: {promise[:80]}"
    assert len(NAMED) > 60
    assert len(re.findall("tests/", TEXT)) == len(NAMED), "a name that is not read as one"


def test_it_is_linked_where_people_look() -> None:
    assert "doc/security.md" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "security.md" in (ROOT / "doc/acp.txt").read_text(encoding="utf-8")
