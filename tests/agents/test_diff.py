"""The diff of a change that opencode or gemini asks about, and of one that was made."""

from __future__ import annotations

import pytest
from tests.agents.real import Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]


def sides(chat: Chat) -> list[tuple[str, list[str]]]:
    """Name and lines of the windows in diff mode of this tab page, from the left."""
    code = """
    local found = {}
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      if vim.wo[win].diff then
        local buf = vim.api.nvim_win_get_buf(win)
        local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':t')
        table.insert(found, { name, vim.api.nvim_buf_get_lines(buf, 0, -1, false) })
      end
    end
    return found
    """
    return [(name, lines) for name, lines in chat.screen.lua(code)]


OLD = ("greeting.txt", ["# greetings", "hello world", "goodbye world"])
NEW = ("greeting.txt", ["# greetings", "hello ACP", "goodbye world"])


def test_opens_with_the_question_and_closes_after_the_answer(chat: Chat) -> None:
    chat.send("edit")
    seen = chat.question()
    assert chat.focus()[:2] == (2, 2)
    assert sides(chat) == [OLD, NEW]
    assert "now  greeting.txt" in seen
    assert "proposed  greeting.txt" in seen
    assert f"{chat.name} wants to edit a file" in seen
    chat.answer("allow_once")
    chat.wait_home()
    chat.finish()
    assert chat.focus() == (1, 1, "acp-prompt", "i")
    assert sides(chat) == []


def test_put_off_and_taken_up_again(chat: Chat) -> None:
    chat.send("edit")
    chat.question()
    chat.screen.keys("q")
    chat.wait_home()
    assert chat.answered() == []
    chat.screen.command("AcpPermit")
    chat.question()
    assert sides(chat) == [OLD, NEW]
    chat.answer("reject_once")
    chat.wait_home()
    chat.finish()
    assert (chat.workspace / "greeting.txt").read_text().splitlines() == OLD[1]


def test_afterwards_by_command(chat: Chat) -> None:
    """What the disk had before is on one side, what it has now on the other."""
    chat.send("edit")
    chat.finish()
    chat.wait_home()
    chat.screen.keys("<Esc>")
    chat.until(lambda: chat.focus()[3] == "n", "Normal mode")
    chat.screen.command("AcpDiff greeting.txt")
    chat.until(lambda: len(sides(chat)) == 2, "the diff is shown")
    assert sides(chat) == [OLD, NEW]
    chat.screen.command("close")
    chat.wait_home()
    assert chat.screen.messages().strip() == ""


def test_new_file(chat: Chat) -> None:
    """A diff against nothing is no diff: one window."""
    chat.send("write")
    seen = chat.question()
    assert chat.focus()[:2] == (2, 2)
    assert sides(chat) == []
    assert "proposed  notes/todo.md" in seen
    assert "new file, 2 lines" in seen
    chat.answer("reject_once")
    chat.wait_home()
    chat.finish()
    assert not (chat.workspace / "notes/todo.md").exists()
