"""The screens of ui.md section 4 and 5, literally. (Neovim wraps; the buffer's lines are unwrapped.)"""

from __future__ import annotations

from typing import Any

from tests.unit.view.helpers import DATE_NEW, DATE_OLD, Chat, at, edit, text

from acp_nvim.session.asked import PathSubject, Permission, PermissionOption
from acp_nvim.session.entities import Plan, PlanEntry
from acp_nvim.session.events import PermissionOpened, PlanSet
from acp_nvim.view.icons import ASCII

RUNNING = """\
❯ Years like 1900 are taken for leap years. Fix it and add a test. @src/date.py:7-13

· think  4 s, 3 lines ▸

`is_leap` misses the century rule:

| year | now | right |
| ---- | --- | ----- |
| 1900 | yes | no    |

✓ read   3 files, 1 search ▸
✓ edit   src/date.py  +2 ▸
✗ run    pytest -q tests/test_date.py  failed, exit 1 ▸
⊘ run    git push --force  rejected by you
– fetch  https://docs.python.org/3/library/datetime.html  cancelled

plan  2 of 5
  ✓ Find where leap years are decided
  ✓ Fix the century rule
  ● Make the month table ask is_leap
  ○ Add tests for 1900, 2000 and 2024
  ○ Update the changelog

● run    pytest -q -x && ruff check src tests
  │ tests/test_parse.py ......                  [ 50%]
  │ tests/test_date.py ..........               [ 92%]
○ edit   packages/…/date/parser.test.ts"""

OPENED_EDIT = """\
✓ edit   src/date.py  +2
  │ @@ -6,2 +6,4 @@
  │   def is_leap(year):
  │ +     if year % 100 == 0:
  │ +         return year % 400 == 0
  │       return year % 4 == 0"""

OPENED_GROUP = """\
✓ read   src/date.py:7-13
✓ read   tests/test_date.py
✓ search is_leap  4 matches
✓ read   src/日本語/カレンダー.py:120"""

QUESTIONS = """\
? run    npm install left-pad@1.3.0 …  waiting for you (1)
  │ npm install left-pad@1.3.0 --save-exact \\
  │   && rm -rf build/cache \\
  │   && npm test
  │ in ~/src/app
  │ claude says: "Install dependency and verify"
  │ 1 Allow once  2 Always allow npm  3 Reject
? edit   /etc/npmrc  waiting for you (2)
  │ outside the project
  │ 1 Yes  2 No"""


def running(chat: Chat) -> None:
    chat.prompt("Years like 1900 are taken for leap years. Fix it and add a test. @src/date.py:7-13")
    chat.say("The rule\nis wrong:\ncenturies.", "thought")
    chat.now += 4
    chat.say("`is_leap` misses the century rule:\n\n| year | now | right |\n")
    chat.say("| ---- | --- | ----- |\n| 1900 | yes | no    |\n")
    chat.tool("r1", "Read", "read", locations=at("src/date.py", 7, 13), status="completed")
    chat.tool("r2", "Read", "read", locations=at("tests/test_date.py"), status="completed")
    chat.tool("r3", "is_leap", "search", raw_output={"metadata": {"matches": 4}}, status="completed")
    chat.tool("r4", "Read", "read", locations=at("src/日本語/カレンダー.py", 120), status="completed")
    chat.tool("e1", "Edit", "edit", content=[edit("src/date.py", DATE_OLD, DATE_NEW)], status="completed")
    chat.tool("x1", "pytest -q tests/test_date.py", "execute", status="completed")
    chat.patch("x1", raw_output={"output": "1 failed\n", "metadata": {"exit": 1}})
    chat.tool("x2", "`git push --force`", "execute")
    chat.ask("x2", "q1")
    chat.answer("q1", "reject")
    url = "https://docs.python.org/3/library/datetime.html"
    chat.tool("f1", url, "fetch", status="cancelled")
    entries = [
        PlanEntry("Find where leap years are decided", status="completed"),
        PlanEntry("Fix the century rule", status="completed"),
        PlanEntry("Make the month table ask is_leap", status="in_progress"),
        PlanEntry("Add tests for 1900, 2000 and 2024"),
        PlanEntry("Update the changelog"),
    ]
    chat.apply(PlanSet(Plan("default", entries=entries)))
    chat.tool("x3", "Run tests", "execute", raw_input={"command": "pytest -q -x && ruff check src tests"})
    output = "tests/test_parse.py ......                  [ 50%]\n"
    output += "tests/test_date.py ..........               [ 92%]\n"
    chat.patch("x3", status="in_progress", content=[text(output)])
    chat.tool("e3", "Edit", "edit", locations=at("packages/frontend/src/components/date/parser.test.ts"))


def test_a_running_turn() -> None:
    chat = Chat()
    running(chat)
    assert "\n".join(chat.screen()) == RUNNING


def test_the_same_frame_by_frame() -> None:
    """However often frames go out in between, the end is the same."""
    chat = Chat()

    def frame(*_: Any) -> None:
        chat.frame()

    chat.store.subscribe(frame)
    running(chat)
    assert "\n".join(chat.screen()) == RUNNING


def test_opened_folds() -> None:
    chat = Chat()
    running(chat)
    shown = "\n".join(chat.lines())
    assert OPENED_EDIT in shown
    assert OPENED_GROUP in shown


def test_ascii() -> None:
    chat = Chat(icons=ASCII)
    running(chat)
    shown = chat.lines()
    assert shown[0].startswith("> Years")
    assert ": think  4 s, 3 lines" in shown
    assert "+ edit   src/date.py  +2" in shown
    assert "  | @@ -6,2 +6,4 @@" in shown
    assert "x run    git push --force  rejected by you" in shown
    assert ". edit   packages/.../date/parser.test.ts" in shown


def test_waiting_questions() -> None:
    chat = Chat()
    command = "npm install left-pad@1.3.0 --save-exact \\\n  && rm -rf build/cache \\\n  && npm test"
    chat.tool("x", "Install dependency and verify", "execute", raw_input={"command": command})
    chat.ask("x", "q1")
    options = [PermissionOption("y", "Yes", "allow_once"), PermissionOption("n", "No", "reject_once")]
    subject = PathSubject("write", "/etc/npmrc", "/etc/npmrc", "outside")
    chat.apply(PermissionOpened(Permission("q2", options, subject=subject, asked_by="client")))
    assert "\n".join(chat.screen()) == QUESTIONS
    assert chat.buffer.marked("AcpWarn") == ["Always allow npm", "outside the project"]
    assert chat.buffer.marked("AcpKey") == ["1", "2", "3", "1", "2"]
    assert [block.deco["question"] for block in chat.buffer.of_kind("row")] == ["q1", "q2"]

    chat.answer("q2", "n")
    shown = chat.screen()
    assert shown[0] == "? run    npm install left-pad@1.3.0 …  waiting for you"
    assert shown[-1] == "⊘ edit   /etc/npmrc  rejected by you"
    chat.answer("q1", "always")
    chat.patch("x", status="completed")
    assert (
        chat.screen()[0]
        == f"✓ run    {'npm install left-pad@1.3.0 --save-exact'} \\ && rm -rf …  always allowed ▸"
    )
