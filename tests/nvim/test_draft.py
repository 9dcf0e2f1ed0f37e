"""What was not sent survives Neovim's end and `:bwipeout`, in a file that only the user can read."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.full import fill, small_disk
from tests.nvim.draft_kit import Start, files, leave, starts, texts
from tests.nvim.stub import PROMPT, buffer, events, focus, update
from tests.plugin import Neovim, StartNvim, eventually, kill


@pytest.fixture
def start(start_nvim: StartNvim, tmp_path: Path) -> Start:
    return starts(start_nvim, tmp_path)


def test_a_draft_comes_back_in_the_next_neovim_once(start: Start, tmp_path: Path) -> None:
    first = start()
    first.command("AcpChat")
    first.keys("a draft<CR>  of two lines, ‘日本’ ")
    leave(first)
    (path,) = files(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    second = start()
    second.command("AcpChat")
    assert second.lines() == ["a draft", "  of two lines, ‘日本’ "]
    (path,) = files(tmp_path)
    assert ".of-" in path.name  # it is in the prompt, and another Neovim does not get it
    second.keys("more")
    eventually(lambda: second.lines() == ["a draft", "  of two lines, ‘日本’ more"])
    second.keys("<C-s>")
    eventually(lambda: events(second, "send"))
    leave(second)
    assert files(tmp_path) == []


ENDS: dict[str, Callable[[Neovim], object]] = {
    ":cquit": lambda nvim: nvim.keys("<Esc>:cquit<CR>"),
    "SIGTERM": lambda nvim: kill(nvim.pid, signal.SIGTERM),
    "SIGHUP": lambda nvim: kill(nvim.pid, signal.SIGHUP),
    "its terminal is closed": lambda nvim: nvim.close_stdin(),
}


@pytest.mark.parametrize("end", ENDS)
def test_whatever_ends_neovim(start: Start, end: str) -> None:
    first = start()
    first.command("AcpChat")
    first.keys("a draft")
    eventually(lambda: first.lines() == ["a draft"])
    ENDS[end](first)
    first.wait_exit()
    second = start()
    second.command("AcpChat")
    assert second.lines() == ["a draft"]


def test_a_killed_neovim_keeps_the_prompt_after_all_kinds_of_edits(start: Start) -> None:
    """The prompt's buffer is gone by then: it is a copy, of which only what changed was read."""
    first = start()
    first.command("AcpChat")
    first.keys("one<CR>two<CR><CR>thr‘e<CR>four<Esc>", "ggddp", ":%s/o/oo/<CR>", "Gyyppp", "kdk", "u", "dk")
    first.keys(
        ":2,3move 0<CR>", "ggOabove<Esc>", ":global/./copy .<CR>", "uu<C-r>", ":%join<CR>u", "Gox<Esc>"
    )
    first.lua("vim.api.nvim_buf_set_text(0, 1, 0, 2, 0, { 'a', 'b', 'c', 'd' })")
    first.command("edit")
    first.keys("goo<Esc>", "V5jygP", "Gccend<C-w>last")
    eventually(lambda: first.lines()[-1] == "last")
    lines = first.lines()
    assert len(lines) > 10
    kill(first.pid, signal.SIGTERM)
    first.wait_exit()
    second = start()
    second.command("AcpChat")
    assert second.lines() == lines


@pytest.mark.parametrize("keys", ["", "  <CR>", "sent<C-s>", "sent<C-s><Esc>[["])
def test_without_a_draft_nothing_is_written(start: Start, tmp_path: Path, keys: str) -> None:
    nvim = start()
    nvim.command("AcpChat")
    update(nvim, {"state": "idle"})
    nvim.keys(keys)
    leave(nvim)
    assert files(tmp_path) == []


def test_what_is_behind_an_older_prompt_is_the_draft(start: Start, tmp_path: Path) -> None:
    nvim = start()
    nvim.command("AcpChat")
    update(nvim, {"state": "idle"})
    nvim.keys("sent<C-s>the draft<Esc>[[")
    eventually(lambda: nvim.lines() == ["sent"])
    leave(nvim)
    again = start()
    again.command("AcpChat")
    assert again.lines() == ["the draft"]


def test_queued_prompts_are_not_lost(start: Start) -> None:
    nvim = start()
    nvim.command("AcpChat")
    nvim.keys("draft")
    rows = [{"id": 1, "text": "queued one"}, {"id": 2, "text": "queued two"}]
    nvim.lua("require('acp.chat.prompt').queue(...)", 1, rows, 0)
    leave(nvim)
    again = start()
    again.command("AcpChat")
    assert again.lines() == ["queued one", "queued two", "draft"]


