"""To see how the editor behaves when things are not as usual: a conflict, long output, silence."""

from __future__ import annotations

import asyncio
from pathlib import Path

from . import modes, running, skills
from .project import DemoError
from .requests import Conflict, Output, Silence
from .turn import Turn, diff, location

CONFLICT_S = 15.0  # enough to go there and type something
SILENCE_S = 75.0  # more than the 60 s after which the editor says so
LINES = 50
ADDED = "A line of the demo agent."


async def conflict(turn: Turn, wanted: Conflict) -> None:
    """Read a file, let the user change it, write it all the same: it is the editor that has to ask.

    In version 2 of the protocol the demo writes on the disk, and the editor has to notice.
    """
    if not turn.session.client.writes and not turn.session.speech.states:
        raise DemoError("A conflict needs an editor that writes for me; this one does not.")
    path = await _victim(turn, wanted.name)
    shown, seconds = turn.project.show(path), CONFLICT_S if wanted.seconds is None else wanted.seconds
    text = await skills.read(turn, path)
    end = "\r\n" if "\r\n" in text else "\n"
    new = text + ("" if not text or text.endswith("\n") else end) + ADDED + end
    title = f"Edit {shown}"
    await modes.may_change(turn, title)
    change = {"content": [diff(path, text, new)], "locations": [location(path, new.count("\n"))]}
    async with turn.call("edit", title, "pending", **change) as call:
        answer = await turn.ask(
            call, "edit", "Allow all edits in this chat", title=title, kind="edit", **change
        )
        if answer != "allowed":
            await call.update("failed")
            await turn.say(f"All right, `{shown}` stays as it is.")
            return
        await call.update("in_progress")
        await turn.say(
            f"Now change `{shown}` yourself. In {seconds:g} seconds I write what I know of it, without "
            "another look: a careless agent. Your editor should see to it that nothing of yours is lost."
        )
        await asyncio.sleep(seconds)
        await turn.write(path, new)
    await turn.say(f"`{shown}` is written.")


async def output(turn: Turn, wanted: Output) -> None:
    """A command that takes its time, with a line each 200 ms."""
    lines = wanted.lines or LINES
    await running.run(
        turn, f'i=0; while [ $i -lt {lines} ]; do i=$((i+1)); echo "line $i of {lines}"; sleep 0.2; done'
    )


async def silence(turn: Turn, wanted: Silence) -> None:
    """A step during which nothing is said."""
    seconds = SILENCE_S if wanted.seconds is None else wanted.seconds
    async with turn.call("other", f"{seconds:g} s of silence"):
        await asyncio.sleep(seconds)
    await turn.say(f"I am back, after {seconds:g} seconds.")


async def _victim(turn: Turn, name: str | None) -> Path:
    """The file that is named or attached, else a text the user will hardly miss a line in."""
    if name is not None or turn.attached:
        path = await skills.named(turn, name)
    else:
        texts = [path async for path, _ in turn.project.texts()]
        texts.sort(key=lambda path: (path.suffix not in (".md", ".txt"), path.name.lower() != "readme.md"))
        if not texts:
            raise DemoError("There is no text file here to have a conflict in.")
        path = texts[0]
    if path.is_dir():
        raise DemoError(f"`{turn.project.show(path)}` is a folder. Name a file.")
    return path
