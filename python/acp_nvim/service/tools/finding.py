"""list_files and search_files: by git, which leaves out what it ignores, and is ended when it takes long."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path

from anyio import to_thread

from acp_nvim.process.git import MISSING
from acp_nvim.session.asked import PathSubject
from acp_nvim.session.content import Location
from acp_nvim.session.ports import RequestError

from ..roots import Place
from . import git
from .given import INVALID, ListFiles, SearchFiles
from .kit import Done, Job, bounded
from .secret import open_ones

INTERNAL_ERROR = -32603

#: Files of a list, and matches of a search.
MOST_FILES = 1000
MOST_MATCHES = 200
#: Characters of a line that matches.
MOST_LINE = 300
#: Bytes that git may print, and seconds it may take.
MOST_BYTES = 2 * 1024 * 1024
MOST_SECONDS = 10.0
#: Entries that are looked at where there is no git.
MOST_ENTRIES = 50_000

_MATCH = re.compile(r"([^\0]+)\0(\d+)[\0:](.*)")


async def list_files(job: Job, given: ListFiles) -> Done:
    """The files below a folder, by name alone."""
    place, folder, only = await _base(job, given.path)
    job.show(title="files" if job.short(place.path) == "." else f"files of {job.short(place.path)}")
    names, more = await _names(job, folder, only)
    if not names:
        return Done("(no files; those that git ignores are not listed)", raw={"matches": 0})
    base = _as_said(place, folder)
    said = [job.short(f"{base}/{name}") for name in names]
    if more:
        said.append("(there are more: ask for a folder)")
    return Done("\n".join(said), raw={"matches": len(names)})


async def search_files(job: Job, given: SearchFiles) -> Done:
    """Lines with a text. What is in files whose contents take the user's word is not told."""
    place, folder, only = await _base(job, given.path)
    if only and place.why != "outside":  # that was asked already
        await job.read(place)
    words = await _grep(folder, given, only)
    said = await job.kit.git.run(folder, words, limit=MOST_BYTES, seconds=MOST_SECONDS)
    if said.code == 128 and given.regex and b"USE_LIBPCRE" in said.output:  # a git without them
        words[words.index("-P")] = "-E"
        said = await job.kit.git.run(folder, words, limit=MOST_BYTES, seconds=MOST_SECONDS)
    if said.code == 128 and "--untracked" in words:  # no repository after all, or a broken one
        words[words.index("--untracked")] = "--no-index"
        said = await job.kit.git.run(folder, words, limit=MOST_BYTES, seconds=MOST_SECONDS)
    if said.code == MISSING:
        raise RequestError(INTERNAL_ERROR, "git is not installed: there is no search without it")
    if said.code is not None and said.code > 1:
        raise RequestError(
            INTERNAL_ERROR, f"the search failed: {bounded(_text(said.output).strip(), 500)[0]}"
        )
    found = [match.groups() for line in _text(said.output).split("\n") if (match := _MATCH.fullmatch(line))]
    if not only:
        names = dict.fromkeys(f"{folder}/{name}" for name, _, _ in found)
        look = partial(open_ones, names, (*job.roots, folder), tuple(job.kit.files.protected()))
        told = await to_thread.run_sync(look, abandon_on_cancel=True)
        found = [each for each in found if f"{folder}/{each[0]}" in told]
    some, base = found[:MOST_MATCHES], _as_said(place, folder)
    lines = [f"{job.short(f'{base}/{n}')}:{line}: {_cut(text)}" for n, line, text in some]
    if said.late:
        lines.append(f"(ended after {MOST_SECONDS:g} seconds: search in a folder, or for something simpler)")
    elif len(found) > len(some) or said.code is None:
        lines.append("(there are more matches: look for something rarer, or in a folder)")
    job.show(locations=[Location(f"{base}/{n}", int(line)) for n, line, _ in some[:1]])
    return Done("\n".join(lines or ["(nothing)"]), raw={"matches": len(some)})


