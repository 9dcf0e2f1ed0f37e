"""Random texts and random edits of them: the bytes as sent, one undo, and everything at its text.

Each round loads a file, sets marks, folds, extmarks and cursors in three windows at lines that are told apart
by a number at their beginning, and lets the agent change the text: through us, or on the disk by itself.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.plugin import Neovim, StartNvim

ROUNDS = 36

PLAIN = ["", "}", "same", "\t"]
WORDS = ["alpha", "be-ta", "x", "foo(bar)", "{", "}", "\t", "  ", "=", "a\u0301e\u0308", "日本語", "🚀", "é"]
LATIN = ["alpha", "x", "foo(bar)", "{", "}", "\t", "caf\xe9", "\xfc\xdf", "\xa0"]
JAPANESE = ["alpha", "x", "{", "日本語", "です", "カナ"]
KINDS: list[tuple[str, str, list[str]]] = [
    ("utf-8", "utf-8", WORDS),
    ("utf-8", "utf-8", WORDS),
    ("latin1", "latin-1", LATIN),
    ("cp1252", "cp1252", ["\u20ac5", *LATIN]),
    ("euc-jp", "euc-jp", JAPANESE),
    ("utf-16le", "utf-16-le", WORDS),
    ("utf-16", "utf-16-be", WORDS),
]

PREPARE = """
local path, enc, spec = ...
vim.cmd('silent! tabonly! | silent! only! | silent! %bwipeout!')
vim.o.lines, vim.o.columns = 24, 80
vim.cmd(('edit ++enc=%s %s'):format(enc, path))
local buf, ns = vim.api.nvim_get_current_buf(), vim.api.nvim_create_namespace('other')
vim.wo.foldmethod, vim.wo.foldenable = 'manual', true
for _, fold in ipairs(spec.folds) do vim.cmd(('%d,%dfold'):format(fold[1], fold[2])) end
for name, lnum in pairs(spec.marks) do vim.api.nvim_buf_set_mark(buf, name, lnum, 0, {}) end
local ids = {}
for _, at in ipairs(spec.extmarks) do
  table.insert(ids, vim.api.nvim_buf_set_extmark(buf, ns, at[1] - 1, at[2], { virt_text = { { 'x' } } }))
end
local wins = { vim.api.nvim_get_current_win() }
vim.cmd('split') table.insert(wins, vim.api.nvim_get_current_win())
vim.cmd('tab split') table.insert(wins, vim.api.nvim_get_current_win())
for i, win in ipairs(wins) do
  vim.wo[win].foldenable = i == 1
  local at = spec.cursors[i]
  vim.api.nvim_win_set_cursor(win, at)
  vim.api.nvim_win_call(win, function() vim.cmd('normal! ' .. spec.views[i]) end)
end
if spec.hidden then vim.cmd('tabnew') end
_G.round = { buf = buf, ns = ns, ids = ids, wins = wins, tick = vim.fn.undotree(buf).seq_last }
local tops = {}
for i, win in ipairs(wins) do tops[i] = vim.fn.getwininfo(win)[1].topline end
return tops
"""

STATE = """
local r, found = _G.round, { cursors = {}, tops = {}, marks = {}, extmarks = {}, folds = {} }
for i, win in ipairs(r.wins) do
  found.cursors[i] = vim.api.nvim_win_get_cursor(win)
  found.tops[i] = vim.fn.getwininfo(win)[1].topline
end
vim.api.nvim_win_call(r.wins[1], function()
  local lnum = 1
  while lnum <= vim.fn.line('$') do
    local last = vim.fn.foldclosedend(lnum)
    if last > 0 then table.insert(found.folds, { lnum, last }) end
    lnum = math.max(last, lnum) + 1
  end
end)
for _, mark in ipairs(vim.fn.getmarklist(r.buf)) do
  if mark.mark:find('^.%l$') then found.marks[mark.mark:sub(2)] = mark.pos[2] end
end
for i, id in ipairs(r.ids) do
  found.extmarks[i] = vim.api.nvim_buf_get_extmark_by_id(r.buf, r.ns, id, {})
end
found.steps = vim.fn.undotree(r.buf).seq_last - r.tick
found.modified = vim.bo[r.buf].modified
found.lines = vim.api.nvim_buf_get_lines(r.buf, 0, -1, false)
return found
"""

UNDO = """
local r = _G.round
vim.api.nvim_buf_call(r.buf, function() vim.cmd('silent undo') end)
return vim.api.nvim_buf_get_lines(r.buf, 0, -1, false)
"""


@dataclass
class Text:
    """Lines by number (None: no number, may stand anywhere), and how they become a file."""

    lines: list[tuple[int | None, str]]
    ending: str
    final: bool
    mark: str = ""
    next: int = field(default=0)

    def text(self) -> str:
        body = self.ending.join(line for _, line in self.lines)
        return self.mark + body + (self.ending if self.final and self.lines else "")

    def where(self) -> dict[int, int]:
        return {number: at for at, (number, _) in enumerate(self.lines, 1) if number is not None}


def new_line(rng: random.Random, text: Text, words: list[str]) -> tuple[int | None, str]:
    if rng.random() < 0.25:
        return None, rng.choice(PLAIN)
    text.next += 1
    count = 4000 if rng.random() < 0.01 else rng.randint(0, 6)
    body = " ".join(rng.choice(words) for _ in range(count))
    return text.next, f"<{text.next}> {body} end{text.next}"


def changed(rng: random.Random, old: Text, words: list[str]) -> tuple[Text, set[int]]:
    """A new text, and the numbers of lines of which nobody can tell for certain what became of them.

    Those are lines that changed themselves where much around them did, too.
    """
    new = Text(list(old.lines), old.ending, old.final, old.mark, old.next)
    touched: set[int] = set()
    count = rng.choice((1, 1, 2, 5, 12))
    for _ in range(count):
        at = rng.randrange(min(2 * len(PLAIN), len(new.lines)), len(new.lines) + 1)
        action = rng.choice(("insert", "delete", "edit", "edit", "replace"))
        if action == "insert" or not new.lines:
            new.lines[at:at] = [new_line(rng, new, words) for _ in range(rng.randint(1, 4))]
        elif action == "delete":
            del new.lines[at : at + rng.randint(1, 3)]
        elif action == "replace":
            new.lines[at : at + 2] = [new_line(rng, new, words)]
        elif at < len(new.lines) and new.lines[at][0] is not None:
            number, line = new.lines[at]
            assert number is not None
            touched.add(number)
            head, _, tail = line.partition(" ")
            middle = tail.rpartition(" ")[0]
            new.lines[at] = (number, f"{head} {middle}{rng.choice(words)} end{number}")
    if rng.random() < 0.1:
        new.final = not new.final
    if rng.random() < 0.05:
        new.lines = []
    return new, touched if count > 2 else set()


def column(rng: random.Random, line: str) -> int:
    """A byte column at a character of the line's number."""
    return rng.randrange(len(line.partition(">")[0]) + 1) if line.startswith("<") else 0


