"""Which tests hold which requirement: ``make conformance`` writes acp_v1.md, acp_v2.md and aap_v3.md.

The ids stand in requirements_v1.toml, …; what is not built stands, with a reason, in not_applicable.toml. A
test holds a requirement by its marker ``req``. Tests that do not run in every ``make test`` do not count:
those with a marker skip, skipif, long or agents. (What a test skips while it runs is watched by
tests/plugin.)

The markers are read from the files as they stand, which takes a second, so that ``make lint`` can compare
the tables with them (``--check``). A test compares that with what pytest collects.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
VERSIONS = ("v1", "v2", "aap")
NAMES = {"v1": "ACP v1", "v2": "ACP v2", "aap": "AAP v3"}
OUTPUT = "ACP_TEST_COVERAGE"
NOT_ALWAYS = ("skip", "skipif", "long", "agents")

Tests: TypeAlias = dict[str, list[str]]  # id -> "tests/…/test_x.py::test_y"


class Requirement(NamedTuple):
    section: str
    level: str
    words: str


def table(version: str) -> Path:
    return HERE / f"{NAMES[version].lower().replace(' ', '_')}.md"


def requirements(version: str) -> dict[str, Requirement]:
    """By id, in order."""
    sections = tomllib.loads((HERE / f"requirements_{version}.toml").read_text(encoding="utf-8"))
    return {
        ident: Requirement(section, level, words)
        for section, entries in sections.items()
        for ident, (level, words) in entries.items()
    }


def reasons(version: str) -> dict[str, str]:
    """The requirements no test has to hold, with the reason."""
    known = tomllib.loads((HERE / "not_applicable.toml").read_text(encoding="utf-8"))
    return {ident: why for ident, why in known.items() if ident.startswith(version.upper())}


def read() -> Tests:
    """The markers of all tests of ``make test``, as they stand in their files."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders: list[str] = settings["tool"]["pytest"]["ini_options"]["testpaths"]
    found: dict[str, set[str]] = {}
    for path in (each for folder in folders for each in (ROOT / folder).rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "mark.req(" in text:  # most have none: they need not be parsed
            for test, ident in _held(ast.parse(text)):
                found.setdefault(ident, set()).add(f"{path.relative_to(ROOT).as_posix()}::{test}")
    return {ident: sorted(names) for ident, names in found.items()}


def _held(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Each test of a file with each id that it holds."""
    common = [
        mark
        for node in module.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
        for mark in (node.value.elts if isinstance(node.value, ast.List) else [node.value])
    ]
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            marks = [_mark(each) for each in (*common, *node.decorator_list)]
            if {name for name, _ in marks}.isdisjoint(f"pytest.mark.{name}" for name in NOT_ALWAYS):
                yield from ((node.name, ident) for _, idents in marks for ident in idents)


def _mark(node: ast.expr) -> tuple[str, Sequence[str]]:
    """The name of a decorator, and its arguments if it is about requirements."""
    if not isinstance(node, ast.Call):
        return ast.unparse(node), ()
    name = ast.unparse(node.func)
    return name, [ast.literal_eval(each) for each in node.args] if name == "pytest.mark.req" else ()


class Collector:
    """The pytest plugin that writes down what was collected."""

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        found: dict[str, dict[str, None]] = {}
        for item in items:
            if any(item.get_closest_marker(name) for name in NOT_ALWAYS):
                continue
            test = item.nodeid.partition("[")[0]
            for marker in item.iter_markers("req"):
                for ident in marker.args:
                    found.setdefault(ident, {})[test] = None
        tests = {ident: sorted(names) for ident, names in found.items()}
        Path(os.environ[OUTPUT]).write_text(json.dumps(tests), encoding="utf-8")


def collect() -> Tests:
    """Let pytest collect all tests of ``make test``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tests.json")
        command = [sys.executable, "-m", "tests.conformance.coverage", "collect"]
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, OUTPUT: str(path)}, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"the tests could not be collected:\n{done.stdout}{done.stderr}")
        tests: Tests = json.loads(path.read_text(encoding="utf-8"))
        return tests


def render(version: str, tests: Mapping[str, Sequence[str]]) -> str:
    """The text of a table."""
    wanted, left_out = requirements(version), reasons(version)
    held = sum(1 for ident in wanted if tests.get(ident))
    lines = [
        f"# What holds the requirements of {NAMES[version]}",
        "",
        'Made by `make conformance` from the tests\' markers (`@pytest.mark.req("V1-80")`); see',
        "`tests/conformance/coverage.py`. A level with `*` is not stated by the protocol's pages: it follows",
        "from its schema, or from how agents and clients work together.",
        "",
        f"{held} of {len(wanted)} requirements are held by tests, {len(left_out)} are not built.",
    ]
    section = ""
    for ident, requirement in wanted.items():
        if requirement.section != section:
            section = requirement.section
            lines += ["", f"## {section}", "", "| Id | Level | About | Tests |", "| --- | --- | --- | --- |"]
        cell = _cell(tests.get(ident, ())) or f"not built: {left_out.get(ident, 'no test')}"
        lines.append(f"| {ident} | {requirement.level} | {requirement.words} | {cell} |")
    return "\n".join(lines) + "\n"


def _cell(names: Sequence[str]) -> str:
    """``file: test, test`` for each file."""
    files: dict[str, list[str]] = {}
    for name in names:
        path, _, test = name.partition("::")
        files.setdefault(path.removeprefix("tests/"), []).append(f"`{test}`")
    return "<br>".join(f"{path}: {', '.join(tests)}" for path, tests in files.items())


def main() -> int:
    if sys.argv[1:] == ["collect"]:
        return int(
            pytest.main(["--collect-only", "-q", "--no-header", "-p", "no:cacheprovider"], [Collector()])
        )
    tests = read()
    if sys.argv[1:] == ["--check"]:
        stale = [each for each in VERSIONS if table(each).read_text(encoding="utf-8") != render(each, tests)]
        if stale:
            names = ", ".join(table(each).name for each in stale)
            sys.exit(f"not up to date in tests/conformance: {names}; run: make conformance")
        return 0
    for version in VERSIONS:
        table(version).write_text(render(version, tests), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
