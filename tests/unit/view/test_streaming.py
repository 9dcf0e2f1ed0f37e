"""Text on its way: what is in the buffer does not depend on how the text was cut (highlighting.md)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.view.buffer import Block as Drawn
from tests.unit.view.buffer import Buffer
from tests.unit.view.helpers import HOME, Chat, text

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Session
from acp_nvim.session.events import MessageAppend, MessageSet, TurnStarted
from acp_nvim.text.sanitise import LINE_BYTES
from acp_nvim.view.fences import Fences
from acp_nvim.view.stream import MAX_LINES, Stream
from acp_nvim.view.transcript import FRAME_BYTES, Transcript

PARTS = ["a", "word ", "é日", "🎸", "\n", "\n\n", "```", "~~~~", "python", " ", "\r\n", "\r", "\x1b[1m"]
PARTS += ["\ud83d", "\ude80", "\u202e", "\u200d", "| x |", "`", "    ", "@src/a.py"]
message = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)


def once(role: str, content: str) -> Drawn | None:
    """The block of a message that came and ended before the first frame."""
    chat = Chat()
    if content:
        chat.say(content, role)
        chat.end_message()
    chat.frames()
    return chat.buffer.blocks.get(1)


@pytest.mark.parametrize("role", ["agent", "thought", "user"])
@given(data=st.data())
def test_chunks_give_what_the_whole_gives(role: str, data: Any) -> None:
    content = data.draw(message)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=10)))
    chat = Chat()
    for a, b in itertools.pairwise([0, *cuts, len(content)]):
        chat.say(content[a:b], role)
        for _ in range(data.draw(st.integers(0, 2))):
            ops, _ = chat.transcript.take(data.draw(st.integers(1, 30)), 3)
            chat.buffer.apply(ops)
    chat.end_message()
    chat.frames()
    whole = once(role, content)
    block = chat.buffer.blocks.get(1)
    assert chat.transcript.unread == 0
    if whole is None or block is None:
        assert not content.strip("\r\n")
        return
    assert block.lines == whole.lines
    assert block.fences == whole.fences
    assert block.deco.get("folds") == whole.deco.get("folds")
    assert block.deco.get("body") == whole.deco.get("body")
    assert block.deco.get("marks") == whole.deco.get("marks")


@given(message)
def test_an_answer_is_exact(content: str) -> None:
    """What is plain text is in the buffer as it was sent, from column 0."""
    plain = content.replace("\r", "").replace("\x1b", "").encode("ascii", "ignore").decode()
    block = once("agent", plain)
    assert ("\n".join(block.content) if block else "") == plain.strip("\n")


@given(message)
def test_fences_are_where_lines_say(content: str) -> None:
    block = once("agent", content)
    inside = False
    for fence in block.fences if block else []:
        line = block.lines[fence[0]] if block else ""
        assert line.lstrip(" ").startswith(("```", "~~~"))
        assert (len(fence) == 1) == inside
        inside = not inside


@pytest.mark.parametrize(
    ("lines", "events"),
    [
        (["```python", "x", "```"], [[0, "python"], [2]]),
        (["~~~", "```", "~~~~"], [[0, ""], [2]]),
        (["````md", "```", "````"], [[0, "md"], [2]]),
        (["   ```lua", "    ```", "   ```  "], [[0, "lua"], [2]]),
        (["    ```not", "```c++ title"], [[1, "c++"]]),
        (["```a`b", "text"], []),
        (["``` {.rust}", "```x", "```"], [[0, "rust"], [2]]),
        (["```" + "x" * 1000, "```"], [[1, ""]]),
    ],
)
def test_fences(lines: list[str], events: list[list[Any]]) -> None:
    fences = Fences()
    found = []
    for row, line in enumerate(lines):
        fences.start(row)
        for char in line:  # a line may come in pieces
            fences.feed(char)
        event = fences.complete()
        assert fences.complete() is None
        if event:
            found.append(event)
    assert found == events


def test_a_fence_is_told_when_its_line_is_whole() -> None:
    chat = Chat()
    told = []
    for piece in ["text\n``", "`", "py", "thon\n", "x = 1\n```", "\n", "after"]:
        chat.say(piece)
        told.append([fence for op in chat.frame() for fence in (op[3] or {}).get("fences", ())])
    assert told == [[], [], [], [[1, "python"]], [], [[3]], []]


def test_the_last_fence_is_closed_when_the_message_ends() -> None:
    chat = Chat()
    chat.say("```\nx\n```")
    chat.frame()
    assert chat.buffer.blocks[1].fences == [[0, ""]]
    chat.end_message()
    chat.frames()
    assert chat.buffer.blocks[1].fences == [[0, ""], [2]]


@pytest.mark.parametrize("role", ["agent", "thought", "user"])
def test_long_lines_are_cut(role: str) -> None:
    chat = Chat()
    for _ in range(100):
        chat.say("é" * 100, role)
        chat.frame()
    chat.end_message()
    chat.frames()
    content = [line for line in chat.buffer.blocks[1].content if "é" in line]
    assert max(len(line.encode()) for line in content) <= LINE_BYTES
    assert len(content) == 3
    assert "".join(content).count("é") == 10_000


def test_text_is_only_added() -> None:
    """However long the chat and the answer, a chunk writes its own lines and the one it goes on with."""
    chat = Chat()
    for n in range(200):
        chat.prompt("go")
        chat.say(f"answer {n}\n" * 50)
        chat.end()
    chat.frames()
    counts = set()
    for _ in range(200):
        chat.say("some more text")
        ops = chat.frame()
        counts.add(sum(len(op[2]) for op in ops))
    assert counts == {1, 2}  # the first one makes the block: its line and a blank one
    assert all(op[0] == "add" for op in ops)
    chat.say("\nline\nline")
    assert [op[2] for op in chat.frame()] == [["", "line", "line"]]


def test_a_frame_is_bounded() -> None:
    chat = Chat()
    chat.say("0123456789 é\n" * 50_000)
    total = 0
    while chat.transcript.dirty:
        unread = chat.transcript.unread
        ops, size = chat.transcript.take()
        assert size <= 2 * FRAME_BYTES
        assert sum(len(line.encode()) + 1 for op in ops for line in op[2]) <= FRAME_BYTES + LINE_BYTES
        assert sum(len(op[2]) for op in ops) <= MAX_LINES + 2
        assert chat.transcript.unread < unread
        chat.buffer.apply(ops)
        total += 1
    assert total >= 6
    assert chat.buffer.blocks[1].content == ["0123456789 é"] * 50_000


def test_events_of_a_frame_are_bounded() -> None:
    """highlighting.md: 177,000 three-line fences."""
    chat = Chat()
    chat.say("```\nx\n```\n" * 5000)
    while chat.transcript.dirty:
        ops, _ = chat.transcript.take(max_events=50)
        assert sum(len((op[3] or {}).get("fences", ())) for op in ops) <= 51
        chat.buffer.apply(ops)
    chat.end_message()
    chat.frames()
    assert len(chat.buffer.blocks[1].fences) == 10_000


def test_line_breaks_around_an_answer_are_left_out() -> None:
    chat = Chat()
    chat.say("\n\n")
    assert chat.frame() == []
    for piece in ["\n", "Hello\n", "\n\n"]:
        chat.say(piece)
        chat.frames()
    assert chat.lines() == ["Hello", ""]
    chat.say("again")
    assert chat.lines() == ["Hello", "", "", "again", ""]


@pytest.mark.req("V1-94")
def test_thoughts() -> None:
    chat = Chat()
    chat.say("first\n", "thought")
    chat.frame()
    block = chat.buffer.blocks[1]
    assert block.lines == ["· think", "  │ first", ""]
    assert block.deco["spin"] == [0]
    assert block.deco["folds"] == [[0, 1, True]]
    assert block.deco["body"] == [[1, 1, "think"]]
    chat.say("\nsecond", "thought")
    chat.frame()
    assert block.lines == ["· think", "  │ first", "  │ ", "  │ second", ""]
    assert block.deco["folds"] == [[0, 3, True]]
    assert block.deco["body"] == [[1, 3, "think"]]
    chat.now += 4.9
    chat.say("answer")
    ops = chat.frame()
    assert [op[0] for op in ops] == ["header", "set"]
    assert len(ops[0][2]) == 1, "the end of a thought writes one line, however long it was"
    block = chat.buffer.blocks[1]
    assert block.lines == ["· think  4 s, 3 lines", "  │ first", "  │ ", "  │ second", ""]
    assert "spin" not in block.deco
    assert block.deco["folds"] == [[0, 3, True]]
    assert block.deco["body"] == [[1, 3, "think"]]


def test_a_thought_ends_in_the_frame_that_has_its_last_text() -> None:
    chat = Chat()
    chat.say("a", "thought")
    chat.frame()
    chat.say("line\n" * 30_000 + "end", "thought")
    chat.say("answer")
    names = [[op[0] for op in chat.frame() if op[1] == 1] for _ in range(20)]
    assert names[-1] == [] and names.count(["add", "header"]) == 1
    written = chat.buffer.blocks[1]
    assert "30,001 lines" in written.lines[0]
    assert written.lines[-2] == "  │ end"


def test_what_the_user_said() -> None:
    chat = Chat()
    lines = Block("resource", uri="file:///home/me/src/app/src/a.py#L3-L5", text=text("x").text)
    other = Block("resource", uri="file:///home/me/notes.md", text=text("x").text)
    image = Block("image", mime="image/png", size=84_000)
    said = text("Look at @src/a.py:3-5\n\nand mail me@x.org\n")
    chat.apply(TurnStarted((lines, other, image, said)))
    assert chat.lines() == [
        "❯ Look at @src/a.py:3-5",
        "",
        "  and mail me@x.org",
        "  @~/notes.md",
        "  image  image/png, 84 kB",
        "",
    ]
    assert chat.buffer.marked("AcpUser") == ["❯"]
    assert chat.buffer.marked("AcpContext") == ["@src/a.py:3-5", "@~/notes.md"]
    assert chat.buffer.blocks[1].deco["links"] == [
        [0, "/home/me/src/app/src/a.py", 3],
        [3, "/home/me/notes.md"],
        [4, {"item": [2]}],
    ]


def test_what_the_user_mentioned() -> None:
    """A line stands below the words only for what they do not tell."""
    chat = Chat()
    home = "file:///home/me/src/app"
    blocks = [
        Block("resource", uri=f"{home}/src/a.py#L3-L5", name='@"./src/a.py":3-5', text=text("x").text),
        Block("image", uri=f"{home}/shot.png", mime="image/png", data="AAAA", name="@shot.png"),
        Block("link", uri=f"{home}/src", name="src"),
        Block("resource", name="@diff", text=text("x").text),
        Block("resource", uri=f"{home}/a%20b.py#L2-L2", text=text("x").text),  # of @selection
        Block("resource", uri=f"{home}/src/a.py", text=text("x").text),  # of @buffer
        Block("text", text=text("/a\n```\nx\n```\n").text, audience=("assistant",)),
    ]
    said = text('see @"./src/a.py":3-5, (@shot.png), @src/ and `@not`\n@diff @selection, @buffer')
    chat.apply(TurnStarted((*blocks, said)))
    assert chat.lines() == [
        '❯ see @"./src/a.py":3-5, (@shot.png), @src/ and `@not`',
        "  @diff @selection, @buffer",
        '  @"a b.py":2',
        "  @src/a.py",
        "",
    ]
    assert chat.buffer.marked("AcpContext") == [
        *('@"./src/a.py":3-5', "@shot.png", "@src/", "@diff", "@selection", "@buffer"),
        *('@"a b.py":2', "@src/a.py"),
    ]
    assert chat.buffer.blocks[1].deco["links"] == [
        [0, "/home/me/src/app/src/a.py", 3],
        [0, "/home/me/src/app/shot.png"],
        [0, "/home/me/src/app/src"],
        [2, "/home/me/src/app/a b.py", 2],
        [3, "/home/me/src/app/src/a.py"],
    ]


def test_a_large_prompt_is_streamed() -> None:
    chat = Chat()
    chat.prompt("line of a log\n" * 20_000)
    assert chat.frames() > 3
    content = chat.buffer.blocks[1].content
    assert content == ["❯ line of a log", *["  line of a log"] * 19_999]


def test_pictures_in_an_answer() -> None:
    chat = Chat()
    chat.say("before")
    chat.apply(MessageAppend("agent", None, Block("image", mime="image/png", data="AAAA")))
    chat.frame()
    chat.say("after")
    assert chat.lines() == ["before", "  image  image/png, 3 B", "after", ""]


def test_a_message_that_is_replaced() -> None:
    chat = Chat()
    chat.apply(MessageSet("agent", "m", [text("one\ntwo")]))
    assert chat.lines() == ["one", "two", ""]
    chat.apply(MessageSet("agent", "m", [text("three")]))
    chat.say("next", message_id="n")
    assert chat.lines() == ["three", "", "next", ""]
    chat.apply(MessageSet("agent", "m", None))
    assert chat.lines()[-2:] == ["next", ""]
    chat.apply(MessageSet("agent", "m", [text("four")]))
    assert chat.lines() == ["four", "", "next", ""]


def test_an_empty_message_keeps_its_place() -> None:
    chat = Chat()
    chat.apply(MessageSet("agent", "m", []))
    assert chat.frame() == []
    chat.tool("t", "x", "execute")
    chat.frames()
    chat.apply(MessageSet("agent", "m", [text("late")]))
    assert chat.lines() == ["late", "", "○ run    x"]


def test_an_older_message_goes_on() -> None:
    chat = Chat()
    chat.say("one", message_id="m")
    chat.tool("t", "x", "execute")
    chat.frames()
    chat.say(" more\nand more", message_id="m")
    ops = chat.frame()
    assert [op[:3] for op in ops] == [["add", 1, [" more", "and more"]]]
    assert chat.lines() == ["one more", "and more", "", "○ run    x"]


def test_left_counts_down() -> None:
    stream = Stream()
    blocks = [text("abc\ndef")]
    assert stream.left(blocks) == 7
    assert stream.read(blocks, final=False, max_bytes=5).lines == ["abc", "d"]
    assert stream.left(blocks) == 2
    transcript = Transcript(1, Session("s", "a", "/ws"), home=HOME)
    assert Buffer(head=False).apply(transcript.take()[0]) == 0


def test_a_line_nobody_counts_to() -> None:
    """Python does not read a number of more than 4300 digits."""
    chat = Chat()
    block = Block("resource", uri=f"file:///home/me/src/app/a.py#L{'9' * 5000}", text=text("x").text)
    chat.apply(TurnStarted((block, text("see"))))
    assert chat.lines() == ["❯ see", "  @a.py", ""]