def round_of(rng: random.Random, nvim: Neovim, path: Path) -> None:
    encoding, codec, words = rng.choice(KINDS)
    if encoding == "utf-8" and rng.random() < 0.15:
        words = [*words, "a\0b"]
    ending = rng.choice(("\n", "\n", "\r\n"))
    bom = "\ufeff" if encoding.startswith("utf-16") or (encoding == "utf-8" and rng.random() < 0.2) else ""
    old = Text([], ending, rng.random() < 0.8, bom)
    # Lines without a number are there more than once: what is there once on each side tells how texts match.
    old.lines = [(None, line) for line in PLAIN * 2]
    old.lines += [new_line(rng, old, words) for _ in range(rng.choice((2, 20, 60, 200)))]
    path.write_bytes(old.text().encode(codec))
    numbered = sorted(old.where().items(), key=lambda item: item[1]) or [(0, 1)]

    def pick() -> tuple[int, int]:
        return rng.choice(numbered)

    marks = {name: pick() for name in "ab"}
    cursors = [pick() for _ in range(3)]
    extmarks = [pick() for _ in range(4)]
    columns = [column(rng, old.lines[at - 1][1]) for _, at in (*cursors, *extmarks)]
    ends = sorted({pick()[1] for _ in range(4)})
    folds = [ends[:2], ends[2:4]] if len(ends) >= 4 else []
    spec: dict[str, Any] = {
        "marks": {name: at for name, (_, at) in marks.items()},
        "cursors": [[at, col] for (_, at), col in zip(cursors, columns, strict=False)],
        "extmarks": [[at, col] for (_, at), col in zip(extmarks, columns[3:], strict=True)],
        "folds": folds,
        "views": [rng.choice(("zt", "zz", "zb")) for _ in range(3)],
        "hidden": rng.random() < 0.3,
    }
    tops = nvim.lua(PREPARE, str(path), encoding, spec)
    assert nvim.lua("return require('acp.buffers').read(...)", str(path))["text"] == old.text()
    before = nvim.lua(STATE)
    new, lost = changed(rng, old, words)
    sent = new.text()
    if rng.random() < 0.5:
        assert nvim.lua("return require('acp.buffers').write(...)", str(path), sent)["ok"]
    else:
        path.write_bytes(sent.encode(codec))
        assert nvim.lua("return require('acp.buffers').check(...)", [str(path)]) == []
    assert path.read_bytes() == sent.encode(codec)
    answer = nvim.lua("return require('acp.buffers').read(...)", str(path))
    assert (answer["text"], answer["modified"]) == (sent, False)
    after = nvim.lua(STATE)
    assert after["steps"] == (0 if after["lines"] == before["lines"] else 1)
    there = new.where()

    def kept(number: int) -> bool:
        return number in there and number not in lost

    for name, (number, _) in marks.items():
        if kept(number):
            assert after["marks"].get(name) == there[number], name
    for index, (number, _) in enumerate(cursors):
        if kept(number):
            assert after["cursors"][index] == [there[number], columns[index]], index
    for index, (number, _) in enumerate(extmarks):
        if kept(number):
            assert after["extmarks"][index] == [there[number] - 1, columns[3 + index]], index
    numbers = {at: number for number, at in old.where().items()}
    for index, top in enumerate(tops):
        at_top = numbers.get(top)
        cursor = cursors[index][0]
        if at_top is None or not (kept(cursor) and kept(at_top)):
            continue
        if there[cursor] - there[at_top] == cursors[index][1] - top:
            assert after["tops"][index] == there[at_top], index
    for first, last in folds:
        inner = [numbers[at] for at in (first, last)]
        if all(map(kept, inner)):
            assert [there[inner[0]], there[inner[1]]] in after["folds"], (first, last)
    if after["steps"]:
        assert nvim.lua(UNDO) == before["lines"]


@pytest.mark.req("V1-169")
@pytest.mark.parametrize("seed", range(5))
def test_everything_stays_at_its_text(start_nvim: StartNvim, short_tmp: Path, seed: int) -> None:
    nvim = start_nvim()
    nvim.command("set noswapfile hidden")
    for number in range(ROUNDS):
        rng = random.Random(1000 * seed + number)
        try:
            round_of(rng, nvim, short_tmp / f"f{number}.txt")
        except AssertionError as error:
            raise AssertionError(f"seed {1000 * seed + number}: {error}") from error
    assert nvim.messages() == ""
