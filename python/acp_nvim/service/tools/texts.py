"""read_file, write_file, edit_file: through the buffers, as an ACP agent's requests."""

from __future__ import annotations

from acp_nvim.session.content import Location
from acp_nvim.session.ports import RequestError

from .given import EditFile, ReadFile, WriteFile
from .kit import Done, Job, bounded

INTERNAL_ERROR = -32603

#: Characters of one read.
MOST_CHARS = 200_000


async def read_file(job: Job, given: ReadFile) -> Done:
    """Some lines of a file, as the user has it now."""
    path = job.path(given.path)
    last = given.first + given.lines - 1
    whole = "lines" not in _said(job) and given.first == 1
    place = Location(path) if whole else Location(path, given.first, last)
    job.show(locations=[place])
    text = await job.kit.files.read(job.session, path, None, None, job)
    lines = _lines(text)
    some, cut = bounded("".join(lines[given.first - 1 : last]), MOST_CHARS)
    if not text:
        return Done("(the file is empty)")
    if given.first > len(lines):
        return Done(f"(the file has only {len(lines)} lines)")
    if cut or last < len(lines) or given.first > 1:
        shown = given.first + some.count("\n") - (1 if some.endswith("\n") else 0)
        note = f"(lines {given.first} to {shown} of {len(lines)}{', the last one cut' if cut else ''})"
        some += ("" if some.endswith("\n") else "\n") + note
    return Done(some)


async def write_file(job: Job, given: WriteFile) -> Done:
    """The whole text of a file, which need not be there yet."""
    path = job.path(given.path)
    job.show(locations=[Location(path)])
    diff = await job.kit.files.change(job.session, path, lambda _old: given.text, job, reads=False)
    return Done("written" if diff.old_text is not None else "created", [diff])


async def edit_file(job: Job, given: EditFile) -> Done:
    """A piece of a file for another, if it is clear which piece is meant."""
    path = job.path(given.path)
    job.show(locations=[Location(path)])
    if given.old_text == given.new_text:
        raise RequestError(INTERNAL_ERROR, "old_text and new_text are the same: nothing would change")
    count = 0

    def make(old: str | None) -> str:
        nonlocal count
        if old is None:
            raise RequestError(INTERNAL_ERROR, f"no such file: {path}")
        count = old.count(given.old_text)
        if count == 0:
            raise RequestError(INTERNAL_ERROR, "old_text is not in the file: read it again")
        if count > 1 and not given.replace_all:
            many = (
                f"old_text is in the file {count} times: give more of the text around it, or set replace_all"
            )
            raise RequestError(INTERNAL_ERROR, many)
        return old.replace(given.old_text, given.new_text)

    diff = await job.kit.files.change(job.session, path, make, job, reads=True)
    return Done(f"replaced {count} times" if count > 1 else "replaced", [diff])


def _lines(text: str) -> list[str]:
    """Lines end at LF alone, as editors count them."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _said(job: Job) -> dict[str, object]:
    return job.call.input if isinstance(job.call.input, dict) else {}
