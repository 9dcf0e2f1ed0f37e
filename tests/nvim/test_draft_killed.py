"""What was not sent survives ``kill -9`` of Neovim: it is on the disk a moment after it was typed."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest
from tests.nvim.draft_kit import (
    KEY,
    Start,
    chat,
    die,
    files,
    home,
    leave,
    name_of,
    starts,
    texts,
    until,
    until_kept,
)
from tests.nvim.stub import PROMPT, buffer, events, update
from tests.plugin import Neovim, StartNvim, eventually


@pytest.fixture
def start(start_nvim: StartNvim, tmp_path: Path) -> Start:
    return starts(start_nvim, tmp_path)


def test_it_survives_one_kill_after_the_other_until_it_is_sent(start: Start, tmp_path: Path) -> None:
    first = chat(start, "a draft<CR>  of two lines, ‘日本’ ")
    until_kept(tmp_path, "a draft\n  of two lines, ‘日本’ ")
    (path,) = files(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    die(first)
    second = chat(start)
    assert second.lines() == ["a draft", "  of two lines, ‘日本’ "]
    die(second)  # at once: it was not written again
    third = chat(start)
    assert third.lines() == ["a draft", "  of two lines, ‘日本’ "]
    third.keys("and more")
    until_kept(tmp_path, "a draft\n  of two lines, ‘日本’ and more")
    die(third)
    fourth = chat(start)
    assert fourth.lines() == ["a draft", "  of two lines, ‘日本’ and more"]
    fourth.keys("<C-s>")
    eventually(lambda: events(fourth, "send"))
    until_kept(tmp_path)
    die(fourth)
    assert chat(start).lines() == [""]


def test_what_was_emptied_does_not_come_back(start: Start, tmp_path: Path) -> None:
    nvim = chat(start, "a draft")
    until_kept(tmp_path, "a draft")
    nvim.keys("<C-u>")
    until_kept(tmp_path)
    nvim.keys("another")
    until_kept(tmp_path, "another")


def test_a_clean_end_leaves_one_file_that_is_nobodys(start: Start, tmp_path: Path) -> None:
    nvim = chat(start, "one")
    until_kept(tmp_path, "one")
    for text in ("one", "one, two"):
        nvim.keys(text.removeprefix("one"))
        leave(nvim)
        (path,) = files(tmp_path)
        assert ".of-" not in path.name
        assert texts(tmp_path) == [text]
        nvim = chat(start)


def test_an_end_without_autocommands_is_none_either(start: Start, tmp_path: Path) -> None:
    nvim = chat(start, "a draft")
    until_kept(tmp_path, "a draft")
    nvim.keys("<Esc>:noautocmd qa!<CR>")
    nvim.wait_exit()
    assert chat(start).lines() == ["a draft"]


def test_queued_prompts_are_kept_and_what_is_behind_an_older_one(start: Start, tmp_path: Path) -> None:
    nvim = chat(start)
    update(nvim, {"state": "running"})
    nvim.keys("sent<C-s>the draft<Esc>[[")
    eventually(lambda: nvim.lines() == ["sent"])
    rows = [{"id": 1, "text": "queued one"}, {"id": 2, "text": "queued two"}]
    nvim.lua("require('acp.chat.prompt').queue(...)", 1, rows, 1)
    until_kept(tmp_path, "queued one\nqueued two\nthe draft")
    nvim.lua("require('acp.chat.prompt').queue(...)", 1, rows[1:], 1)
    until_kept(tmp_path, "queued two\nthe draft")
    die(nvim)
    assert chat(start).lines() == ["queued two", "the draft"]


def test_two_neovims_at_once_leave_each_other_alone(start: Start, tmp_path: Path) -> None:
    one = chat(start, "of the first")
    until_kept(tmp_path, "of the first")
    two = chat(start)
    assert two.lines() == [""]
    two.keys("of the second")
    until_kept(tmp_path, "of the first", "of the second")
    die(one)
    third = chat(start)
    assert third.lines() == ["of the first"]
    leave(two)
    until_kept(tmp_path, "of the first", "of the second")
    die(third)
    assert chat(start).lines() == ["of the first", "", "of the second"]


def test_only_one_of_two_gets_it(start: Start, tmp_path: Path) -> None:
    die_later = chat(start, "a draft")
    until_kept(tmp_path, "a draft")
    die(die_later)
    both = [start(), start()]
    seen = "FILES = require('acp.chat.draft_files'); LOOSE = FILES.loose(); return LOOSE[1].key"
    keys = [nvim.lua(seen) for nvim in both]
    taken = [nvim.lua("return FILES.take(..., LOOSE)", key) for nvim, key in zip(both, keys, strict=True)]
    assert [[each["text"] for each in one] for one in taken] == [["a draft"], []]


def test_chats_of_one_neovim_are_joined(start: Start, tmp_path: Path) -> None:
    nvim = chat(start, "one")
    until_kept(tmp_path, "one")
    nvim.command("AcpChat!")
    assert nvim.lines() == [""]
    nvim.keys("two")
    until_kept(tmp_path, "one", "two")
    die(nvim)
    again = chat(start)
    assert again.lines() == ["one", "", "two"]
    until_kept(tmp_path, "one\n\ntwo")
    again.command(f"bwipeout {buffer(again, PROMPT)}")
    eventually(lambda: events(again, "close"))
    (path,) = files(tmp_path)
    assert ".of-" not in path.name
    die(again)
    assert chat(start).lines() == ["one", "", "two"]


def test_who_types_without_a_pause_loses_a_few_seconds_at_most(start: Start, tmp_path: Path) -> None:
    nvim = chat(start)

    def typed() -> bool:
        nvim.keys("x")
        return bool(files(tmp_path))

    eventually(typed)


def test_nothing_is_written_or_waited_for_when_nothing_changed(start: Start, tmp_path: Path) -> None:
    die_later = chat(start, "a draft")
    until_kept(tmp_path, "a draft")
    die(die_later)
    count = """
    TIMERS, OPENED, LOOKED = {}, 0, 0
    local new_timer, open = vim.uv.new_timer, vim.uv.fs_open
    vim.uv.new_timer = function() table.insert(TIMERS, (new_timer())); return TIMERS[#TIMERS] end
    vim.uv.fs_open = function(path, ...)
      OPENED = OPENED + (path:find('draft-', 1, true) and 1 or 0)
      return open(path, ...)
    end
    """
    nvim = chat(start, init=count)
    nvim.lua("""
    local prompt = require('acp.chat.prompt')
    local unsent = prompt.unsent
    prompt.unsent = function(...) LOOKED = LOOKED + 1; return unsent(...) end
    """)
    active = "return vim.iter(TIMERS):any(function(timer) return timer:is_active() end)"
    for times in (1, 2):
        update(nvim, {"queued": times})
        nvim.keys("x<BS>")
        until(nvim, f"LOOKED >= {times}")
        eventually(lambda: not nvim.lua(active))
    assert nvim.lua("return OPENED") == 0
    assert texts(tmp_path) == ["a draft"]


def start_of(pid: int) -> str:
    """When a process began, as proc_pid_stat(5) tells."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_another_process_with_its_number_is_not_that_neovim(start: Start, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells when a process began")
    nvim = chat(start)
    folder = home(tmp_path)
    folder.mkdir(parents=True)
    pid, begun = os.getpid(), start_of(os.getpid())
    living = folder / name_of(nvim, f"{pid}-{begun}-1")
    living.write_text(json.dumps({"text": "of one that lives"}))
    half = living.with_name(f"{living.name}.new")
    half.write_text("{")
    (folder / name_of(nvim, f"{pid}-1-1")).write_text(json.dumps({"text": "of an earlier one"}))
    nvim.command("AcpChat!")
    assert nvim.lines() == ["of an earlier one"]
    assert {living, half} < set(files(tmp_path))


