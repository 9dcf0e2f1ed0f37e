"""Files that go or get another name. ACP has no method for either, so the demo does it on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from . import modes
from .project import DemoError, delete_disk, exists, move_disk
from .requests import Delete, Move
from .skills import named
from .turn import Turn, content, location


async def delete(turn: Turn, wanted: Delete) -> None:
    """Delete one file."""
    path = await named(turn, wanted.name)
    shown = turn.project.show(path)
    if path.is_dir():
        raise DemoError(f"`{shown}` is a folder. The demo deletes single files only.")
    fields = {"locations": [location(path)], "rawInput": {"path": str(path)}}
    if await agreed(turn, "delete", f"Delete {shown}", **fields):
        await turn.say(f"Done: `{shown}` is gone.")


async def move(turn: Turn, wanted: Move) -> None:
    """Move or rename one file."""
    path = await turn.project.find(wanted.name)
    target = turn.project.inside(wanted.target)
    if target.is_dir():
        target /= path.name
    shown, there = turn.project.show(path), turn.project.show(target)
    if path.is_dir():
        raise DemoError(f"`{shown}` is a folder. The demo moves single files only.")
    if exists(target):
        raise DemoError(f"`{there}` exists already.")
    fields = {
        "content": [content(f"{shown} → {there}")],
        "locations": [location(path), location(target)],
        "rawInput": {"source": str(path), "destination": str(target)},
    }
    if await agreed(turn, "move", f"Move {shown} to {there}", **fields):
        await turn.say(f"Done: `{shown}` is now `{there}`.")


async def agreed(turn: Turn, kind: Literal["delete", "move"], title: str, **fields: Any) -> bool:
    """Ask for a deletion or a move and do it. Whether it was done; a refusal is answered here."""
    await modes.may_change(turn, title)
    paths = [Path(each["path"]) for each in fields["locations"]]
    async with turn.call(kind, title, "pending", **fields) as call:
        answer = await turn.ask(call, kind, f"Always {kind} in this chat", title=title, kind=kind, **fields)
        if answer != "allowed":
            await call.update("failed")
            await turn.say("All right, everything stays where it is. Tell me what to do instead.")
            return False
        await call.update("in_progress")
        if kind == "delete":
            delete_disk(*paths)
        else:
            move_disk(*paths)
        await turn.beat(4)
    return True