def test_it_is_of_that_agent_and_that_folder(start: Start, tmp_path: Path) -> None:
    nvim = start()
    nvim.command("AcpChat")
    nvim.keys("draft")
    leave(nvim)
    other = tmp_path / "other"
    other.mkdir()
    elsewhere = start(other)
    elsewhere.command("AcpChat")
    assert elsewhere.lines() == [""]
    here = start()
    here.setup({"agents": {"b": {"command": ["sh"]}}, "default_agent": "claude"})
    here.command("AcpChat b")
    assert here.lines() == [""]
    here.setup({"agents": {"claude": {"command": ["sh"]}}})
    here.command("AcpChat claude")
    assert here.lines() == ["draft"]


def test_drafts_of_several_chats_are_joined(start: Start) -> None:
    for text in ("one", "two"):
        nvim = start()
        nvim.command("AcpChat")
        nvim.api.buf_set_lines(0, 0, -1, False, [text])
        nvim.command("AcpChat!")
        nvim.keys("second")
        leave(nvim)
    nvim = start()
    nvim.command("AcpChat")
    assert nvim.lines() == ["two", "", "second"]


@pytest.mark.parametrize("which", [PROMPT, "acp://claude/1"])
def test_wiping_a_chat_gives_the_draft_to_the_next(start: Start, tmp_path: Path, which: str) -> None:
    nvim = start()
    nvim.command("AcpChat")
    nvim.keys("draft<Esc>")
    nvim.command(f"bwipeout {buffer(nvim, which)}")
    eventually(lambda: events(nvim, "close"))
    nvim.command("AcpChat")
    assert focus(nvim) == "acp://claude/2/prompt"
    assert nvim.lines() == ["draft"]
    assert texts(tmp_path) == ["draft"]


def test_mentions_keep_their_lines(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "project/a.txt"
    path.write_text("one\ntwo\n")
    nvim = start()
    nvim.command(f"edit {path}")
    nvim.command("2AcpSend")
    eventually(lambda: nvim.lines() == ["@a.txt:2 "])
    leave(nvim)
    again = start()
    again.command("AcpChat")
    again.keys("<C-s>")
    eventually(lambda: events(again, "send"))
    assert events(again, "send")[0]["text"] == "@a.txt:2 "


def test_it_is_bounded(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "state/nvim/acp.nvim"
    folder.mkdir(parents=True)
    for number in range(60):
        (folder / f"draft-{number:02}.json").write_text("{}")
    nvim = start()
    nvim.command("AcpChat")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { ('ü'):rep(1500000) })")
    eventually(lambda: "only the first 2 MB" in nvim.messages(), message=nvim.messages)
    leave(nvim)
    assert len(files(tmp_path)) == 50
    again = start()
    again.command("AcpChat")
    assert again.lines() == ["ü" * (1024 * 1024)]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"text": 3}', "\x00"])
def test_a_broken_file_is_no_draft(start: Start, tmp_path: Path, content: str) -> None:
    nvim = start()
    nvim.command("AcpChat")
    nvim.keys("draft")
    leave(nvim)
    files(tmp_path)[0].write_text(content)
    again = start()
    again.command("AcpChat")
    assert again.lines() == [""]


def test_what_is_no_file_is_no_draft(start: Start, tmp_path: Path) -> None:
    nvim = start()
    nvim.command("AcpChat")
    nvim.keys("draft")
    leave(nvim)
    (path,) = files(tmp_path)
    for make in (os.mkfifo, os.mkdir):
        path.unlink()
        make(path)
        (path.parent / "sessions.json").unlink(missing_ok=True)
        os.mkfifo(path.parent / "sessions.json")
        again = start()
        again.command("edit acp://claude/1")
        again.command("AcpChat")
        assert again.lines() == [""]
        leave(again)


def test_a_folder_that_cannot_be_written_is_one_message(start: Start, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    nvim = start()
    nvim.command("AcpChat")
    nvim.keys("draft<Esc>")
    nvim.command(f"bwipeout {buffer(nvim, PROMPT)}")
    eventually(lambda: "could not be saved" in nvim.messages())
    assert events(nvim, "close")
    nvim.command("AcpChat")
    assert nvim.lines() == ["draft"]


def test_a_full_disk_takes_no_draft_away(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "state/nvim/acp.nvim"
    with small_disk(folder, 256 * 1024):
        first = start()
        first.command("AcpChat")
        first.keys("draft")
        leave(first)
        (path,) = files(tmp_path)
        second = start()
        second.command("AcpChat")
        assert second.lines() == ["draft"]
        filler = fill(folder)
        second.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { ('x'):rep(100000) })")
        second.command(f"bwipeout! {buffer(second, PROMPT)}")
        eventually(lambda: "could not be saved" in second.messages())
        assert texts(tmp_path) == ["draft"]  # the older text, and nothing half written
        assert len(files(tmp_path)) == 2
        second.command("AcpChat")
        assert second.lines() == ["x" * 100000]
        filler.unlink()
        leave(second)
        assert files(tmp_path) == [path]
