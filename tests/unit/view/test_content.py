"""Content that is no text: one line at its place, with a link; text around it goes on as it was sent."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.view.buffer import Block as Drawn
from tests.unit.view.helpers import Chat, text

from acp_nvim.session.content import Block, UnknownContent
from acp_nvim.session.events import MessageAppend, MessageSet, TurnStarted
from acp_nvim.view.content import block_line, file_path, size_text

PNG = Block("image", mime="image/png", data="AAAA", uri="file:///x/shot.png")


def only(words: str, *audience: str) -> Block:
    return Block("text", text=text(words).text, audience=audience)


@pytest.mark.parametrize(
    ("block", "line"),
    [
        (PNG, "  image  image/png, 3 B  file:///x/shot.png"),
        (Block("audio", mime="audio/wav", size=84_000), "  audio  audio/wav, 84 kB"),
        (
            Block("link", uri="https://x.org/a", name="a", mime="text/html", size=2100, title="A page"),
            "  link  text/html, 2.1 kB  A page  https://x.org/a",
        ),
        (
            Block("link", uri="file:///x", name="two\nlines\x1b\u202e"),
            "  link  two lines^[<U+202E>  file:///x",
        ),
        (
            Block("resource", uri="file:///x/a.py", text=text("abc").text, mime="text/x-python"),
            "  resource  text/x-python, 3 B  file:///x/a.py",
        ),
        (Block("resource", uri="data:x", data="AAA=", size=-1), "  resource"),
        (Block("unknown", raw={"type": "```", "z": 1}), '  unknown  ```  {"type": "```", "z": 1}'),
        (Block("unknown", raw=[1]), "  unknown  content  [1]"),
    ],
)
@pytest.mark.req("V1-98", "V1-99")
def test_a_line_says_what_it_is(block: Block, line: str) -> None:
    assert block_line(block) == line


def test_a_line_is_bounded() -> None:
    huge = Block("link", uri="https://x/" + "y" * 1_000_000, name="n" * 1_000_000, mime="m" * 1_000_000)
    assert len(block_line(huge)) < 900
    assert len(block_line(Block("unknown", raw={"type": "x" * 1_000_000, "y": "z" * 1_000_000}))) < 300


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("file:///a/b%20c.py#L7-L9", ("/a/b c.py", 7)),
        ("file://localhost/a#L3", ("/a", 3)),
        ("file:///a#top", ("/a", None)),
        ("file:/a", ("/a", None)),
        ("file://host/a", None),
        ("file:a", None),
        ("file://[/a", None),
        ("https://x/a", None),
        ("", None),
    ],
)
@pytest.mark.req("V1-100")
def test_file_addresses(uri: str, place: tuple[str, int | None] | None) -> None:
    assert file_path(uri) == place


# -- in messages

TEXTS = ["a", "word ", "é日", "\n", "\n\n", "```\n", "# x", "  ", "* y\n"]
OTHERS = [
    PNG,
    Block("link", uri="https://x.org/a", name="```"),
    Block("unknown", raw={"type": "hologram"}),
    Block("resource", uri="file:///x/a.py", text=text("secret\n```\n").text),
]
pieces = st.lists(st.one_of(st.sampled_from(TEXTS), st.integers(0, len(OTHERS) - 1)), max_size=30)


def expected(sequence: list[Any]) -> list[str]:
    """The lines of an answer: text as it was sent, and each other block on a line of its own."""
    parts: list[str] = []
    for other, group in itertools.groupby(sequence, lambda each: isinstance(each, int)):
        if other:
            parts += [block_line(OTHERS[each]) for each in group]
        else:
            parts.append("".join(group))
    whole = ""
    before = None
    for part in parts:
        line = part in [block_line(each) for each in OTHERS]
        if before is not None and (before or (line and whole and not whole.endswith("\n"))):
            whole += "\n"
        whole += part
        before = line
    return whole.strip("\n").split("\n") if whole.strip("\n") else []


@pytest.mark.parametrize("role", ["agent", "thought"])
@given(pieces, st.data())
@pytest.mark.req("V1-92", "V1-93", "V1-98")
def test_nothing_of_a_mixed_message_is_lost(role: Any, sequence: list[Any], data: Any) -> None:
    chat = Chat()
    for each in sequence:
        block = OTHERS[each] if isinstance(each, int) else text(each)
        chat.apply(MessageAppend(role, None, block))
        if data.draw(st.booleans()):
            ops, _ = chat.transcript.take(data.draw(st.integers(1, 60)), 3)
            chat.buffer.apply(ops)
    chat.end_message()
    chat.frames()
    assert chat.transcript.unread == 0
    drawn = chat.buffer.blocks.get(1)
    lines = expected(sequence)
    if drawn is None:
        assert lines == []
        return
    content = drawn.content
    if role == "thought":
        content = [line.removeprefix("  │ ") for line in content[1:]]
    assert content == lines
    check_links(chat, drawn, [OTHERS[each] for each in sequence if isinstance(each, int)])


def check_links(chat: Chat, drawn: Drawn, blocks: list[Block]) -> None:
    """Each link leads to the block whose line it stands on, and each block has one."""
    found = []
    for row, target in drawn.deco.get("links", ()):
        block = chat.transcript.content(drawn.id, target["item"])
        assert block is not None
        assert drawn.lines[row].removeprefix("  │ ").strip() == block_line(block).strip()
        found.append(block_line(block))
    assert found == [block_line(block) for block in blocks]


def test_a_fence_does_not_begin_in_a_line_of_ours() -> None:
    chat = Chat()
    chat.apply(MessageAppend("agent", None, Block("unknown", raw={"type": "```"})))
    chat.say("after")
    chat.end_message()
    chat.frames()
    assert chat.buffer.blocks[1].fences == []


def test_many_pictures_cost_no_more_each() -> None:
    """20,000 blocks: quadratic work would take minutes."""
    chat = Chat()
    for n in range(20_000):
        chat.apply(MessageAppend("agent", None, Block("image", mime="image/png", size=n)))
        if n % 100 == 0:
            chat.frame()
    chat.end_message()
    chat.frames()
    assert len(chat.buffer.blocks[1].deco["links"]) == 20_000
    assert chat.buffer.blocks[1].deco["links"][-1] == [19_999, {"item": [19_999]}]


def test_a_replaced_message_has_new_links() -> None:
    chat = Chat()
    chat.apply(MessageSet("agent", "m", [text("a"), PNG]))
    chat.frames()
    assert chat.buffer.blocks[1].deco["links"] == [[1, {"item": [1]}]]
    chat.apply(MessageSet("agent", "m", [PNG, text("a")]))
    chat.frames()
    assert chat.buffer.blocks[1].deco["links"] == [[0, {"item": [0]}]]
    chat.apply(MessageSet("agent", "m", []))
    chat.frames()
    assert chat.transcript.content(1, [1]) is None
    assert chat.transcript.content(1, []) is None
    assert chat.transcript.content(9, [0]) is None


# -- audience


@pytest.mark.parametrize("role", ["agent", "thought", "user"])
@pytest.mark.req("V1-101")
def test_what_is_for_the_model_alone_is_hidden_but_not_lost(role: Any) -> None:
    chat = Chat()
    hidden = Block("image", mime="image/png", data="AAAA", audience=("assistant",))
    for block in (
        only("seen ", "user", "assistant"),
        only("hidden\n", "assistant"),
        hidden,
        only("too", "x"),
    ):
        chat.apply(MessageAppend(role, None, block))
        chat.frame()
    chat.end_message()
    shown = "\n".join(chat.lines())
    assert "seen too" in shown
    assert "hidden" not in shown
    assert "image" not in shown
    assert not chat.buffer.blocks[1].deco.get("links")
    assert chat.transcript.details(1)[1:] == [
        "",
        "content 2",
        "  type         text",
        "  size         7 B",
        "  for          assistant",
        "  hidden",
        "",
        "content 3",
        "  type         image",
        "  mime         image/png",
        "  size         3 B",
        "  for          assistant",
    ]


@pytest.mark.req("V1-101")
def test_a_message_for_the_model_alone_shows_nothing() -> None:
    chat = Chat()
    chat.apply(MessageAppend("agent", None, only("hidden", "assistant")))
    assert chat.frame() == []
    chat.tool("t", "x", "execute")
    assert chat.lines() == ["", "○ run    x"]
    assert "  hidden" in chat.transcript.details(1)


def test_an_empty_audience_hides_nothing() -> None:
    chat = Chat()
    chat.apply(MessageAppend("agent", None, only("seen")))
    assert chat.lines() == ["seen", ""]


# -- of the user


def test_links_of_a_replayed_prompt_lead_through_a_question() -> None:
    """What the user sent opens at once; what an agent says the user has sent does not."""
    resource = Block("resource", uri="file:///etc/passwd#L3", text=text("x").text)
    chat = Chat()
    chat.apply(TurnStarted((text("see @/etc/passwd:3"), resource)))
    chat.end()
    chat.apply(MessageAppend("user", "m2", text("see @/etc/passwd:3"), origin="replay"))
    chat.apply(MessageAppend("user", "m2", resource, origin="replay"))
    chat.frames()
    own, replayed = chat.buffer.of_kind("user")
    assert own.deco["links"] == [[0, "/etc/passwd", 3]]
    assert replayed.deco["links"] == [[0, {"item": [1]}]]


# -- in tool calls


@pytest.mark.req("V1-98", "V1-115", "V1-116")
def test_content_of_a_tool_call() -> None:
    chat = Chat()
    content = [text("out"), PNG, UnknownContent({"type": "hologram"}), only("hidden", "assistant")]
    chat.tool("r", "shot.png", "read", status="completed")
    chat.tool("t", "make", "execute", status="completed", content=content)
    shown = [
        "✓ run    make",
        "  │ out",
        "  │ image  image/png, 3 B  file:///x/shot.png",
        '  │ hologram  {"type": "hologram"}',
    ]
    assert chat.lines() == ["✓ read   shot.png", *shown]
    block = chat.buffer.of_kind("row")[-1]
    assert block.deco["links"] == [[2, {"item": [0, 1]}]]
    assert chat.transcript.content(block.id, [0, 1]) is not None
    assert chat.transcript.content(block.id, [0, 2]) is None  # it is not a block
    assert chat.transcript.content(block.id, [0, 9]) is None
    assert chat.buffer.marked("AcpContext") == ["image  image/png, 3 B  file:///x/shot.png"]
    details = chat.transcript.details(block.id)
    assert "  hidden" in details
    assert details[-4:] == ["unknown content", "  {", '    "type": "hologram"', "  }"]


def test_each_call_of_a_group_has_its_own() -> None:
    chat = Chat()
    for n in range(3):
        chat.tool(
            f"r{n}", f"{n}.png", "read", status="completed", content=[Block("image", mime=f"image/{n}")]
        )
    chat.frames()
    (block,) = chat.buffer.of_kind("row")
    assert block.deco["links"] == [[1, {"item": [0, 0]}], [3, {"item": [1, 0]}], [5, {"item": [2, 0]}]]
    assert chat.transcript.content(block.id, [2, 0]).mime == "image/2"  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["edit", "other", "switch_mode"])
def test_a_question_shows_all_content_also_what_is_hidden_elsewhere(kind: str) -> None:
    chat = Chat()
    link = Block("link", uri="https://x.org/", name="x")
    chat.tool("t", "do it", kind, content=[only("fine print", "assistant"), link])
    chat.ask("t")
    shown = chat.lines()
    assert "  │ fine print" in shown
    row = shown.index("  │ link  x  https://x.org/")
    assert [row, {"item": [0, 1]}] in chat.buffer.of_kind("row")[0].deco["links"]


@pytest.mark.parametrize(
    ("fields", "plan"),
    [
        ({"raw_input": {"plan": "1. test\n2. fix"}, "content": []}, ["1. test", "2. fix"]),
        ({"content": [text("1. test"), text("2. fix")]}, ["1. test", "", "2. fix"]),
        ({"raw_input": {"plan": ""}, "content": [text("1. test")]}, ["1. test"]),
        ({"raw_input": {"plan": "1. test\n"}, "content": [text("1. test")]}, ["1. test"]),
        ({"raw_input": {"plan": "1. test"}, "content": [text("and why")]}, ["1. test", "", "and why"]),
        ({"content": [Block("resource", uri="file:///p.md", text=text("1. test").text)]}, ["1. test"]),
        ({"raw_input": "all of it"}, ["all of it"]),
    ],
)
def test_the_plan_is_in_the_question_and_in_the_row(fields: dict[str, Any], plan: list[str]) -> None:
    """C07: wherever the agent has put it."""
    chat = Chat()
    chat.tool("t", "Ready to code?", "switch_mode", **fields)
    chat.ask("t")
    asked = chat.lines()
    assert asked[0] == "? mode   Ready to code?  waiting for you"
    assert asked[1 : 1 + len(plan)] == [f"  │ {line}" for line in plan]
    chat.answer("q1", "once")
    chat.patch("t", status="completed")
    if isinstance(fields.get("raw_input"), dict) or "content" in fields:
        assert chat.lines()[: 1 + len(plan)] == [
            "✓ mode   Ready to code?",
            *(f"  │ {line}" for line in plan),
        ]
        assert chat.screen()[0] == "✓ mode   Ready to code? ▸"


def test_a_long_plan_is_cut_in_the_row_only() -> None:
    chat = Chat()
    plan = "\n".join(f"step {n}" for n in range(300))
    chat.tool("t", "Go?", "switch_mode", raw_input={"plan": plan})
    chat.ask("t")
    assert "  │ step 299" in chat.lines()
    chat.answer("q1", "once")
    assert chat.lines()[-1] == "  │ … 100 more lines, K shows all"


# -- K


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": [1]}, ["  {", '    "a": [', "      1", "    ]", "  }"]),
        ([1, "x"], ["  [", "    1,", '    "x"', "  ]"]),
        ("two\nlines", ["  two", "  lines"]),
        (7, ["  7"]),
        (0, ["  0"]),
        (False, ["  false"]),
    ],
)
@pytest.mark.req("V1-106", "V1-107")
def test_raw_values_and_the_name_are_in_the_details(value: Any, shown: list[str]) -> None:
    chat = Chat()
    chat.tool("t", "Read the file", "read", name="mcp__fs__read\x1b", raw_input=value)
    assert chat.lines() == ["○ read   Read the file"]  # the name is none of the row's
    details = chat.transcript.details(1)
    assert details[:2] == ["title     Read the file", "tool      mcp__fs__read^["]
    at = details.index("raw input")
    assert details[at + 1 : at + 1 + len(shown)] == shown


@pytest.mark.req("V1-98")
def test_the_details_tell_all_of_a_link() -> None:
    chat = Chat()
    uri = "https://x.org/" + "y" * 9000
    chat.apply(
        MessageAppend("agent", None, Block("link", uri=uri, name="n", description="d\nd", mime="text/html"))
    )
    chat.frames()
    details = chat.transcript.details(1)
    assert details[1:6] == [
        "",
        "content 1",
        "  type         link",
        "  mime         text/html",
        "  name         n",
    ]
    assert "  description  d d" in details
    told = "".join(line[15:] for line in details[details.index("  description  d d") + 1 :])
    assert told == uri
    assert max(map(len, details)) <= 8100


def test_sizes() -> None:
    """A number of an agent may be larger than any float."""
    sizes = [None, -1, 0, 999, 1000, 84_000, 12_345_678, 10**14, 10**18, 10**400]
    assert [size_text(size) for size in sizes] == [
        *("", "", "0 B", "999 B", "1.0 kB", "84 kB", "12 MB", "100000 GB", "", ""),
    ]
