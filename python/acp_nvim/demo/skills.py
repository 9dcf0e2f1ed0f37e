"""How the demo does each thing it understands, on the user's own files."""

from __future__ import annotations

from pathlib import Path

from . import modes
from .project import DemoError, Match
from .requests import Create, Replace, Search, Show
from .turn import Turn, content, diff, location

LISTED = 40  # files, matches or lines shown in an answer


async def list_files(turn: Turn, where: str | None = None) -> list[Path]:
    below = await turn.project.find(where) if where else None
    async with turn.call("search", f"files in {where}" if where else "all files") as call:
        paths = [path async for path in turn.project.files(below)]
        names = [turn.project.show(path) for path in paths]
        await call.update(
            "completed", content=[content("\n".join(names[:LISTED]))], rawOutput={"files": len(names)}
        )
    listed = "\n".join(f"- `{name}`" for name in names[:LISTED])
    await turn.say(
        f"{count(len(names), 'file')} here:\n\n{listed}{more(len(names))}"
        if names
        else "There are no files here."
    )
    return paths


async def show(turn: Turn, wanted: Show) -> None:
    path = await named(turn, wanted.name)
    if path.is_dir():
        await list_files(turn, turn.project.show(path))
        return
    text = await read(turn, path, wanted.first)
    lines = text.splitlines()
    first = wanted.first or 1
    chosen = lines[first - 1 : wanted.last]
    if lines and not chosen:
        raise DemoError(f"`{turn.project.show(path)}` has only {count(len(lines), 'line')}.")
    body = "\n".join(chosen[:LISTED])
    fence = "````" if "```" in body else "```"
    where = f" from line {first}" if first > 1 else ""
    head = f"`{turn.project.show(path)}`{where}, {count(len(chosen), 'line')}:"
    await turn.say(f"{head}\n\n{fence}{path.suffix[1:]}\n{body}\n{fence}{more(len(chosen), 'lines')}")


async def read(turn: Turn, path: Path, line: int | None = None) -> str:
    """Read a file as a tool call of its own."""
    async with turn.call("read", f"Read {turn.project.show(path)}", locations=[location(path, line)]):
        await turn.beat(4)
        return await turn.read(path)


async def search(turn: Turn, wanted: Search) -> None:
    below = await turn.project.find(wanted.where) if wanted.where else None
    found = await look_for(turn, wanted.text, below)
    if not found:
        await turn.say(f"Nothing here contains `{wanted.text}`.")
        return
    rows = "\n".join(
        f"| {turn.project.show(match.path)} | {match.line} | {cell(match.text)} |" for match in found[:LISTED]
    )
    head = (
        f"`{wanted.text}` is in {count(len(found), 'line')} of {count(len({m.path for m in found}), 'file')}:"
    )
    await turn.say(
        f"{head}\n\n| file | line | text |\n| --- | ---: | --- |\n{rows}{more(len(found), 'lines')}"
    )


async def look_for(turn: Turn, text: str, below: Path | None = None) -> list[Match]:
    """Search as a tool call of its own."""
    async with turn.call("search", text, rawInput={"pattern": text}) as call:
        await turn.beat(4)
        found = await turn.project.search(text, below)
        lines = "\n".join(f"{turn.project.show(m.path)}:{m.line}: {m.text}" for m in found[:LISTED])
        await call.update(
            "completed",
            locations=[location(match.path, match.line) for match in found[:LISTED]],
            content=[content(lines)] if lines else [],
            rawOutput={"matches": len(found)},
        )
    return found


async def replace(turn: Turn, wanted: Replace) -> None:
    if not wanted.old:
        raise DemoError("I cannot replace an empty text.")
    if not wanted.everywhere:
        path = await named(turn, wanted.name)
        if path.is_dir():
            raise DemoError(f"`{turn.project.show(path)}` is a folder. Name a file, or say `in all files`.")
        await replace_in(turn, path, wanted.old, wanted.new)
        return
    await turn.think(f"First I have to know which files contain “{wanted.old}”.")
    paths = [path async for path, text in turn.project.texts() if wanted.old in text]
    if not paths:
        await turn.say(f"Nothing here contains `{wanted.old}`.")
        return
    if wanted.at_once:
        await replace_at_once(turn, paths, wanted.old, wanted.new)
        return
    await turn.say(f"{count(len(paths), 'file')} to change. I ask for each.")
    for path in paths:
        await replace_in(turn, path, wanted.old, wanted.new)


