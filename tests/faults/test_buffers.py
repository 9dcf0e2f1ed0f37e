"""A loaded buffer whose disk is full, or whose file is something else when the agent writes it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.full import fill, read_only, small_disk
from tests.plugin import Neovim

READ = "return require('acp.buffers').read(...)"
WRITE = "return require('acp.buffers').write(...)"
CHECK = "return require('acp.buffers').check(...)"


def edit(nvim: Neovim, path: Path, text: str, mine: str | None = None) -> int:
    """Load a file; ``mine``: with this unsaved text."""
    path.write_text(text)
    nvim.command(f"edit {path}")
    if mine is not None:
        nvim.api.buf_set_lines(0, 0, -1, False, [mine])
    return int(nvim.api.get_current_buf().number)


def write(nvim: Neovim, path: Path, text: str) -> dict[str, Any]:
    """Write through the buffer, as the host does after the user has said yes."""
    tick = nvim.lua(READ, str(path)).get("tick")
    return dict(nvim.lua(WRITE, str(path), text, {"tick": tick} if tick else {}))


@pytest.mark.parametrize("mine", [None, "mine"])
@pytest.mark.parametrize("backupcopy", ["auto", "yes", "no"])
def test_a_full_disk(nvim: Neovim, short_tmp: Path, mine: str | None, backupcopy: str) -> None:
    nvim.command(f"set backupcopy={backupcopy}")
    with small_disk(short_tmp / "d") as folder:
        path = folder / "a.txt"
        buffer = edit(nvim, path, "old\n", mine)
        before = nvim.lines(buffer), nvim.api.get_option_value("modified", {"buf": buffer})
        filler = fill(folder)
        answer = write(nvim, path, "new\n" * 50_000)
        assert (answer["ok"], answer["why"]) == (False, "error")
        assert (path.read_text(), sorted(folder.iterdir())) == ("old\n", [path, filler])
        assert (nvim.lines(buffer), nvim.api.get_option_value("modified", {"buf": buffer})) == before
        filler.unlink()
        assert write(nvim, path, "new\n")["ok"]
        assert (path.read_text(), nvim.lines(buffer)) == ("new\n", ["new"])
        nvim.command("bwipeout!")
    nvim.clear_messages()


def _folder(path: Path) -> None:
    path.mkdir()


def _elsewhere(path: Path) -> None:
    path.symlink_to(path.with_name("fifo"))
    os.mkfifo(path.with_name("fifo"))


OTHERS: dict[str, Callable[[Path], object]] = {
    "a folder": _folder,
    "a FIFO": os.mkfifo,
    "a link to a FIFO": _elsewhere,
    "a link to nothing": lambda path: path.symlink_to(path.with_name("gone")),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("mine", [None, "mine"])
def test_something_else_stands_there(nvim: Neovim, short_tmp: Path, other: str, mine: str | None) -> None:
    """Neovim never waits, the buffer keeps its text, and what stands there now is left alone."""
    path = short_tmp / "a.txt"
    buffer = edit(nvim, path, "old\n", mine)
    assert nvim.lua(READ, str(path))["loaded"]
    path.unlink()
    OTHERS[other](path)
    nvim.lua(CHECK, [str(path)])
    nvim.lua("require('acp.buffers').refresh()")
    answer = write(nvim, path, "new\n")
    assert not nvim.blocked()
    if not answer.get("ok"):
        assert nvim.lines(buffer) == [mine or "old"]
    assert path.is_symlink() or not path.is_file()
    nvim.command("silent! bwipeout!")
    nvim.clear_messages()


@pytest.mark.parametrize("mine", [None, "mine"])
def test_a_file_that_may_not_be_written(nvim: Neovim, short_tmp: Path, mine: str | None) -> None:
    with small_disk(short_tmp / "d") as folder:
        path = folder / "a.txt"
        buffer = edit(nvim, path, "old\n", mine)
        with read_only(folder):
            assert not write(nvim, path, "new\n")["ok"]
            assert (path.read_text(), nvim.lines(buffer)) == ("old\n", [mine or "old"])
        nvim.command("bwipeout!")
    nvim.clear_messages()
