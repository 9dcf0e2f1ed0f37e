"""The trace: bounded, one line a message, repeats counted, secrets masked."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from acp_nvim.client import trace as module
from acp_nvim.client.secrets import Secrets
from acp_nvim.client.trace import Direction, Entry, Trace
from acp_nvim.client.trace_rows import Rows, Source, human_size


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 0.1
        return self.now


def make() -> tuple[Trace, Secrets]:
    secrets = Secrets()
    return Trace(Clock(), secrets), secrets


def put(trace: Trace, direction: Direction, message: Any) -> None:
    trace.record(direction, json.dumps(message).encode())


def rows_of(trace: Trace) -> tuple[list[str], list[list[Entry]]]:
    """The lines, and the messages behind each."""
    rows = Rows([Source(trace)], trace._secrets)
    rows.update()
    return rows.lines, rows.behind


def shown(trace: Trace) -> list[str]:
    """The lines without their times, blanks folded."""
    return [re.sub(r"\s{2,}", "  ", line[14:]) for line in rows_of(trace)[0]]


def test_a_line_a_message() -> None:
    trace, _ = make()
    put(trace, "out", {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {}})
    for word in ("a", "b", "c"):
        update = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": word}}
        put(trace, "in", {"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}})
    options = [{"optionId": "ok", "name": "Yes", "kind": "allow_once"}] * 3
    ask = {"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": {"options": options}}
    put(trace, "in", ask)
    chosen = {"outcome": {"outcome": "selected", "optionId": "ok"}}
    put(trace, "out", {"jsonrpc": "2.0", "id": 0, "result": chosen})
    trace.record("in", b"Loaded .env (3 keys)")
    error = {"code": -32603, "message": "rate limit"}
    put(trace, "in", {"jsonrpc": "2.0", "id": 2, "error": error})
    assert shown(trace) == [
        "→ session/prompt  #2  69 B",
        "← update agent_thought_chunk x 3  456 B",
        "← session/request_permission  #0  263 B  3 options",
        "→ session/request_permission  #0  93 B  ok",
        "← not JSON  20 B  “Loaded .env (3 keys)”",
        "← session/prompt  #2  79 B  error -32603 rate limit, 0.7 s",
    ]


@pytest.mark.req("V1-217")
def test_secrets_are_masked_in_lines_and_whole_messages() -> None:
    trace, secrets = make()
    secrets.add(["sk-test-0000"])
    trace.record("in", b"my key is sk-test-0000")
    put(trace, "in", {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "bad sk-test-0000"}})
    trace.note("an answer with sk-test-0000")
    trace.record("note", b"what was left: sk-test-0000", "cut off")
    trace.record("in", b"{}", label="GET /x?key=sk-test-0000")
    lines, behind = rows_of(trace)
    opened = [line for entries in behind for line in trace.whole(entries)]
    assert "sk-test-0000" not in "\n".join(lines + opened)
    assert len(lines) == 5


def test_control_characters_never_reach_the_buffer() -> None:
    trace, _ = make()
    trace.record("in", b"\x1b]52;c;x\x07 hello\x00")
    put(trace, "in", {"jsonrpc": "2.0", "method": "a\nb\x1b[31m", "id": "x\ny"})
    lines, behind = rows_of(trace)
    opened = [line for entries in behind for line in trace.whole(entries)]
    assert all(line.isprintable() for line in lines + opened)


def test_the_ring_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MESSAGES", 10)
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    monkeypatch.setattr(module, "MOST_BYTES_ONE", 300)
    trace, _ = make()
    for number in range(50):
        trace.record("in", b"x" * 500 + str(number).encode())
    entries = trace.entries()
    assert sum(len(entry.raw) for entry in entries) <= 1000
    assert entries[-1].size == 502
    lines, behind = rows_of(trace)
    assert lines[0] == f"… {50 - len(entries)} older messages are no longer kept"
    assert len(lines) == len(behind)
    assert trace.whole(behind[-1])[-1] == "… 202 more bytes are not kept"


def test_a_message_of_which_only_the_beginning_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES_ONE", 100)
    trace, _ = make()
    long = "x" * 200
    put(trace, "out", {"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": {"text": long}})
    put(trace, "in", {"jsonrpc": "2.0", "method": "session/update", "params": {"update": {"text": long}}})
    put(trace, "in", {"id": 'a "b" \u00e9', "jsonrpc": "2.0", "method": "m", "params": [long]})
    put(trace, "in", {"jsonrpc": "2.0", "id": 3, "result": {"content": long}})
    put(trace, "in", {"params": {"method": "no", "id": 9, "text": long}, "method": "late"})
    put(trace, "in", {"jsonrpc": "2.0", "method": long})
    trace.record("in", b'{"method": nonsense' + long.encode())
    trace.record("in", long.encode())
    ours, update, mixed, answer, late, endless, broken, stray = shown(trace)
    assert ours == "→ session/prompt  #3  279 B  cut here"
    assert update == "← session/update  282 B  cut here"
    assert mixed.startswith('← m  #a "b" é  ')
    assert answer == "← session/prompt  #3  254 B  cut here, 0.3 s"
    assert [line.partition("  ")[0] for line in (late, endless, broken)] == ["← a message"] * 3
    assert stray.startswith("← not JSON  200 B  “xxx")


def test_a_message_that_is_not_whole_opens_in_short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES_ONE", 2500)
    trace, secrets = make()
    secrets.add(["sk-test-0000"])
    put(trace, "in", "x" * 990 + "sk-test-0000" + "y" * 2000)
    *lines, rest = trace.whole(rows_of(trace)[1][0])
    assert [len(line) for line in lines[:-1]] == [1000] * (len(lines) - 1)
    assert "".join(lines).startswith('"' + "x" * 990) and "".join(lines).endswith("y" * 1000)
    assert "sk-test" not in "".join(lines)
    assert rest == "… 504 more bytes are not kept"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (96, "96 B"), (1900, "1.9 kB"), (8_200_000, "8.2 MB"), (3_000_000_000, "3.0 GB")],
)
def test_sizes_for_people(count: int, text: str) -> None:
    assert human_size(count) == text


def test_only_what_is_new_is_looked_at() -> None:
    trace, secrets = make()
    rows = Rows([Source(trace)], secrets)
    assert rows.update() is None
    put(trace, "out", {"id": 1, "method": "session/prompt", "params": {"sessionId": "s"}})
    assert (rows.update(), len(rows.lines)) == (0, 1)
    chunk = {"sessionUpdate": "agent_message_chunk"}
    for _ in range(3):
        put(trace, "in", {"method": "session/update", "params": {"sessionId": "s", "update": chunk}})
        assert (rows.update(), len(rows.lines)) == (1, 2)
    assert "x 3" in rows.lines[1]
    assert rows.update() is None
    put(trace, "in", {"id": 1, "result": {}})
    assert (rows.update(), len(rows.lines)) == (2, 3)
    assert rows.pairs == {0: 2, 2: 0}
    assert rows.sessions == ["s", "s", "s"]


def test_a_view_that_has_missed_messages_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MESSAGES", 5)
    trace, secrets = make()
    rows = Rows([Source(trace)], secrets)
    for n in range(4):
        put(trace, "in", {"method": f"m{n}"})
    rows.update()
    for n in range(20):
        put(trace, "in", {"method": f"m{n}"})
    assert rows.update() == 0
    assert len(rows.lines) == 6
    assert rows.lines[0] == "… 19 older messages are no longer kept"


def test_two_connections_in_the_order_of_time_and_one_session_of_them() -> None:
    secrets = Secrets()
    clock = Clock()
    one, two = Trace(clock, secrets), Trace(clock, secrets)
    for trace, session in ((one, "a"), (two, "b"), (one, "a")):
        put(trace, "out", {"id": 1, "method": "session/prompt", "params": {"sessionId": session}})
        put(trace, "in", {"id": 1, "result": {}})
    rows = Rows([Source(one, "in x"), Source(two, "in y")], secrets)
    rows.update()
    assert [line.split(" in ")[-1][-1] for line in rows.lines] == list("xxyyxx")
    assert rows.pairs == {0: 1, 1: 0, 2: 3, 3: 2, 4: 5, 5: 4}
    only = Rows([Source(one), Source(two)], secrets, session="b")
    only.update()
    assert only.sessions == ["b", "b"]
    assert (only.known, list(only.others)) == (True, ["a"])
    none = Rows([Source(one), Source(two)], secrets, session="c")
    none.update()
    assert (none.known, list(none.others)) == (False, ["a", "b"])


def test_requests_over_http_and_their_answers() -> None:
    trace, secrets = make()
    trace.record("out", b"{}", label="POST /sessions/abcdefghijk…/turns")
    trace.record("in", b"", label="200 event-stream")
    for _ in range(2):
        trace.record("in", b'{"delta":"x"}', label="text_delta")
    rows = Rows([Source(trace)], secrets, session="abcdefghijklmnop")
    rows.update()
    assert len(rows.lines) == 3
    assert rows.pairs == {0: 1, 1: 0}
    assert "text_delta x 2" in rows.lines[2]
