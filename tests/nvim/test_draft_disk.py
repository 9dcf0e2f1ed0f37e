"""A disk that is full, may only be read, or takes long: no draft is lost, and it is told once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.full import fill, read_only, small_disk
from tests.nvim.draft_kit import (
    KEY,
    Start,
    chat,
    die,
    errors,
    files,
    home,
    leave,
    starts,
    texts,
    until,
    until_kept,
)
from tests.nvim.stub import PROMPT, buffer, events
from tests.plugin import Neovim, StartNvim, eventually


@pytest.fixture
def start(start_nvim: StartNvim, tmp_path: Path) -> Start:
    return starts(start_nvim, tmp_path)


SLOW = """
SYNCS = {}
vim.uv.fs_fsync = function(_, done) table.insert(SYNCS, done) end
"""
"""A disk that says when it has a file only when the test does."""


def synced(nvim: Neovim, number: int, *problem: str) -> None:
    until(nvim, f"#SYNCS == {number}")
    nvim.lua("SYNCS[#SYNCS](...)", *problem)


def test_one_file_is_written_at_a_time_however_long_the_disk_takes(start: Start, tmp_path: Path) -> None:
    nvim = chat(start, "one", init=SLOW)
    until(nvim, "#SYNCS == 1")
    assert texts(tmp_path) == []
    nvim.keys(", two")
    nvim.lua("""
    local draft = require('acp.chat.draft')
    local changed = draft.changed
    draft.changed = function(...) PUT_OFF = true; return changed(...) end
    """)
    until(nvim, "PUT_OFF")
    synced(nvim, 1)
    eventually(lambda: texts(tmp_path) == ["one"])
    synced(nvim, 2)
    until_kept(tmp_path, "one, two")
    nvim.keys(", three")
    synced(nvim, 3, "EIO: i/o error")
    eventually(lambda: len(errors(nvim)) == 1)
    assert texts(tmp_path) == ["one, two"]
    nvim.keys(", four")
    until(nvim, "#SYNCS == 4")
    leave(nvim)  # while it is being written
    (path,) = files(tmp_path)
    assert ".of-" not in path.name
    assert texts(tmp_path) == ["one, two, three, four"]


def test_a_full_disk_is_told_once_and_takes_nothing(start: Start, tmp_path: Path) -> None:
    with small_disk(home(tmp_path), 256 * 1024):
        nvim = chat(start, "a draft")
        until_kept(tmp_path, "a draft")
        filler = fill(home(tmp_path))
        nvim.lua("""
        WRITES = 0
        local files = require('acp.chat.draft_files')
        local write = files.write
        files.write = function(...) WRITES = WRITES + 1; return write(...) end
        """)
        for times in (1, 2, 3):
            nvim.keys("x" * 5000)
            until(nvim, f"WRITES == {times}")
        eventually(lambda: errors(nvim))
        assert "it is lost if Neovim is killed" in errors(nvim)[0]
        assert len(errors(nvim)) == 1
        assert texts(tmp_path) == ["a draft"]  # the older text, and no half of the newer
        filler.unlink()
        nvim.keys("y")
        until_kept(tmp_path, "a draft" + 15000 * "x" + "y")
        filler = fill(home(tmp_path))
        nvim.keys("x" * 5000)
        eventually(lambda: len(errors(nvim)) == 2)
        leave(nvim)
        filler.unlink()
        nvim = chat(start)
        assert nvim.lines() == ["a draft" + 15000 * "x" + "y"]
        until_kept(tmp_path, nvim.lines()[0])
        fill(home(tmp_path))
        nvim.clear_messages()
        leave(nvim)  # by a new name, which takes no room
        assert chat(start).lines() == ["a draft" + 15000 * "x" + "y"]


def test_a_draft_that_could_not_be_left_is_at_the_end_if_it_can(start: Start, tmp_path: Path) -> None:
    with small_disk(home(tmp_path), 256 * 1024):
        filler = fill(home(tmp_path))
        nvim = chat(start, "a draft")
        nvim.command(f"bwipeout! {buffer(nvim, PROMPT)}")
        eventually(lambda: errors(nvim))
        filler.unlink()
        leave(nvim)
        assert chat(start).lines() == ["a draft"]


def test_on_a_disk_that_may_only_be_read(start: Start, tmp_path: Path) -> None:
    with small_disk(home(tmp_path), 256 * 1024):
        nvim = chat(start, "a draft")
        until_kept(tmp_path, "a draft")
        die(nvim)
        with read_only(home(tmp_path)):
            for end in (die, leave):
                nvim = chat(start)
                assert nvim.lines() == ["a draft"]
                end(nvim)
        assert chat(start).lines() == ["a draft"]


def test_a_wiped_chat_whose_draft_cannot_be_left_has_it_once(start: Start, tmp_path: Path) -> None:
    """A folder in the place of the file that is for the next chat."""
    nvim = chat(start, "a draft")
    until_kept(tmp_path, "a draft")
    plain = home(tmp_path) / f"{nvim.lua('return ' + KEY)}.json"
    plain.mkdir()
    nvim.command(f"bwipeout! {buffer(nvim, PROMPT)}")
    eventually(lambda: events(nvim, "close"))
    nvim.command("AcpChat")
    assert nvim.lines() == ["a draft"]
    die(nvim)
    plain.rmdir()
    assert texts(tmp_path) == ["a draft"]
    assert chat(start).lines() == ["a draft"]
