"""What is on the disk under buffers: encodings, links, modes, what is no file, undo files; other readers."""

from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.plugin import Neovim, StartNvim, StartScreen, eventually

READ = "return require('acp.buffers').read(...)"
WRITE = "return require('acp.buffers').write(...)"
CHECK = "return require('acp.buffers').check(...)"


def edit(nvim: Neovim, path: Path, content: bytes, how: str = "") -> int:
    path.write_bytes(content)
    nvim.command(f"edit {how} {path}")
    assert nvim.lua(READ, str(path))["loaded"]
    return int(nvim.api.get_current_buf().number)


def option(nvim: Neovim, name: str) -> Any:
    return nvim.api.get_option_value(name, {"buf": 0})


@pytest.mark.parametrize(
    ("encoding", "before", "after", "text", "then"),
    [
        ("latin1", "caf\xe9\n".encode("latin-1"), "th\xe9\n".encode("latin-1"), "th\xe9\n", "latin1"),
        ("latin1", "caf\xe9\n".encode("latin-1"), "th\xe9 日本\n".encode(), "th\xe9 日本\n", "utf-8"),
        ("latin1", "caf\xe9\n".encode("latin-1"), b"tea\n", "tea\n", "latin1"),
        ("utf-8", "café\n".encode(), "th\xe9\n".encode("latin-1"), "th\xe9\n", "latin1"),
        (
            "utf-16",
            "\ufeffone\n".encode("utf-16-be"),
            "\ufefftwo\n".encode("utf-16-be"),
            "\ufefftwo\n",
            "utf-16",
        ),
        ("utf-16le", "\ufeffone\n".encode("utf-16-le"), b"two\n", "two\n", "utf-8"),
        ("utf-8", b"one\n", b"\xef\xbb\xbftwo\n", "\ufefftwo\n", "utf-8"),
        ("utf-8", b"\xef\xbb\xbfone\r\n", b"two\n", "two\n", "utf-8"),
        ("utf-8", b"one\n", b"a\0b\n\0", "a\0b\n\0", "utf-8"),
    ],
)
def test_what_another_program_writes(
    nvim: Neovim, short_tmp: Path, encoding: str, before: bytes, after: bytes, text: str, then: str
) -> None:
    path = short_tmp / "a.txt"
    edit(nvim, path, before, f"++enc={encoding}")
    path.write_bytes(after)
    assert nvim.lua(CHECK, [str(path)]) == []
    answer = nvim.lua(READ, str(path))
    assert (answer["text"], answer["modified"], option(nvim, "fileencoding")) == (text, False, then)
    nvim.command("silent set nofixendofline | write")
    assert path.read_bytes() == after


def test_a_file_shown_unpacked_is_left_to_who_unpacks_it(nvim: Neovim, short_tmp: Path) -> None:
    nvim.command("runtime plugin/gzip.vim")
    path = short_tmp / "a.gz"
    buffer = edit(nvim, path, gzip.compress(b"one\n"))
    assert nvim.lines(buffer) == ["one"]
    path.write_bytes(gzip.compress(b"two and more\n"))
    assert nvim.lua(CHECK, [str(path)]) == []
    assert nvim.lines(buffer) == ["two and more"]


@pytest.mark.parametrize("backupcopy", ["auto", "no", "yes", "auto,breakhardlink", "yes,breaksymlink"])
def test_links_and_modes_stay(nvim: Neovim, short_tmp: Path, backupcopy: str) -> None:
    path, hard, soft = (short_tmp / name for name in ("run.sh", "hard", "soft"))
    path.write_bytes(b"one\n")
    path.chmod(0o751)
    hard.hardlink_to(path)
    soft.symlink_to(path)
    nvim.command(f"set backupcopy={backupcopy} nowritebackup | edit {soft}")
    for number, name in enumerate((path, hard, soft)):
        # A hard link is the same file, too: its buffer is written through.
        assert nvim.lua(READ, str(name))["loaded"]
        assert nvim.lua(WRITE, str(name), f"{number}\n")["ok"]
        assert nvim.lines() == [str(number)]
        assert [each.read_text() for each in (path, hard, soft)] == [f"{number}\n"] * 3
    assert (soft.is_symlink(), path.stat().st_nlink, stat.S_IMODE(path.stat().st_mode)) == (True, 2, 0o751)
    assert sorted(each.name for each in short_tmp.iterdir() if each.is_file()) == ["hard", "run.sh", "soft"]
    assert nvim.command("set backupcopy? writebackup?").split() == [
        f"backupcopy={backupcopy}",
        "nowritebackup",
    ]