def test_where_nobody_tells_when_a_process_began(start: Start, tmp_path: Path) -> None:
    nvim = chat(start)
    folder = home(tmp_path)
    folder.mkdir(parents=True)
    pid = os.getpid()
    living, off = (folder / name_of(nvim, f"{pid}-0-{number}") for number in (1, 2))
    living.write_text(json.dumps({"text": "of one that lives"}))
    off.write_text(json.dumps({"text": "of before the machine was off"}))
    os.utime(off, (1e9, 1e9))
    nvim.command("AcpChat!")
    assert nvim.lines() == ["of before the machine was off"]


def dead(nvim: Neovim, number: int) -> str:
    return name_of(nvim, f"{2**22 + 1}-7-{number}")  # no process has a number as high


def test_what_is_no_draft_is_none(start: Start, tmp_path: Path) -> None:
    nvim = chat(start)
    folder = home(tmp_path)
    folder.mkdir(parents=True)
    broken = [folder / dead(nvim, number) for number in range(7)]
    for path, data in zip(
        broken, ("", "{", "[]", '{"text": 3}', "\0\0", '{"text": "a', "{}.json"), strict=True
    ):
        path.write_text(data)
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps({"text": "behind a link"}))
    kinds = [folder / dead(nvim, number) for number in range(10, 14)]
    os.mkfifo(kinds[0])
    kinds[1].mkdir()
    kinds[2].symlink_to(secret)
    kinds[3].symlink_to(tmp_path / "nothing")
    half = folder / f"{dead(nvim, 20)}.new"
    half.write_text('{"text": "half')
    (folder / dead(nvim, 30)).write_text(json.dumps({"text": "a draft"}))
    nvim.command("AcpChat!")
    assert nvim.lines() == ["a draft"]
    left = set(files(tmp_path))
    assert not left & {*broken, half}
    assert set(kinds) < left
    assert json.loads(secret.read_text()) == {"text": "behind a link"}


@pytest.mark.parametrize("kind", ["fifo", "link"])
def test_what_stands_in_the_way_is_not_written_into(start: Start, tmp_path: Path, kind: str) -> None:
    nvim = chat(start)
    folder = home(tmp_path)
    folder.mkdir(parents=True)
    own = Path(nvim.lua(f"return require('acp.chat.draft_files').own({KEY})"))
    path = own.with_name(own.name.replace("-1.json", "-2.json.new"))
    target = tmp_path / "target"
    target.write_text("mine")
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(target)
    nvim.keys("a draft")
    until_kept(tmp_path, "a draft")
    assert target.read_text() == "mine"


def test_old_ones_go_and_none_of_a_neovim_that_lives(start: Start, tmp_path: Path) -> None:
    nvims = [chat(start, f"draft {number}") for number in range(2)]
    until_kept(tmp_path, "draft 0", "draft 1")
    for number in range(70):
        name = f"draft-{number:024x}{f'.of-{2**22 + 1}-7-1' if number % 2 else ''}.json"
        (home(tmp_path) / name).write_text(json.dumps({"text": f"{number:02}"}))
        os.utime(home(tmp_path) / name, (1e9 + number, 1e9 + number))
    leave(nvims[1])
    last = [f"{number:02}" for number in range(21, 70)]
    assert texts(tmp_path) == [*last, "draft 0", "draft 1"]


def test_it_is_bounded(start: Start, tmp_path: Path) -> None:
    nvim = chat(start)
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { ('ü'):rep(1500000) })")
    until_kept(tmp_path, "ü" * (1024 * 1024))