async def replace_in(turn: Turn, path: Path, old: str, new: str) -> None:
    """Replace all occurrences in one file: read, propose, ask, write, tell."""
    shown = turn.project.show(path)
    await turn.think(f"I read {shown} and look for “{old}” in it.")
    text = await read(turn, path)
    times = text.count(old)
    if not times:
        raise DemoError(f"`{shown}` does not contain `{old}`.")
    line = text[: text.index(old)].count("\n") + 1
    if await edit(turn, path, text, text.replace(old, new), line):
        await turn.say(
            f"Done: {count(times, 'replacement')} of `{old}` by `{new}` in `{shown}`, from line {line} on."
        )


async def replace_at_once(turn: Turn, paths: list[Path], old: str, new: str) -> None:
    """Replace in several files with one tool call and one question."""
    texts = {path: await read(turn, path) for path in paths}
    texts = {path: text for path, text in texts.items() if old in text}  # the editor may know better
    if not texts:
        raise DemoError(f"Nothing here contains `{old}` any more.")
    title = f"Edit {count(len(texts), 'file')}"
    await modes.may_change(turn, f"Replace `{old}` by `{new}` in {count(len(texts), 'file')}")
    change = {
        "content": [diff(path, text, text.replace(old, new)) for path, text in texts.items()],
        "locations": [
            location(path, text[: text.index(old)].count("\n") + 1) for path, text in texts.items()
        ],
    }
    async with turn.call("edit", title, "pending", **change) as call:
        answer = await turn.ask(
            call, "edit", "Allow all edits in this chat", title=title, kind="edit", **change
        )
        if answer != "allowed":
            await call.update("failed")
            await turn.say("All right, they stay as they are. Tell me what to do instead.")
            return
        await call.update("in_progress")
        for path, text in texts.items():
            if await turn.has_changed(path, text):
                shown = turn.project.show(path)
                raise DemoError(f"`{shown}` has changed while I asked, so I stopped there. Ask me again.")
            await turn.write(path, text.replace(old, new))
    await turn.say(f"Done: `{old}` is `{new}` in {count(len(texts), 'file')}.")


async def create(turn: Turn, wanted: Create) -> None:
    path = turn.project.inside(wanted.name)
    if path.exists():
        raise DemoError(f"`{turn.project.show(path)}` exists already. `replace X by Y in …` changes it.")
    if await edit(turn, path, None, wanted.text.rstrip("\n") + "\n"):
        await turn.say(f"Done: `{turn.project.show(path)}` is there.")


async def edit(turn: Turn, path: Path, old: str | None, new: str, line: int | None = None) -> bool:
    """Propose a change, ask, write. Whether it was done; a refusal is answered here."""
    shown = turn.project.show(path)
    title = f"Create {shown}" if old is None else f"Edit {shown}"
    await modes.may_change(turn, title)
    change = {"content": [diff(path, old, new)], "locations": [location(path, line)]}
    async with turn.call("edit", title, "pending", **change) as call:
        answer = await turn.ask(
            call, "edit", "Allow all edits in this chat", title=title, kind="edit", **change
        )
        if answer != "allowed":
            await call.update("failed")
            await turn.say(f"All right, `{shown}` stays as it is. Tell me what to do instead.")
            return False
        await call.update("in_progress")
        if await turn.has_changed(path, old):
            raise DemoError(f"`{shown}` has changed while I asked, so I did not touch it. Ask me again.")
        await turn.write(path, new)
        await turn.beat(4)
    return True


async def named(turn: Turn, name: str | None) -> Path:
    """The file of a request: the one it names, else the first one attached to the prompt."""
    if name is not None:
        return await turn.project.find(name)
    if turn.attached:
        return turn.project.inside(str(turn.attached[0]))
    raise DemoError("In which file? Name it, or attach it with `@`.")


def count(number: int, thing: str) -> str:
    return f"{number:,} {thing if number == 1 else thing + 's'}"


def more(number: int, things: str = "files") -> str:
    return f"\n\n… and {number - LISTED:,} more {things}." if number > LISTED else ""


def cell(text: str) -> str:
    """A line of a file as a cell of a table."""
    text = text if len(text) <= 60 else text[:59] + "…"
    return f"`{text}`".replace("|", "\\|") if "`" not in text else text.replace("|", "\\|")
