"""What is written to a file has no secret in it, wherever it stood and however it was cut (C41)."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.client.redact import Redact
from acp_nvim.client.secrets import MASK, SHORTEST, Secrets
from acp_nvim.client.trace import MOST_BYTES_ONE, Entry
from acp_nvim.client.trace_file import Conversation, Facts, lines, write

HOME = "/home/mona"
FACTS = Facts("claude", "0.11.5", None)


def redact(*values: str) -> Redact:
    secrets = Secrets()
    secrets.add(values)
    return Redact(secrets, HOME)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"env": {"A": "b", "C": "d"}}, {"env": {"A": MASK, "C": MASK}}),
        ({"env": [{"name": "A", "value": "b"}]}, {"env": [{"name": "A", "value": MASK}]}),
        ({"env": ["A=b"]}, {"env": [f"A={MASK}"]}),
        ({"headers": [{"name": "X", "value": "y"}]}, {"headers": [{"name": "X", "value": MASK}]}),
        ({"rawInput": {"apiKey": "x", "a": "y"}}, {"rawInput": {"apiKey": MASK, "a": "y"}}),
        ({"Authorization": "x"}, {"Authorization": MASK}),
        ({"inputTokens": 12, "token": ""}, {"inputTokens": 12, "token": ""}),
        ({"type": "secret", "name": "p", "default": "x"}, {"type": "secret", "name": "p", "default": MASK}),
        (
            {"method": "authenticate", "params": {"methodId": "m", "_meta": {"code": ["x", 1]}}},
            {"method": "authenticate", "params": {"methodId": "m", "_meta": {"code": [MASK, MASK]}}},
        ),
        ({"text": "Cookie: a=b; c=d\nmore"}, {"text": f"Cookie: {MASK}\nmore"}),
        ({"text": "x-api-key: abc"}, {"text": f"x-api-key: {MASK}"}),
        (
            {"url": "https://me:pw@host/?q=1&api_key=k&x=2"},
            {"url": f"https://{MASK}@host/?q=1&api_key={MASK}&x=2"},
        ),
        ({"path": HOME + "/a.py", "at": "/home/mona2"}, {"path": "~/a.py", "at": "/home/mona2"}),
        ({"uri": f"file://{HOME}/a"}, {"uri": "file://~/a"}),
        ({HOME + "/a": 1}, {"~/a": 1}),
        (
            {"text": "Fix the tokens in the parser", "author": "me"},
            {"text": "Fix the tokens in the parser", "author": "me"},
        ),
    ],
)
def test_what_names_and_places_say(message: Any, expected: Any) -> None:
    assert redact().messages([message], [None]) == [expected]


@pytest.mark.req("V1-217")
@given(
    secret=st.text(st.characters(exclude_categories=["Cs"]), min_size=SHORTEST, max_size=20),
    around=st.tuples(st.text(max_size=10), st.text(max_size=10)),
    cuts=st.lists(st.integers(0, 40), max_size=4),
    nested=st.integers(0, 2),
)
def test_no_secret_survives_in_the_file(
    secret: str, around: tuple[str, str], cuts: list[int], nested: int
) -> None:
    """Planted in a text of its own, in JSON within JSON, as a name, in a note, and cut into chunks."""
    text = around[0] + secret + around[1]
    inner = text
    for _ in range(nested):
        inner = json.dumps({"x": inner})
    at = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[a:b] for a, b in itertools.pairwise(at)]
    said: list[Any] = [
        {"id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [{"text": text}]}},
        *(
            {
                "method": "session/update",
                "params": {
                    "sessionId": "s",
                    "update": {"sessionUpdate": "agent_message_chunk", "content": {"text": c}},
                },
            }
            for c in chunks
        ),
        {"id": 1, "result": {"raw": inner, text: 1}},
    ]
    entries = [Entry(1.0, "in", json.dumps(each).encode("utf-8", "surrogatepass"), 0) for each in said]
    for entry in entries:
        entry.size = len(entry.raw)
    cut = json.dumps({"text": "x" * 50 + text}).encode("utf-8", "surrogatepass")
    entries += [
        Entry(
            1.0,
            "note",
            text.encode("utf-8", "surrogatepass"),
            len(text.encode("utf-8", "surrogatepass")),
            text,
        ),
        Entry(1.0, "in", cut[:-3], len(cut) + 1),
    ]
    secrets = Secrets()
    secrets.add([secret])
    made = lines(FACTS, [Conversation(entries, 0, "acp-v1", None, None)], Redact(secrets, HOME))
    for line in made[1:]:
        shown = "\0".join(_texts(_shown(json.loads(line)))).replace(MASK, "\0")
        once = json.dumps(secret)[1:-1]
        assert not any(written in shown for written in (secret, once, json.dumps(once)[1:-1])), shown
    joined = "".join(
        json.loads(line)["msg"]["params"]["update"]["content"]["text"]
        for line in made[1:]
        if '"agent_message_chunk"' in line
    )
    assert secret not in joined.replace(MASK, "\0")


def _shown(line: Any) -> Any:
    """What came from the conversation, without the words of the protocol around it."""
    return {key: line.get(key) for key in ("msg", "note", "text", "cut")}


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (_own(key), *_texts(item))]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [_own(value)] if isinstance(value, str) else []


def _own(text: str) -> str:
    known = {"session/prompt", "session/update", "agent_message_chunk", "sessionUpdate", "sessionId"}
    return (
        "" if text in known or text in ("content", "params", "method", "prompt", "result", "update") else text
    )


def test_a_secret_in_three_chunks_leaves_what_stands_around_it() -> None:
    chunks = ["before sk-", "test", "-0000 after"]
    assert redact("sk-test-0000").pieces(chunks) == [f"before {MASK}", "", " after"]
    assert redact().pieces(["in /home/m", "ona/x"]) == ["in ~", "/x"]


def test_a_message_that_is_not_whole_says_so() -> None:
    raw = json.dumps(
        {"env": {"A": "hush"}, "list": [{"name": "X", "value": "psst"}], "token": "shh", "t": "x" * 50}
    )
    entry = Entry(5.0, "out", raw.encode()[:-5], MOST_BYTES_ONE + 7)
    (head, line) = lines(FACTS, [Conversation([entry], 3, "acp-v1", "Claude", "1")], redact("sk-test-0000"))
    found = json.loads(line)
    assert (found["size"], found["dir"], found["t"]) == (MOST_BYTES_ONE + 7, "out", 0.0)
    assert "msg" not in found
    assert not any(word in found["cut"] for word in ("hush", "psst", "shh"))
    assert json.loads(head)["connections"] == [
        {"protocol": "acp-v1", "name": "Claude", "version": "1", "older": 3}
    ]


def test_only_one_session_and_what_belongs_to_none() -> None:
    def entry(message: Any, direction: Any = "out") -> Entry:
        raw = json.dumps(message).encode()
        return Entry(1.0, direction, raw, len(raw))

    entries = [
        entry({"id": 0, "method": "initialize", "params": {}}),
        entry({"id": 1, "method": "session/prompt", "params": {"sessionId": "one"}}),
        entry({"id": 2, "method": "session/prompt", "params": {"sessionId": "two"}}),
        entry({"id": 1, "result": {}}, "in"),
        entry({"id": 2, "result": {}}, "in"),
    ]
    facts = Facts("claude", "0.11.5", "two")
    made = [
        json.loads(line) for line in lines(facts, [Conversation(entries, 0, "acp-v1", None, None)], redact())
    ]
    assert [each["msg"]["id"] for each in made[1:]] == [0, 2, 2]
    assert [each.get("session") for each in made[1:]] == [None, "two", "two"]


def test_the_file_is_for_its_user_alone_and_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.jsonl"
    target.write_text("old")
    target.chmod(0o644)
    link = tmp_path / "link.jsonl"
    link.symlink_to(target)
    write(link, ["a", "b"])
    assert target.read_text() == "a\nb\n"
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.jsonl", "report.jsonl"]
    with pytest.raises(OSError, match="No such file"):
        write(tmp_path / "no/where.jsonl", ["a"])


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":' + b"[" * 300 + b'{"token":"hush-hush"}' + b"]" * 300 + b"}",
        b'{"a":' * 5000 + b'{"password":"hush-hush"}' + b"}" * 5000,
        b'loaded {"api_key": "hush-hush", "name": "x", "value": "hush-hush"}',
        b'["token", {"env": {"A": "hush-hush"}}',
        b"\xff\xfe token hush" + b"\x00" * 9,
    ],
)
def test_what_cannot_be_read_is_text_without_secrets(raw: bytes) -> None:
    (_, line) = lines(
        FACTS, [Conversation([Entry(0, "in", raw, len(raw))], 0, "acp-v1", None, None)], redact()
    )
    assert "text" in json.loads(line)
    assert "hush-hush" not in line


def test_texts_of_other_streams_do_not_belong_together() -> None:
    def chunk(kind: str, text: str) -> Entry:
        update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
        raw = json.dumps(
            {"method": "session/update", "params": {"sessionId": "s", "update": update}}
        ).encode()
        return Entry(0, "in", raw, len(raw))

    entries = [
        chunk("agent_message_chunk", "sk-te"),
        chunk("agent_thought_chunk", "aside"),
        chunk("agent_message_chunk", "st-0000!"),
    ]
    made = lines(FACTS, [Conversation(entries, 0, "acp-v1", None, None)], redact("sk-test-0000"))
    texts = [json.loads(each)["msg"]["params"]["update"]["content"]["text"] for each in made[1:]]
    assert texts == [MASK, "aside", "!"]


@pytest.mark.parametrize("kept", range(1, 12))
def test_a_message_cut_within_a_secret_ends_before_it(kept: int) -> None:
    raw = ('{"text": "' + "x" * 50 + "sk-test-0000"[:kept]).encode()
    entry = Entry(0, "in", raw, 3 << 20)
    (_, line) = lines(FACTS, [Conversation([entry], 0, "acp-v1", None, None)], redact("sk-test-0000"))
    assert "xx" in json.loads(line)["cut"]
    assert "s" not in json.loads(line)["cut"]


@given(st.lists(st.text("hunter2 /me", max_size=12), max_size=12), st.lists(st.integers(0, 60), max_size=12))
def test_cuts_change_nothing(words: list[str], cuts: list[int]) -> None:
    """However a text is cut into pieces, together they are the whole, redacted."""
    secrets = Secrets()
    secrets.add(["hunter22"])
    redact = Redact(secrets, "/home/me")
    text = "hunter22 ".join(words)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = redact.pieces([text[a:b] for a, b in itertools.pairwise(places)])
    assert "".join(pieces) == redact.text(text)
    assert "hunter22" not in "".join(pieces)
