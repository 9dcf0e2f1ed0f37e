"""A disk that is full, or is not what it was: files of the user, and our own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.faults.full import LIMIT, fill, limited, read_only, small_disk
from tests.unit.service.helpers import Place

from acp_nvim.client import trace_file
from acp_nvim.client.export import _put
from acp_nvim.client.history import History
from acp_nvim.client.payloads import OfFolder
from acp_nvim.client.record import Record, Used
from acp_nvim.client.secrets import Secrets
from acp_nvim.service import disk
from acp_nvim.session.ports import RequestError

BIG = "y" * (LIMIT * 2)


@contextmanager
def full(how: str, folder: Path) -> Iterator[Callable[[], Any]]:
    """A folder, and what makes its disk full for as long as the block of that lasts."""
    if how == "limit":
        folder.mkdir()
        yield limited
        return
    with small_disk(folder):

        @contextmanager
        def filled() -> Iterator[None]:
            filler = fill(folder)
            try:
                yield
            finally:
                filler.unlink()

        yield filled


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "filler")


HOW = pytest.mark.parametrize("how", ["limit", "mount"])


@HOW
@pytest.mark.parametrize("kind", ["new", "replaced", "in place"])
def test_a_file_of_the_user(tmp_path: Path, how: str, kind: str) -> None:
    with full(how, tmp_path / "d") as filling:
        folder, path = tmp_path / "d", tmp_path / "d/a.txt"
        if kind != "new":
            path.write_text("old\n" * 10)
        if kind == "in place":
            (folder / "other").hardlink_to(path)
        before = names(folder)
        with filling(), pytest.raises(RequestError) as caught:
            disk.write_text(path, BIG)
        assert "a.txt" in caught.value.message
        assert names(folder) == before
        assert kind == "new" or path.read_text() == "old\n" * 10
        disk.write_text(path, "fits")
        assert path.read_text() == "fits"


def test_the_old_text_comes_back_when_the_disk_gets_full_in_the_middle(tmp_path: Path) -> None:
    with small_disk(tmp_path / "d"):
        path = tmp_path / "d/a.txt"
        path.write_text("old\n" * 4000)
        (tmp_path / "d/other").hardlink_to(path)
        with pytest.raises(RequestError):
            disk.write_text(path, BIG)
        assert path.read_text() == "old\n" * 4000
        assert names(tmp_path / "d") == ["a.txt", "other"]


@HOW
def test_exports_and_traces(tmp_path: Path, how: str) -> None:
    with full(how, tmp_path / "d") as filling:
        writes: dict[str, Callable[[Path], object]] = {
            "a.md": lambda path: _put(str(path), BIG),
            "a.jsonl": lambda path: trace_file.write(path, [BIG]),
        }
        for name, write in writes.items():
            path = tmp_path / "d" / name
            path.write_text("old")
            before = names(tmp_path / "d")
            with filling():
                try:
                    told: object = write(path)
                except OSError as error:
                    told = str(error)
            assert told
            assert (path.read_text(), names(tmp_path / "d")) == ("old", before)


class Own:
    """The files of the plugin that the host writes."""

    def __init__(self, folder: Path, spawn: Any) -> None:
        self.complaints: list[str] = []
        self.told: list[list[str]] = []
        warn, secrets = self.complaints.append, Secrets()
        self.record = Record(folder / "sessions.json", spawn, warn)
        self.history = History(folder, self, secrets, spawn, warn, lambda: True)  # type: ignore[arg-type]
        self.path = self.history.path_of("/ws")

    def notify(self, _module: str, _function: str, _cwd: str, texts: list[str]) -> None:
        self.told.append(texts)

    def write(self, text: str, ident: str) -> None:
        self.history.sent("/ws", text)
        self.record.keep(Used("x", ident, "/ws", "/ws", title=text[:100], time=1))


async def written(folder: Path, *texts: str, complains: bool = False) -> tuple[list[str], list[str]]:
    """Write these, one after the other; what a later Neovim finds of prompts and sessions."""
    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            own = Own(folder, group.start_soon)
            for number, text in enumerate(texts):
                own.write(text, f"s{number}")
        assert bool(own.complaints) == complains, own.complaints
        assert len(own.complaints) <= 2, "each says it once"
        async with anyio.create_task_group() as group:
            later = Own(folder, group.start_soon)
            later.history.tell(OfFolder("/ws"))
            sessions = [each.id for each in await later.record.all()]
    return later.told[0] if later.told else [], sessions


@HOW
@pytest.mark.anyio
async def test_our_own_files(tmp_path: Path, how: str) -> None:
    with full(how, tmp_path / "d") as filling:
        folder = tmp_path / "d"
        await written(folder, "first")
        before = names(folder)
        with filling() if how == "mount" else limited(200):
            found = await written(folder, "x" * 3000, "y" * 3000, complains=True)
            assert found == (["first"], ["s0"]), "what was there is there"
        assert names(folder) == before
        found = await written(folder, "second")
        assert found == (["first", "second"], ["s0"])


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").touch()


def _linked(path: Path) -> None:
    os.mkfifo(path.with_suffix(".x"))
    path.symlink_to(path.with_suffix(".x"))


@pytest.mark.anyio
async def test_a_disk_that_may_not_be_written(tmp_path: Path) -> None:
    with small_disk(tmp_path / "d") as folder:
        path = folder / "a.txt"
        disk.write_text(path, "old")
        await written(folder, "first")
        before = names(folder)
        with read_only(folder):
            for name in ("a.txt", "new.txt", "sub/new.txt"):
                with pytest.raises(RequestError):
                    disk.write_text(folder / name, "new")
            assert _put(str(path), "new")
            assert await written(folder, "second", complains=True) == (["first"], ["s0"])
        assert (disk.read_text(path), names(folder)) == ("old", before)


WRONG: dict[str, Callable[[Path], object]] = {
    "a folder": _folder,
    "a FIFO": os.mkfifo,
    "a link to nothing": lambda path: path.symlink_to(path.parent / "gone/away"),
    "a link to a FIFO": _linked,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "rubbish": lambda path: path.write_bytes(b"\xff\0{"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("file", ["sessions.json", "sessions.lock", "prompts.lock", "prompts"])
@pytest.mark.parametrize("wrong", WRONG)
async def test_something_else_stands_in_the_place_of_our_files(tmp_path: Path, file: str, wrong: str) -> None:
    """Nobody waits for ever; what can be written is, and what is wrong is said once."""
    name = Own(tmp_path, None).path.name if file == "prompts" else file
    WRONG[wrong](tmp_path / name)
    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            own = Own(tmp_path, group.start_soon)
            own.history.tell(OfFolder("/ws"))
            for number in range(3):
                own.write("text", f"s{number}")
            await own.record.all()
    assert len(own.complaints) <= 2, own.complaints


REPLACED: dict[str, Callable[[Path], object]] = {
    **{name: WRONG[name] for name in ("a folder", "a FIFO", "a link to nothing", "a link to a FIFO")},
    "a link to another file": lambda path: path.symlink_to(path.parent.parent / "secret"),
    "nothing": lambda _path: None,
}


@pytest.mark.anyio
@pytest.mark.parametrize("now", REPLACED)
@pytest.mark.parametrize("old", [True, False])
async def test_a_file_is_replaced_while_the_user_is_asked(tmp_path: Path, now: str, old: bool) -> None:
    place = Place(tmp_path)
    path, secret = place.ws / ".envrc", tmp_path / "secret"
    secret.write_text("secret")
    if old:
        path.write_text("old")
    place.answer = None
    why: list[str] = []

    async def write() -> None:
        try:
            await place.write("ws/.envrc", "new")
        except RequestError as error:
            why.append(error.message)

    with anyio.fail_after(15):
        async with anyio.create_task_group() as group:
            group.start_soon(write)
            await place.room.until(lambda: place.asked)
            path.unlink(missing_ok=True)
            REPLACED[now](path)
            place.room.questions.answer(place.room.shown[0], 1)
    assert secret.read_text() == "secret"
    _looks_right(path, now, why)


def _looks_right(path: Path, now: str, why: list[str]) -> None:
    assert not list(path.parent.rglob(".acp-*"))
    if now == "nothing":
        assert (why, path.read_text()) == ([], "new")
    else:
        assert why
        assert path.is_symlink() or not path.is_file(), "what stands there now is left alone"
        assert not (path.parent / "gone").exists()