def test_what_is_no_file_is_not_looked_at(nvim: Neovim, short_tmp: Path) -> None:
    """A buffer of that name is no reason to open a pipe, which would wait for ever."""
    path = short_tmp / "a"
    edit(nvim, path, b"one\n")
    for make in (os.mkfifo, Path.mkdir):
        path.unlink()
        make(path)
        assert nvim.lua(READ, str(path)) == {"loaded": False}
        assert nvim.lua(WRITE, str(path), "x") == {"ok": False, "loaded": False}
        assert nvim.lua(CHECK, [str(path)]) == []
        path.rmdir() if path.is_dir() else path.unlink()
        path.write_bytes(b"one\n")
    assert nvim.lines() == ["one"]


@pytest.mark.parametrize("how", ["write", "reload"])
def test_the_undo_file_is_that_of_the_new_text(start_nvim: StartNvim, short_tmp: Path, how: str) -> None:
    path, undo = short_tmp / "a.txt", short_tmp / "undo"
    undo.mkdir()
    nvim = start_nvim()
    nvim.command(f"set undofile undodir={undo}")
    edit(nvim, path, b"one\ntwo\n")
    nvim.api.buf_set_lines(0, 0, 1, True, ["ONE"])
    nvim.command("silent write")
    if how == "write":
        assert nvim.lua(WRITE, str(path), "ONE\nTWO\n")["ok"]
    else:
        path.write_bytes(b"ONE\nTWO\n")
        assert nvim.lua(CHECK, [str(path)]) == []
    later = start_nvim()
    later.command(f"set undofile undodir={undo}")
    later.command(f"edit {path}")
    later.command("silent undo")
    assert later.lines() == ["ONE", "two"]
    later.command("silent undo")
    assert later.lines() == ["one", "two"]


@pytest.mark.parametrize("how", ["write", "reload"])
def test_what_others_have_put_at_the_text_moves_with_it(nvim: Neovim, short_tmp: Path, how: str) -> None:
    path = short_tmp / "a.txt"
    old = [f"line {n}" for n in range(1, 2001)]
    buffer = edit(nvim, path, ("\n".join(old) + "\n").encode())
    nvim.command("set undoreload=10 | 1000mark k | 1500,1510fold | call cursor(1990, 3)")
    found = nvim.lua(
        """
        _G.lines, _G.reloads = {}, 0
        vim.api.nvim_buf_attach(..., false, {
          on_lines = function(_, _, _, first, last, new) table.insert(_G.lines, { first, last, new }) end,
          on_reload = function() _G.reloads = _G.reloads + 1 end,
        })
        local ns = vim.api.nvim_create_namespace('other')
        vim.fn.sign_define('Other', { text = '>>' })
        vim.fn.sign_place(7, 'g', 'Other', ..., { lnum = 1200 })
        vim.diagnostic.set(ns, ..., { { lnum = 1299, col = 2, message = 'bad' } })
        local there = { end_row = 1099, end_col = 9, hl_group = 'Error' }
        return vim.api.nvim_buf_set_extmark(..., ns, 1099, 5, there)
        """,
        buffer,
    )
    new = ["top", *old[:500], *old[510:1099], "line new 1100", *old[1100:]]
    text = "\n".join(new) + "\n"
    if how == "write":
        assert nvim.lua(WRITE, str(path), text)["ok"]
    else:
        path.write_text(text)
        assert nvim.lua(CHECK, [str(path)]) == []
    assert nvim.lines(buffer) == new
    assert nvim.lua("return _G.reloads") == 0
    assert nvim.lua("return #_G.lines") == 3
    ns = nvim.api.create_namespace("other")
    row, col, details = nvim.api.buf_get_extmark_by_id(buffer, ns, found, {"details": True})
    assert (row, col, details["end_row"], details["end_col"]) == (1090, 9, 1090, 13)
    assert nvim.funcs.sign_getplaced(buffer, {"group": "g"})[0]["signs"][0]["lnum"] == 1191
    assert nvim.funcs.getpos("'k")[1] == 991
    assert nvim.funcs.foldclosed(1491) == 1491
    assert nvim.funcs.foldclosedend(1491) == 1501
    assert nvim.api.win_get_cursor(0) == [1981, 2]
    nvim.command("silent undo")
    assert nvim.lines(buffer) == old


