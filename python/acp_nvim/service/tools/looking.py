"""open_buffers, diagnostics, selection: what the user has before them, as far as it is the project's."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from anyio import to_thread

from acp_nvim.session.content import Location
from acp_nvim.session.ports import RequestError

from .given import Diagnostics, Given
from .kit import Done, Job
from .secret import open_ones

INTERNAL_ERROR = -32603

MODULE = "acp.tools"
#: Diagnostics that are told, and buffers.
MOST_DIAGNOSTICS = 200
MOST_BUFFERS = 500


async def open_buffers(job: Job, _given: Given) -> Done:
    """Names of files in buffers: not of those outside."""
    found = _list(await job.kit.editor.call(MODULE, "buffers", job.kit.files.chat(job.session)))
    inside = await _inside(job, [str(each["path"]) for each in found])
    told = [_entry(each, job.short(inside[each["path"]])) for each in found if each["path"] in inside]
    return Done(_list_of(told[:MOST_BUFFERS]) if told else "(no file of the project is open)")


async def diagnostics(job: Job, given: Diagnostics) -> Done:
    """What language servers and linters say of files that are open."""
    only: str | None = None
    if given.path:
        place = await job.kit.files.place(job.session, job.path(given.path))
        if place.why == "outside":
            raise RequestError(INTERNAL_ERROR, f"it is not a file of the project: {place.path}")
        await job.read(place)
        only = place.real
        job.show(locations=[Location(place.path)])
    answer = await job.kit.editor.call(MODULE, "diagnostics", only, MOST_DIAGNOSTICS)
    found = _list(answer.get("found"))
    if only is not None:
        if not answer.get("loaded"):
            return Done("(the file is not open in the editor: nothing is known of it)")
        inside = {str(each["path"]): only for each in found}
    else:
        inside = await _inside(job, [str(each["path"]) for each in found])
        protected = tuple(job.kit.files.protected())
        look = partial(open_ones, inside.values(), job.roots, protected)
        told_of = await to_thread.run_sync(look, abandon_on_cancel=True)
        ignored = {
            real: await job.kit.git.ignored(real, job.roots)
            for real in sorted(set(inside.values()) & told_of)
        }
        inside = {path: real for path, real in inside.items() if ignored.get(real) is False}
    told = [_entry(each, job.short(inside[each["path"]])) for each in found if each["path"] in inside]
    if not told:
        return Done("(none)")
    more = "\n(there are more)" if answer.get("more") else ""
    return Done(_list_of(told) + more)


async def selection(job: Job, _given: Given) -> Done:
    """Where the cursor is in the code, and what was last selected there."""
    found = await job.kit.editor.call(MODULE, "selection", job.kit.files.chat(job.session))
    path = found.get("path") if isinstance(found, dict) else None
    if not path:
        return Done("(no file is shown)")
    place = await job.kit.files.place(job.session, str(path))
    if place.why == "outside":
        return Done("(the file that is shown is not one of the project)")
    if found.get("text"):
        await job.read(place)
    job.show(locations=[Location(place.path, int(found["line"]))])
    return Done(_entry(found, job.short(place.path)))


async def _inside(job: Job, paths: list[str]) -> dict[str, str]:
    """Of these paths those under the session's roots, with where they lead."""
    found = {}
    for path in dict.fromkeys(paths):
        try:
            place = await job.kit.files.place(job.session, path)
        except RequestError:
            continue
        if place.why != "outside":
            found[path] = place.real
    return found


def _list(value: Any) -> list[dict[str, Any]]:
    """Lua's empty table is a list or a map."""
    return list(value) if isinstance(value, list | tuple) else []


def _entry(told: dict[str, Any], path: str) -> str:
    """In one order: Lua's tables have none."""
    rest = {name: told[name] for name in sorted(told) if name != "path"}
    return json.dumps({"path": path, **rest}, ensure_ascii=False)


def _list_of(entries: list[str]) -> str:
    """One line an entry."""
    return "[\n" + ",\n".join(entries) + "\n]"
