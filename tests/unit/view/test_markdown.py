"""A chat as a Markdown document: whole, and nothing in it can break what follows."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.view.helpers import CWD, DATE_NEW, DATE_OLD, HOME, Chat, at, edit, text

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Note, Plan, PlanEntry
from acp_nvim.session.events import CompactionPatch, InfoPatch, MessageAppend, NoteShown, PlanSet
from acp_nvim.view.fences import Fences
from acp_nvim.view.look import Look
from acp_nvim.view.markdown import Markdown


def document(chat: Chat) -> str:
    chat.end_message()
    markdown = Markdown(Look(chat.session, label="claude", home=HOME))
    return "".join(markdown.item(item) for item in chat.session.items)


def test_the_head() -> None:
    chat = Chat()
    head = Markdown(Look(chat.session, label="claude", home=HOME)).head
    assert re.fullmatch(
        r"# Chat with claude\n\n- claude in `~/src/app`\n- session `remote`\n- written 19[\d: -]{14}\n\n",
        head(86400.0),
    )
    chat.apply(InfoPatch(title="Fix\nthe\u202edates"))
    assert head(0.0).startswith("# Fix the")
    assert "\u202e" not in head(0.0)


def test_prompts_are_headings_and_answers_are_as_they_were() -> None:
    chat = Chat()
    chat.prompt("Fix it")
    chat.say("hm", role="thought")
    chat.now += 4
    chat.say("It *is*\n\n| a | b |\n| - | - |\n")
    chat.end()
    chat.prompt("And this:\n\n    x = 1\n")
    chat.end("cancelled")
    chat.prompt("long " * 40)
    assert document(chat).split("\n") == [
        "## 1. Fix it", "",
        "<details>", "<summary>thought, 4 s</summary>", "", "hm", "", "</details>", "",
        "It *is*", "", "| a | b |", "| - | - |", "",
        "> ── done in 4 s", "",
        "## 2. And this:", "", "And this:", "", "    x = 1", "",
        "> ── cancelled by claude after 0 s", "",
        f"## 3. {'long ' * 19}…", "", "long " * 40, "", "",
    ]  # fmt: skip


def test_what_is_no_text() -> None:
    chat = Chat()
    chat.prompt("Look")
    chat.apply(
        MessageAppend("user", None, Block("resource", text=text("x").text, uri=f"file://{CWD}/a.py#L7-L13")),
        MessageAppend("agent", None, Block("image", data="QUJD", mime="image/png")),
        MessageAppend("agent", None, Block("text", text=text("secret").text, audience=("assistant",))),
    )
    found = document(chat)
    assert "- `@a.py:7-13`" in found
    assert "- `image  image/png, 3 B`" in found
    assert "secret" not in found


def test_tool_calls_with_all_they_say() -> None:
    chat = Chat()
    chat.prompt("go")
    many = "".join(f"line {n}\n" for n in range(300))
    chat.tool("1", "Edit", "edit", status="completed", content=[edit("src/date.py", DATE_OLD, DATE_NEW)])
    chat.tool("2", "New", "edit", status="completed", content=[edit("n.txt", None, many, "add")])
    chat.tool("3", "npm i", "execute", raw_input={"command": "npm i \\\n  && npm t"}, status="in_progress")
    chat.ask("3")
    chat.answer("q1", "once")
    chat.patch("3", status="failed", raw_output={"output": "```\n" + many, "exit_code": 2})
    deep = f"{HOME}/elsewhere/packages/with/many/folders/in/between/that/are/cut/parser.test.ts"
    chat.tool("4", "Read", "read", status="completed", locations=at(deep, 3), content=[text("a\x1b[31m`b`")])
    found = document(chat)
    assert "- ✓ **edit** `src/date.py  +2`\n\n  ```diff\n  @@ -6,2 +6,4 @@\n   def is_leap(year):\n" in found
    assert "\n  +    if year % 100 == 0:\n" in found
    assert found.count("\n  +line ") == 300  # the transcript cuts them
    assert "- ✗ **run** `npm i && npm t  failed, exit 2`" in found.replace("\\ ", "")
    assert "  ```sh\n  npm i \\\n    && npm t\n  ```" in found
    assert "  asked: `Allow once`" in found
    assert "  <summary>output, 301 lines</summary>\n\n  ````\n  ```\n  line 0\n" in found
    assert "line 299\n  ````\n\n  </details>" in found
    assert "  `~/elsewhere/packages/with/many/folders/in/between/that/are/cut/parser.test.ts`" in found
    assert "a^[[31m`b`" in found


def test_the_rest() -> None:
    chat = Chat()
    chat.prompt("go")
    entries = [
        PlanEntry("One", status="completed"),
        PlanEntry("Two", status="in_progress"),
        PlanEntry("Three"),
    ]
    chat.apply(
        PlanSet(Plan("default", entries=entries)),
        NoteShown(Note("n", "warning", "No server", ["set it", ":AcpRestart"])),
        CompactionPatch("c", status="completed", summary=[text("what was\nsaid")]),
    )
    found = document(chat)
    assert "**plan**  1 of 3\n\n- [x] One\n- [ ] Two  (in progress)\n- [ ] Three\n" in found
    assert "> ── No server  \n>   │ set it  \n>   │ :AcpRestart\n" in found
    assert "compact what came before  \n>   │ what was  \n>   │ said\n" in found


FENCED = st.lists(
    st.sampled_from(["```", "````py", "~~~", "text", "", "    ```", "</details>", "> q", "``` x `y`", "\r"])
)


@given(FENCED, FENCED, FENCED)
def test_nothing_runs_on_into_what_follows(prompt: list[str], thought: list[str], answer: list[str]) -> None:
    """Each fence that was left open is closed, and each fold."""
    chat = Chat()
    chat.prompt("p\n" + "\n".join(prompt))
    chat.say("t" + "\n".join(thought), role="thought")
    chat.say("a" + "\n".join(answer))
    chat.end()
    found = document(chat)
    fences = Fences()
    for row, line in enumerate(found.split("\n")):
        fences.start(row)
        fences.feed(line)
        fences.complete()
        if line.startswith(("> ── ", "## ", "<summary>")):
            assert not fences.open
    assert not fences.open
    folds = re.findall(r"^</?details>", found, re.MULTILINE)
    assert folds.count("<details>") == 1