async def _base(job: Job, said: str) -> tuple[Place, str, str]:
    """The place that is meant, its real folder, and the name of the file in it if one is meant.

    A folder outside of the session's takes the user's word. Raises RequestError.
    """
    place = await job.kit.files.place(job.session, job.path(said))
    kind = await to_thread.run_sync(_kind, place.real, abandon_on_cancel=True)
    if place.why == "outside" and kind == "folder":
        subject = PathSubject("read", place.path, place.real, "outside")
        await job.ask(subject, ("list", place.real), "Always allow listing and searching it in this session")
    elif place.why == "outside":
        await job.read(place)
    if kind == "file":
        return place, str(Path(place.real).parent), Path(place.real).name
    if kind != "folder":
        raise RequestError(INTERNAL_ERROR, f"no such file or folder: {place.path}")
    if place.real == "/":
        raise RequestError(INVALID, "this is the whole disk: name a folder")
    return place, place.real, ""


async def _names(job: Job, folder: str, only: str) -> tuple[list[str], bool]:
    """Names below the folder, and whether there are more."""
    if await to_thread.run_sync(git.repository, folder, abandon_on_cancel=True):
        words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        words += ["--", f":(literal){only}" if only else "."]
        said = await job.kit.git.run(folder, words, limit=MOST_BYTES, seconds=MOST_SECONDS)
        if said.code in (0, None):
            names = list(dict.fromkeys(_text(said.output).split("\0")[:-1]))
            there = await to_thread.run_sync(_there, folder, names[: 2 * MOST_FILES], abandon_on_cancel=True)
            return there[:MOST_FILES], said.code is None or max(len(there), len(names) - 1) > MOST_FILES
    if only:
        return [only], False
    names = await to_thread.run_sync(_walk, folder, abandon_on_cancel=True)
    return names[:MOST_FILES], len(names) > MOST_FILES


async def _grep(folder: str, given: SearchFiles, only: str) -> list[str]:
    """The words of git: what comes from the agent is never an option of it."""
    if any(char in given.pattern + given.files for char in "\n\r\0"):
        raise RequestError(INVALID, "the pattern must be one line")
    if given.files.startswith("/") or ".." in given.files.split("/"):
        raise RequestError(INVALID, "files are meant below the folder: give the folder as path")
    words = ["grep", "-n", "-z", "-I", "--no-color"]
    inside = await to_thread.run_sync(git.repository, folder, abandon_on_cancel=True)
    words += ["--untracked"] if inside else ["--no-index"]
    words += ["--exclude-standard", "-P" if given.regex else "-F"]
    if given.ignore_case:
        words.append("-i")
    words += ["-e", given.pattern, "--"]
    if only:
        return [*words, f":(literal){only}"]
    return [
        *words,
        f":(glob){given.files if '/' in given.files else f'**/{given.files}'}" if given.files else ".",
    ]


def _as_said(place: Place, folder: str) -> str:
    """The folder by the name the agent has for it: through a link that is not the real one."""
    if place.real == folder:
        return place.path.rstrip("/")
    return str(Path(place.path).parent)


def _kind(path: str) -> str:
    return "folder" if Path(path).is_dir() else "file" if Path(path).is_file() else ""


def _there(folder: str, names: list[str]) -> list[str]:
    """Without what was deleted and git still knows."""
    return [name for name in names if os.path.lexists(f"{folder}/{name}")]


def _walk(folder: str) -> list[str]:
    """Names of files, without following links; hidden folders are left out."""
    found: list[str] = []
    seen = 0
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        seen += len(folders) + len(files) + 1
        found += [os.path.relpath(f"{base}/{each}", folder) for each in sorted(files)]
        if len(found) > MOST_FILES or seen > MOST_ENTRIES:
            break
    return found


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _cut(line: str) -> str:
    text, more = bounded(line.strip(), MOST_LINE)
    return f"{text}…" if more else text