def test_language_servers_hear_of_a_reload(start_nvim: StartNvim, short_tmp: Path) -> None:
    nvim = start_nvim()
    path = short_tmp / "a.txt"
    edit(nvim, path, b"one\ntwo\n")
    nvim.lua(
        """
        _G.heard = {}
        vim.lsp.start({ name = 'x', flags = { debounce_text_changes = 0 }, cmd = function()
          return {
            request = function(method, _, callback)
              if method == 'initialize' then
                callback(nil, { capabilities = { textDocumentSync = {
                  change = 2, openClose = true, save = { includeText = true } } } })
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
    path.write_bytes(b"one\nTWO\n")
    assert nvim.lua(CHECK, [str(path)]) == []
    nvim.lua("vim.wait(500, function() return #_G.heard >= 4 end)")
    heard = [item[0] for item in nvim.lua("return _G.heard")]
    assert heard.count("textDocument/didOpen") == 1
    assert heard.count("textDocument/didClose") == 0
    assert heard.count("textDocument/didChange") == 1
    assert ["textDocument/didSave", "one\nTWO\n"] in [list(item) for item in nvim.lua("return _G.heard")]


def test_an_edit_taken_back_in_a_conflict_shows_the_disk(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    edit(nvim, path, b"one\n")
    nvim.api.buf_set_lines(0, 0, 1, True, ["mine"])
    path.write_bytes(b"theirs\n")
    assert nvim.lua(CHECK, [str(path)]) == [str(path)]
    nvim.command("silent undo")
    assert nvim.lines() == ["one"]
    assert not option(nvim, "modified")
    assert nvim.lua(CHECK, [str(path)]) == []
    assert nvim.lines() == ["theirs"]
    assert nvim.lua("return vim.b.acp_conflict") is None


def test_unsaved_edits_that_are_what_came_are_none(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    edit(nvim, path, b"one\n")
    nvim.api.buf_set_lines(0, 0, 1, True, ["two"])
    path.write_bytes(b"two\n")
    assert nvim.lua(CHECK, [str(path)]) == []
    assert not option(nvim, "modified")
    nvim.command("silent undo")
    assert nvim.lines() == ["one"]


def test_a_new_file_in_conflict_is_not_overwritten_by_chance(
    start_screen: StartScreen, short_tmp: Path
) -> None:
    screen = start_screen()
    path = short_tmp / "new.txt"
    screen.command(f"edit {path}")
    screen.api.buf_set_lines(0, 0, -1, True, ["mine"])
    path.write_bytes(b"theirs\n")
    assert screen.lua(CHECK, [str(path)]) == [str(path)]
    with pytest.raises(Exception, match="the file exists on disk now"):
        screen.command("write")
    assert path.read_bytes() == b"theirs\n"
    screen.command(f"silent write {short_tmp / 'other.txt'}")
    screen.command("silent write!")
    assert path.read_bytes() == b"mine\n"
    screen.command("silent write")
    screen.clear_messages()


def test_both_texts(nvim: Neovim, short_tmp: Path) -> None:
    """The file gets the agent's text, the buffer the merged one; one undo gives the user's."""
    path = short_tmp / "a.txt"
    mine = [f"line {n}" for n in range(1, 31)] + ["mine"]
    edit(nvim, path, b"one\n")
    nvim.api.buf_set_lines(0, 0, -1, True, mine)
    nvim.command("25mark k | call cursor(28, 3)")
    tick = nvim.lua(READ, str(path))["tick"]
    theirs = ["top", *mine[:-1]]
    merged = "\n".join([*theirs, "mine"]) + "\n"
    options = {"tick": tick, "merged": merged}
    assert nvim.lua(WRITE, str(path), "\n".join(theirs) + "\n", options)["ok"]
    assert path.read_text().splitlines() == theirs
    assert nvim.lines() == [*theirs, "mine"]
    assert option(nvim, "modified")
    assert (nvim.funcs.getpos("'k")[1], nvim.api.win_get_cursor(0)) == (26, [29, 2])
    assert nvim.lua(CHECK, [str(path)]) == []
    nvim.command("checktime")
    nvim.command("silent undo")
    assert nvim.lines() == mine
    nvim.command("silent redo | silent write")
    assert path.read_text() == merged
    nvim.clear_messages()


def test_large_files_are_changed_in_few_steps(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.txt"
    old = [f"line {n}" for n in range(20_000)]
    buffer = edit(nvim, path, ("\n".join(old) + "\n").encode())
    nvim.command("15000mark k")
    nvim.lua(
        "_G.told = 0 vim.api.nvim_buf_attach(0, false, { on_lines = function() _G.told = _G.told + 1 end })"
    )
    new = [f"    {line}" if n % 3 else line for n, line in enumerate(old)]
    assert nvim.lua(WRITE, str(path), "\n".join(new) + "\n")["ok"]
    assert nvim.lines(buffer) == new
    assert nvim.lua("return _G.told") <= 2000
    assert nvim.funcs.getpos("'k")[1] == 15000
    nvim.command("silent undo")
    assert nvim.lines(buffer) == old


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_folder_that_takes_no_new_files(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "sub/a"
    path.parent.mkdir()
    edit(nvim, path, b"one\n")
    path.parent.chmod(0o555)
    try:
        assert nvim.lua(WRITE, str(path), "two\n")["ok"]
    finally:
        path.parent.chmod(0o755)
    assert path.read_text() == "two\n"


@pytest.mark.parametrize(
    ("content", "digested"),
    [(b"one\ntwo\n", True), (b"o\0ne\n\1two\n", True), (b"one\ntwo\n" * 100_000, False)],
    ids=["text", "NUL", "large"],
)
def test_what_changes_under_unsaved_edits_is_noticed(
    nvim: Neovim, short_tmp: Path, content: bytes, digested: bool
) -> None:
    """Also what only got another time is looked at; only small files are known by their content."""
    path = short_tmp / "a.txt"
    edit(nvim, path, content)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert nvim.lua(CHECK, [str(path)]) == []
    nvim.api.buf_set_lines(0, 0, 1, True, ["mine"])
    assert nvim.lua(CHECK, [str(path)]) == []
    os.utime(path, (1_000_000_009, 1_000_000_009))
    assert nvim.lua(CHECK, [str(path)]) == ([] if digested else [str(path.resolve())])
    path.write_bytes(content.replace(b"one", b"two", 1).replace(b"o\0ne", b"o\1ne", 1))
    os.utime(path, (1_000_000_019, 1_000_000_019))
    assert nvim.lua(CHECK, [str(path)]) == [str(path.resolve())]


COUNT_READS = """
_G.read = 0
local open = io.open
io.open = function(path, ...)
  if path == vim.fn.resolve(vim.api.nvim_buf_get_name(0)) then _G.read = _G.read + 1 end
  return open(path, ...)
end
local disk = require('acp.buffers.disk')
local trust = disk.trust
disk.trust = function(...)
  _G.trusted = trust(...)
  return _G.trusted
end
require('acp.buffers.watch').start(1, { (...) })
"""
LARGE = b"line\n" * 300_000


@pytest.mark.parametrize(
    ("content", "how", "reads"),
    [
        (LARGE, "", 0),
        (LARGE[:-1], "", 0),
        (LARGE.replace(b"\n", b"\r\n"), "", 0),
        (b"\xef\xbb\xbf" + LARGE, "", 0),
        (LARGE + b"caf\xe9\n", "++enc=latin1", 1),
        (b"one\n", "", 1),
    ],
)
def test_a_large_file_is_not_read_to_be_known(
    nvim: Neovim, short_tmp: Path, content: bytes, how: str, reads: int
) -> None:
    """It would block for hundreds of milliseconds as a turn begins; its changes are found all the same."""
    path = short_tmp / "a.txt"
    path.write_bytes(content)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    nvim.command(f"edit {how} {path}")
    nvim.lua(COUNT_READS, str(short_tmp))
    assert eventually(lambda: nvim.lua("return { _G.trusted }")) == [reads == 0]
    assert nvim.lua("return _G.read") == reads
    path.write_bytes(b"new\n" + content)
    assert nvim.lua(CHECK, [str(path)]) == []
    assert nvim.lines()[0] == "new"
    nvim.command("silent undo")
    assert nvim.lines()[0] in ("line", "one")


def test_a_large_file_shown_unpacked_is_read_by_neovim(nvim: Neovim, short_tmp: Path) -> None:
    path = short_tmp / "a.gz"
    packed, other = (gzip.compress(os.urandom(1_000_000) + each, 0) for each in (b"one", b"other"))
    path.write_bytes(packed)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    nvim.command("runtime plugin/gzip.vim | doautocmd VimEnter")
    nvim.command(f"silent edit {path}")
    before = nvim.lines()
    nvim.lua(COUNT_READS, str(short_tmp))
    eventually(lambda: nvim.lua("return _G.read") == 1)
    path.write_bytes(other)
    nvim.lua(CHECK, [str(path)])
    assert nvim.lines() != before
    assert nvim.lines()[0][:2] != "\x1f\x8b"


def test_a_file_that_changed_under_edits_is_not_overwritten_by_their_leave(
    nvim: Neovim, short_tmp: Path
) -> None:
    """The text on the disk is nowhere else: neither in the buffer nor in its undo history."""
    path = short_tmp / "a.txt"
    edit(nvim, path, b"one\n")
    nvim.api.buf_set_lines(0, 0, 1, True, ["saved by the user"])
    nvim.command("silent write")
    nvim.api.buf_set_lines(0, 0, 1, True, ["mine"])
    tick = nvim.lua(READ, str(path))["tick"]
    assert nvim.lua(WRITE, str(path), "theirs\n", {"tick": tick})["ok"], "their own write is no change"
    nvim.api.buf_set_lines(0, 0, 1, True, ["mine again"])
    path.write_bytes(b"of another program\n")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    tick = nvim.lua(READ, str(path))["tick"]
    answer = nvim.lua(WRITE, str(path), "theirs too\n", {"tick": tick})
    assert (answer["ok"], answer["why"], bool(answer["disk"])) == (False, "modified", True)
    assert path.read_bytes() == b"of another program\n"
    path.write_bytes(b"and changed again\n")
    os.utime(path, (1_000_000_009, 1_000_000_009))
    seen = {"tick": tick, "disk": answer["disk"]}
    answer = nvim.lua(WRITE, str(path), "theirs too\n", seen)
    assert (answer["why"], path.read_bytes()) == ("modified", b"and changed again\n")
    assert nvim.lua(WRITE, str(path), "theirs too\n", {"tick": tick, "disk": answer["disk"]})["ok"]
    assert path.read_bytes() == b"theirs too\n"
    nvim.clear_messages()


@pytest.mark.parametrize("then", ["refused", "allowed", "taken by the user"])
def test_a_change_found_by_a_write_is_told_as_any_other(
    start_nvim: StartNvim, short_tmp: Path, then: str
) -> None:
    """An agent that writes the disk by itself, and asks for the same write before anybody has looked."""
    nvim = start_nvim(init="require('acp').setup({})")
    path = short_tmp / "a.txt"
    edit(nvim, path, b"old\n")
    nvim.api.buf_set_lines(0, 0, -1, False, ["mine"])
    path.write_bytes(b"theirs\n")
    asked = nvim.lua(WRITE, str(path), "theirs\n", {"chat": 1})
    assert (asked["ok"], asked["why"]) == (False, "modified")
    if then == "allowed":
        leave = {"tick": nvim.api.buf_get_changedtick(0), "disk": asked["disk"], "chat": 1}
        assert nvim.lua(WRITE, str(path), "theirs\n", leave)["ok"]
    elif then == "taken by the user":
        nvim.command("edit!")
    assert nvim.lua(CHECK, [str(path)], 1) == ([str(path.resolve())] if then == "refused" else [])
    assert nvim.lua(CHECK, [str(path)], 1) == []
