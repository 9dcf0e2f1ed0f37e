"""Updates of tool calls: three-state fields, content, locations, diffs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.protocol.acp_v2.bench import (
    Bench,
    item,
    opened,
    text,
    tool,
)

from acp_nvim.session.content import Change, Diff, Location
from acp_nvim.session.entities import ToolCall

pytestmark = pytest.mark.anyio


async def said(bench: Bench, *updates: dict[str, Any]) -> None:
    bench.says(*updates)
    await bench.settle()


FULL: dict[str, Any] = {
    "title": "Edit",
    "name": "edit_file",
    "kind": "edit",
    "status": "in_progress",
    "content": [{"type": "content", "content": text("x")}],
    "locations": [{"path": "/ws/a", "line": 3}],
    "rawInput": {"a": 1},
    "rawOutput": [1],
    "capabilities": {"cancel": {}},
}
FIELDS = ("title", "name", "kind", "status", "content", "locations", "raw_input", "raw_output", "can_cancel")


def fields(call: ToolCall) -> dict[str, Any]:
    shown = {name: getattr(call, name) for name in FIELDS}
    return {**shown, "content": len(call.content)}


KNOWN: dict[str, Any] = {
    "title": "Edit",
    "name": "edit_file",
    "kind": "edit",
    "status": "in_progress",
    "content": 1,
    "locations": [Location("/ws/a", 3)],
    "raw_input": {"a": 1},
    "raw_output": [1],
    "can_cancel": True,
}
DEFAULTS: dict[str, Any] = {
    "title": "",
    "name": None,
    "kind": "other",
    "status": "pending",
    "content": 0,
    "locations": [],
    "raw_input": None,
    "raw_output": None,
    "can_cancel": False,
}


@pytest.mark.req("V2-85", "V2-87", "V2-88")
async def test_the_first_update_creates_the_call_with_defaults() -> None:
    async with opened() as bench:
        await said(bench, tool("new"))
        assert fields(bench.session.tool_calls["new"]) == DEFAULTS


@pytest.mark.req("V2-83", "V2-85", "V2-86", "V2-88", "V2-96")
@pytest.mark.parametrize("wire", FULL)
async def test_each_field_of_a_call_has_three_states(wire: str) -> None:
    name = {"rawInput": "raw_input", "rawOutput": "raw_output", "capabilities": "can_cancel"}.get(wire, wire)
    async with opened() as bench:
        await said(bench, tool(**FULL), tool())
        call = bench.session.tool_calls["c1"]
        assert fields(call) == KNOWN
        if wire not in ("rawInput", "rawOutput"):  # any JSON
            await said(bench, {**tool(), wire: 7.5})
            assert fields(call) == KNOWN
        await said(bench, {**tool(), wire: None})
        assert fields(call) == {**KNOWN, name: DEFAULTS[name]}
        await said(bench, {**tool(), wire: FULL[wire]})
        assert fields(call) == KNOWN


@pytest.mark.req("V2-89")
async def test_content_is_appended_and_replaced_in_order() -> None:
    async with opened() as bench:
        one, two, three = ({"type": "content", "content": text(each)} for each in "123")
        await said(bench, item(one), item(two))
        call = bench.session.tool_calls["c1"]
        assert [str(getattr(each, "text", "")) for each in call.content] == ["1", "2"]
        await said(bench, tool(content=[three]), item(one))
        assert [str(getattr(each, "text", "")) for each in call.content] == ["3", "1"]
        await said(bench, tool(content=[]))
        assert call.content == []


@pytest.mark.req("V2-90", "V2-91")
@pytest.mark.parametrize(
    ("status", "shown", "raw"),
    [
        ("pending", "pending", None),
        ("in_progress", "in_progress", None),
        ("paused", "paused", None),
        ("completed", "completed", None),
        ("failed", "failed", None),
        ("cancelled", "cancelled", None),
        ("_waiting_for_moon", "in_progress", "_waiting_for_moon"),
    ],
)
async def test_statuses_and_kinds(status: str, shown: str, raw: str | None) -> None:
    async with opened() as bench:
        await said(bench, tool(status="paused"), tool(status=status, kind=f"_{status}"))
        call = bench.session.tool_calls["c1"]
        assert (call.status, call.status_raw) == (shown, raw)
        assert (call.kind, call.kind_raw) == ("other", f"_{status}")


@pytest.mark.req("V2-94")
async def test_locations() -> None:
    async with opened() as bench:
        places = [
            {"path": "/ws/a", "line": 7, "endLine": 9},
            {"path": "/ws/b", "line": 0},
            {"path": "/ws/c", "line": None},
            {"line": 3},
            {"path": "d"},
        ]
        await said(bench, tool(locations=places))
        assert bench.session.tool_calls["c1"].locations == [
            Location("/ws/a", 7),
            Location("/ws/b"),
            Location("/ws/c"),
            Location("/ws/d"),
        ]


def patch(path: str, old: str = "", new: str = "") -> str:
    where = [f"--- {path if old else '/dev/null'}", f"+++ {path if new else '/dev/null'}"]
    return "\n".join([f"diff --git {path} {path}", *where, "@@ -1 +1 @@", f"-{old}", f"+{new}", ""])


@pytest.mark.req("V2-108", "V2-109", "V2-110", "V2-111", "V2-112", "V2-113", "V2-114", "V2-115")
@pytest.mark.parametrize(
    ("content", "diffs"),
    [
        (
            {"changes": [{"operation": "modify", "path": "/ws/a"}],
             "patch": {"format": "git_patch", "text": patch("/ws/a", "x", "y")}},
            [Diff((Change("modify", "/ws/a"),), None, None, "git_patch", patch("/ws/a", "x", "y"))],
        ),
        (
            {"changes": [{"operation": "add", "path": "/ws/n", "fileType": "text", "mimeType": "text/x"},
                         {"operation": "delete", "path": "/ws/o", "fileType": "symlink"},
                         {"operation": "move", "path": "/ws/q", "oldPath": "/ws/p"},
                         {"operation": "copy", "path": "/ws/s", "oldPath": "/ws/r", "fileType": "binary"},
                         {"operation": "modify", "path": "/ws/d", "fileType": "directory"}]},
            [Diff((Change("add", "/ws/n", None, "text", "text/x"),)),
             Diff((Change("delete", "/ws/o", None, "symlink"),)),
             Diff((Change("move", "/ws/q", "/ws/p"),)),
             Diff((Change("copy", "/ws/s", "/ws/r", "binary"),)),
             Diff((Change("modify", "/ws/d", None, "directory"),))],
        ),
        (
            {"changes": [{"operation": "modify", "path": "/ws/b"}, {"operation": "modify", "path": "/ws/a"},
                         {"operation": "modify", "path": "/ws/none"}],
             "patch": {"format": "git_patch", "text": patch("/ws/a", "1", "2") + patch("/ws/b", "3", "4")}},
            [Diff((Change("modify", "/ws/b"),), None, None, "git_patch", patch("/ws/b", "3", "4")),
             Diff((Change("modify", "/ws/a"),), None, None, "git_patch", patch("/ws/a", "1", "2")),
             Diff((Change("modify", "/ws/none"),))],
        ),
        (
            {"changes": [{"operation": "modify", "path": "/ws/a"}, {"operation": "add", "path": "/ws/b"}],
             "patch": {"format": "_ed", "text": "1d"}},
            [Diff((Change("modify", "/ws/a"),), None, None, "_ed", "1d"),
             Diff((Change("add", "/ws/b"),), None, None, "_ed")],
        ),
        (  # nothing of a patch is left out: what it says of other files is shown as well
            {"changes": [{"operation": "modify", "path": "/ws/a"}],
             "patch": {"format": "git_patch",
                       "text": patch("/ws/a", "1", "2") + patch("b/.envrc", "3", "4")}},
            [Diff((Change("modify", "/ws/a"),), None, None, "git_patch", patch("/ws/a", "1", "2")),
             Diff((Change("modify", "/ws/.envrc"),), None, None, "git_patch", patch("b/.envrc", "3", "4"))],
        ),
        (  # nor one that names its file in another way
            {"changes": [{"operation": "modify", "path": "/ws/a"}, {"operation": "modify", "path": "/ws/b"}],
             "patch": {"format": "git_patch", "text": "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"}},
            [Diff((Change("modify", "/ws/a"),), None, None, "git_patch",
                  "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"),
             Diff((Change("modify", "/ws/b"),), None, None, "git_patch")],
        ),
        (
            {"changes": [{"operation": "_swap", "path": "/ws/a", "oldPath": "/ws/b"}, {"operation": "add"}, 7,
                         {"operation": "add", "path": "/ws/c"}],
             "patch": None},
            [Diff((Change("_swap", "/ws/a", "/ws/b"),)), Diff((Change("add", "/ws/c"),))],
        ),
    ],
)  # fmt: skip
async def test_diffs(content: dict[str, Any], diffs: list[Diff]) -> None:
    async with opened() as bench:
        await said(bench, tool(content=[{"type": "diff", **content}]), item({"type": "diff", **content}))
        assert bench.session.tool_calls["c1"].content == [*diffs, *diffs]
