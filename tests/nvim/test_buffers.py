"""Files in buffers: exact texts, minimal writes, reloads without a question."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from tests.plugin import Neovim, StartNvim, StartScreen

READ = "return require('acp.buffers').read(...)"
WRITE = "return require('acp.buffers').write(...)"
CHECK = "return require('acp.buffers').check(...)"

ODD = [
    "",
    "\n",
    "a",
    "a\n",
    "a\nb\nc\n",
    "a\nb",
    "\n\n",
    "a\r\nb\r\n",
    "a\r\nb",
    "a\r\nb\n",
    "a\rb\r",
    "a\r\r\nb\r\n",
    "\ufeffa\nb\n",
    "\ufeffa\r\n",
    "日本語\n🚀\n",
    "a\r\n\x1a",
    "a\x1a",
    "\x0cpage\x01\n",
]


def load(nvim: Neovim, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    nvim.command(f"edit {path}")


@pytest.mark.req("V1-163")
@pytest.mark.parametrize("text", ODD)
def test_a_loaded_file_reads_as_the_disk_does(nvim: Neovim, short_tmp: Path, text: str) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, text.encode())
    answer = nvim.lua(READ, str(path))
    assert (answer["loaded"], answer["modified"], answer["text"]) == (True, False, text)


@pytest.mark.req("V1-171")
def test_what_was_written_is_what_is_read_on_disk_and_in_the_buffer(nvim: Neovim, short_tmp: Path) -> None:
    rng = random.Random(7)
    texts = ODD + ["".join(rng.choices("ab\n\r\ufeff\x1aé ", k=rng.randint(0, 12))) for _ in range(150)]
    path = short_tmp / "a.txt"
    for start in (b"one\ntwo\n", b"one\r\ntwo\r\n", b"\xef\xbb\xbfone\n", b"", b"one"):
        nvim.command("silent! %bwipeout!")
        load(nvim, path, start)
        for text in texts:
            assert nvim.lua(WRITE, str(path), text)["ok"]
            assert path.read_bytes() == text.encode(), (start, text)
            answer = nvim.lua(READ, str(path))
            assert (answer["text"], answer["modified"]) == (text, False), (start, text)
    assert nvim.messages() == ""


@pytest.mark.req("V1-162")
def test_unsaved_text_is_read_through_links_and_dots(nvim: Neovim, short_tmp: Path) -> None:
    folder = short_tmp / "ws"
    folder.mkdir()
    (short_tmp / "link").symlink_to(folder)
    path = folder / "a.py"
    load(nvim, path, b"one\ntwo\n")
    nvim.api.buf_set_lines(0, 0, 1, True, ["UNSAVED"])
    for name in (path, short_tmp / "link/a.py", f"{folder}/../ws/a.py"):
        answer = nvim.lua(READ, str(name))
        assert (answer["text"], answer["modified"]) == ("UNSAVED\ntwo\n", True)
    assert nvim.lua(READ, str(folder / "other.py")) == {"loaded": False}


def test_names_with_odd_characters_are_names(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "$HOME [a] ~ 日本.txt"
    path.write_text("x\n")
    nvim.api.cmd({"cmd": "edit", "args": [str(path)], "magic": {"file": False}}, {})
    assert nvim.lua(READ, str(path))["text"] == "x\n"
    assert nvim.lua(READ, str(short_tmp / "$NEW/y.txt"))["loaded"] is False


@pytest.mark.req("V1-169")
def test_a_write_is_one_undo_step_that_keeps_cursor_and_marks(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, "".join(f"line {n}\n" for n in range(1, 41)).encode())
    nvim.command("30mark k")
    nvim.api.win_set_cursor(0, [20, 3])
    space = nvim.api.create_namespace("test")
    mark = nvim.api.buf_set_extmark(0, space, 24, 2, {})
    lines = [f"line {n}" for n in range(1, 41)]
    changed = ["new", *lines[:9], "CHANGED", *lines[10:34], *lines[36:]]
    assert nvim.lua(WRITE, str(path), "\n".join(changed) + "\n")["ok"]
    assert nvim.lines() == changed
    assert path.read_text() == "\n".join(changed) + "\n"
    assert nvim.api.win_get_cursor(0) == [21, 3]
    assert nvim.funcs.getpos("'k")[1] == 31
    assert nvim.api.buf_get_extmark_by_id(0, space, mark, {}) == [25, 2]
    nvim.command("silent undo")
    assert nvim.lines() == lines
    assert nvim.command("echo undotree().seq_last") == "1"


def test_autocommands_and_options_of_the_user_play_no_part(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, b"one\n")
    nvim.command("autocmd BufWritePre,BufWritePost,FileChangedShell * let g:ran = get(g:, 'ran', 0) + 1")
    nvim.command("setlocal nomodifiable readonly")
    nvim.command("set noautoread nohidden fixendofline")
    assert nvim.lua(WRITE, str(path), "two")["ok"]
    assert path.read_bytes() == b"two"
    assert nvim.funcs.exists("g:ran") == 0
    assert [nvim.api.get_option_value(o, {"buf": 0}) for o in ("modifiable", "readonly", "fixendofline")] == [
        False,
        True,
        True,
    ]
    nvim.command("checktime")
    assert nvim.messages() == ""


def test_a_hidden_buffer_is_written_too(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, b"one\n")
    buffer = nvim.api.get_current_buf()
    nvim.command("set hidden | enew")
    assert nvim.lua(WRITE, str(path), "two\n")["ok"]
    assert nvim.lines(buffer.number) == ["two"]
    assert path.read_text() == "two\n"


@pytest.mark.req("V1-168")
def test_a_new_file_in_a_new_folder_that_is_open_already(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "new/folder/a.txt"
    nvim.command(f"edit {path}")
    assert nvim.lua(READ, str(path)) | {"tick": 0} == {
        "loaded": True,
        "modified": False,
        "text": "",
        "tick": 0,
    }
    assert nvim.lua(WRITE, str(path), "x\n")["ok"]
    assert path.read_text() == "x\n"


@pytest.mark.parametrize("how", ["write", "reload"])
@pytest.mark.parametrize("before", ["", "???"])
def test_a_text_that_replaces_one_line_is_seen_from_its_top(
    nvim: Neovim, short_tmp: Path, how: str, before: str
) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, before.encode())
    text = "# todo\n- one\n- two\n"
    if how == "write":
        assert nvim.lua(WRITE, str(path), text)["ok"]
    else:
        path.write_text(text)
        nvim.lua(CHECK, [str(path)])
    assert nvim.lines() == text.splitlines()
    view = nvim.funcs.winsaveview()
    assert (view["lnum"], view["topline"]) == (1, 1)


@pytest.mark.req("V1-170")
def test_unsaved_edits_are_in_the_way_until_the_caller_names_them(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, b"one\n")
    nvim.api.buf_set_lines(0, 0, 1, True, ["mine"])
    assert nvim.lua(WRITE, str(path), "theirs\n") == {"ok": False, "why": "modified"}
    tick = nvim.lua(READ, str(path))["tick"]
    nvim.api.buf_set_lines(0, 0, 1, True, ["mine, more"])
    assert nvim.lua(WRITE, str(path), "theirs\n", {"tick": tick}) == {"ok": False, "why": "modified"}
    assert path.read_text() == "one\n"
    tick = nvim.lua(READ, str(path))["tick"]
    assert nvim.lua(WRITE, str(path), "theirs\n", {"tick": tick})["ok"]
    assert path.read_text() == "theirs\n"
    nvim.command("silent undo")
    assert nvim.lines() == ["mine, more"]


def test_typing_in_insert_mode_is_a_step_of_its_own(start_screen: StartScreen, short_tmp: Path) -> None:
    screen = start_screen()
    path = short_tmp / "a.txt"
    load(screen, path, b"one\ntwo\n")
    screen.keys("i")
    assert screen.lua(WRITE, str(path), "one\nTWO\n")["ok"]
    screen.keys("x<Esc>")
    screen.wait("xone")
    screen.keys("u")
    assert screen.lines() == ["one", "TWO"]


def test_another_encoding_is_kept_or_refused(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    path.write_bytes("café\n".encode("latin-1"))
    nvim.command(f"edit ++enc=latin1 {path}")
    assert nvim.lua(READ, str(path))["text"] == "café\n"
    assert nvim.lua(WRITE, str(path), "thé\n")["ok"]
    assert path.read_bytes() == "thé\n".encode("latin-1")
    answer = nvim.lua(WRITE, str(path), "日本\n")
    assert not answer["ok"]
    assert "latin1" in answer["error"]
    assert nvim.lines() == ["thé"]
    assert nvim.api.get_option_value("modified", {"buf": 0}) is False


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_refused(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, b"one\n")
    path.chmod(0o444)
    assert not nvim.lua(WRITE, str(path), "two\n")["ok"]
    assert nvim.lines() == ["one"]


def test_a_write_that_fails_leaves_the_buffer_as_it_was(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "sub/a.txt"
    path.parent.mkdir()
    load(nvim, path, b"one\n")
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("a file where the folder was")
    answer = nvim.lua(WRITE, str(path), "two\n")
    assert not answer["ok"]
    assert answer["error"]
    assert nvim.lines() == ["one"]


def numbered(*numbers: int) -> bytes:
    return "".join(f"line {n}\n" for n in numbers).encode()


@pytest.mark.parametrize("autoread", ["autoread", "noautoread"])
def test_files_changed_on_disk_are_read_again(
    start_screen: StartScreen, short_tmp: Path, autoread: str
) -> None:
    screen = start_screen()
    screen.command(f"set {autoread} undoreload=3")
    screen.command("autocmd FileChangedShell * let g:asked = 1")
    path = short_tmp / "a.txt"
    load(screen, path, numbered(*range(1, 31)))
    screen.command("20mark k")
    screen.api.win_set_cursor(0, [15, 4])
    path.write_bytes(numbered(100, 101, *range(1, 31)) + b"end\n")
    assert screen.lua(CHECK, [str(path)]) == []
    assert len(screen.lines()) == 33
    assert screen.api.win_get_cursor(0) == [17, 4]
    assert screen.funcs.getpos("'k")[1] == 22
    assert screen.funcs.exists("g:asked") == 0
    assert not screen.blocked()
    assert screen.command("set undoreload? autoread?").split() == ["undoreload=3", autoread]
    assert screen.command("setlocal autoread?").strip().startswith("--")
    screen.command("silent undo")
    assert len(screen.lines()) == 30
    assert screen.messages() == ""


def test_a_conflict_is_told_and_nobody_is_asked(start_screen: StartScreen, short_tmp: Path) -> None:
    screen = start_screen()
    path, other = short_tmp / "a.txt", short_tmp / "b.txt"
    load(screen, other, b"same\n")
    load(screen, path, b"one\n")
    screen.command("set hidden")
    screen.api.buf_set_lines(0, 0, 1, True, ["mine"])
    assert screen.lua(CHECK) == []
    path.write_bytes(b"theirs, longer\n")
    assert screen.lua(CHECK) == [str(path)]
    assert not screen.blocked()
    assert screen.lines() == ["mine"]
    assert screen.lua(READ, str(path))["text"] == "mine\n"
    assert screen.messages() == ""


def test_a_deleted_file_is_left_alone(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, b"one\n")
    path.unlink()
    assert nvim.lua(CHECK) == []
    assert nvim.lines() == ["one"]
    assert nvim.messages() == ""


def test_a_stale_buffer_is_brought_up_to_date_before_it_is_read_or_written(
    nvim: Neovim, short_tmp: Path
) -> None:
    path = short_tmp / "a.txt"
    load(nvim, path, b"one\n")
    path.write_bytes(b"from outside\n")
    assert nvim.lua(READ, str(path))["text"] == "from outside\n"
    path.write_bytes(b"from outside, again\n")
    assert nvim.lua(WRITE, str(path), "new\n")["ok"]
    nvim.command("silent undo")
    assert nvim.lines() == ["from outside, again"]


def test_language_servers_hear_of_the_write(start_nvim: StartNvim, short_tmp: Path) -> None:
    nvim = start_nvim()
    path = short_tmp / "a.txt"
    load(nvim, path, b"one\n")
    nvim.lua(
        """
        _G.heard = {}
        vim.lsp.start({ name = 'x', cmd = function(dispatchers)
          return {
            request = function(method, params, callback)
              if method == 'initialize' then
                callback(nil, { capabilities = { textDocumentSync = {
                  change = 1, openClose = true, save = { includeText = true } } } })
              end
              return true, 1
            end,
            notify = function(method, params) table.insert(_G.heard, { method, params.text }) return true end,
            is_closing = function() return false end,
            terminate = function() end,
          }
        end })
        vim.wait(1000, function() return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end)
        """
    )
    assert nvim.lua(WRITE, str(path), "two\n")["ok"]
    heard: list[Any] = nvim.lua("return _G.heard")
    assert ["textDocument/didSave", "two\n"] in [list(item) for item in heard]


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_appears_under_a_new_buffer_asks_nobody(
    start_screen: StartScreen, short_tmp: Path, edited: bool
) -> None:
    """Neovim has a dialog of its own for that (W13), which no autocommand can prevent."""
    screen = start_screen()
    path = short_tmp / "new.txt"
    screen.command(f"edit {path}")
    if edited:
        screen.api.buf_set_lines(0, 0, 1, True, ["mine"])
    path.write_bytes(b"theirs\n")
    assert screen.lua(CHECK) == ([str(path)] if edited else [])
    assert not screen.blocked()
    assert screen.lines() == (["mine"] if edited else ["theirs"])
    assert screen.lua(CHECK) == []
    assert screen.messages() == ""
