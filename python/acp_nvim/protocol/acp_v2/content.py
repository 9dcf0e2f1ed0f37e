"""Tool content of v2: wire -> model (spec sections 11 to 13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from acp_nvim.protocol.content import absolute, block
from acp_nvim.session.content import Change, Diff, TerminalRef, ToolContent, UnknownContent
from acp_nvim.text.git_patch import sections
from acp_nvim.wire.acp_v2 import tools
from acp_nvim.wire.base import UnknownType


def contents(items: Sequence[tools.ToolCallContent], cwd: str) -> list[ToolContent]:
    """The content of a tool call."""
    return [each for item in items for each in content(item, cwd)]


def content(item: tools.ToolCallContent, cwd: str) -> Iterator[ToolContent]:
    """One item; a diff of several files becomes one for each file."""
    match item:
        case tools.ContentItem():
            yield block(item.content)
        case tools.DiffItem():
            yield from _diffs(item, cwd)
        case tools.TerminalItem():
            yield TerminalRef(item.terminal_id)
        case UnknownType():
            yield UnknownContent(item.raw)


def _diffs(item: tools.DiffItem, cwd: str) -> Iterator[Diff]:
    """``changes`` says which files there are; each takes what the patch has of it (V2-109, V2-114).

    A patch in a form we do not know is shown as it is, with the first file (V2-113), and what it says of
    other files as changes of these: nobody shall agree to what was not shown.
    """
    changes = [_change(each, cwd) for each in item.changes]
    patch = item.patch
    if patch is None:
        yield from (Diff((change,)) for change in changes)
        return
    parts = sections(patch.text) if patch.format == "git_patch" else []
    if not parts:
        for index, change in enumerate(changes):
            yield Diff((change,), patch_format=patch.format, patch=None if index else patch.text)
        return
    if len(changes) == len(parts) == 1:
        yield Diff((changes[0],), patch_format=patch.format, patch=parts[0].text)
        return
    for change in changes:
        mine = [part for part in parts if part.about(change.path, change.old_path)]
        exact = [part for part in mine if change.path in part.names] or mine
        text = exact[0].text if exact else None
        yield Diff((change,), patch_format=patch.format if text else None, patch=text)
    paths = [path for each in changes for path in (each.path, each.old_path)]
    for part in parts:
        if not part.about(*paths):
            name = min(part.names, key=lambda each: (len(each), each), default="")
            yield Diff((Change("modify", absolute(name, cwd)),), patch_format=patch.format, patch=part.text)


def _change(change: tools.DiffChange, cwd: str) -> Change:
    old_path: str | None = None
    match change:
        case tools.UnknownChange():
            path, old = change.raw.get("path"), change.raw.get("oldPath")
            return Change(
                change.kind,
                absolute(path, cwd) if isinstance(path, str) else "",
                absolute(old, cwd) if isinstance(old, str) else None,
            )
        case tools.MoveChange() | tools.CopyChange():
            old_path = absolute(change.old_path, cwd)
            op = "move" if isinstance(change, tools.MoveChange) else "copy"
        case _:
            op = _OPS[type(change)]
    return Change(op, absolute(change.path, cwd), old_path, change.file_type, change.mime_type)


_OPS: dict[type, str] = {tools.AddChange: "add", tools.DeleteChange: "delete", tools.ModifyChange: "modify"}
