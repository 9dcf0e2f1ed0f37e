"""Cases C01 to C04 and C08 to C11: what agents do to the wire."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import END, WATCH, Stage, assert_gone, cut, play, update, ways
from tests.plugin import StartScreen, eventually

STRAY = (
    "Running database migration 3/7\n",
    "\x1b[32mready\x1b[0m\n",
    '"just a json string"\n',
    "42\n",
    "[]\n",
)
READY = {"protocolVersion": 1, "agentCapabilities": {}}
MOST_MEMORY = 256 << 20
"""Bytes the host may take while it refuses an endless line of up to 64 MiB."""


@pytest.mark.req("V1-05")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_c01_lines_that_are_no_messages(seed: int, start_screen: StartScreen, agent: MakeAgent) -> None:
    stray: list[Json] = [{"raw": line} for line in STRAY]
    played = agent(on={"initialize": [*(cut(stray, seed) if seed else stray), {"reply": READY}]})
    stage = Stage(start_screen(size=(150, 40), init=WATCH))
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    trace = chat.trace()
    for wanted in ("Running database migration 3/7", "ready", "just a json string", "“42”", "“[]”"):
        assert wanted in trace
    assert "\x1b" not in trace
    assert "migration" not in chat.text()
    assert stage.screen.messages() == ""
    assert all("method" in message for message in played.log()), "nothing is answered"
    chat.send()
    assert chat.wait_turn()["stop_reason"] == "end_turn"


def peak_memory(pid: int) -> int:
    """The most memory a process has had, in bytes; 0 where nobody tells."""
    if sys.platform != "linux":
        return 0
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) << 10 for row in rows if row.startswith("VmHWM"))


@pytest.mark.req("V1-06")
@pytest.mark.parametrize("when", ["start", "session/prompt"])
def test_c02_a_line_without_end(when: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    endless: list[Json] = [{"raw": "A" * 65536, "times": 300_000_000 // 65536}]
    played = agent(start=endless) if when == "start" else agent(on={when: endless})
    screen = start_screen(size=(150, 40), init=WATCH)
    stage = Stage(screen)
    stage.setup(x=played)
    chat = stage.open(played)
    if when != "start":
        chat.wait_state("idle")
        chat.send()
    screen.keys("itype on")
    screen.wait("type on")
    chat.wait_state("failed")
    chat.wait("a line longer than 67,108,864 bytes")
    eventually(lambda: "a line longer than 67,108,864 bytes" in chat.status().get("error", ""))
    assert ":AcpRestart" in chat.text()
    if when != "start":
        assert chat.wait_turn()["stop_reason"] == "lost"
    assert_gone(screen, played.events("start")[0]["pid"])
    assert peak_memory(screen.host_ready()) < MOST_MEMORY
    assert "type on" in chat.prompt()


@pytest.mark.req("V1-04")
@pytest.mark.parametrize("text", ["", "last words "])
def test_c03_the_last_line_has_no_end(text: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    answer = '{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}'
    actions: list[Json] = [*([{"say": text}] if text else []), {"raw": answer}, {"exit": 0}]
    (chat,) = play("whole", start_screen, agent, actions)
    chat.send()
    assert chat.wait_turn()["stop_reason"] == "end_turn"
    chat.wait_state("failed")
    shown = chat.wait("x ended with exit code 0")
    assert text.strip() in shown
    assert shown.index("── done") < shown.index("x ended with exit code 0")
    assert "connection lost" not in shown


@pytest.mark.req("V1-04")
@pytest.mark.parametrize("seed", range(4))
def test_c04_characters_in_two_reads(seed: int, start_screen: StartScreen, agent: MakeAgent) -> None:
    text = "café 🚀 ok"
    line = {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": "s1",
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}},
        },
    }
    before = '{"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": '
    before += '{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "'
    at = len(before)
    assert text
    places = [at + 4, at + 8] if seed == 0 else sorted(random.Random(seed).sample(range(at, at + 15), 3))
    (chat,) = play("whole", start_screen, agent, [{"split": line, "at": places, "ms": 20}, END])
    chat.send()
    chat.wait_turn()
    assert chat.text().count(text) == 1
    assert "\ufffd" not in chat.text()


@pytest.mark.req("V1-211")
@ways
def test_c08_unknown_notifications(way: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    unknown = [
        {"send": {"jsonrpc": "2.0", "method": "_x.ai/announcements/update", "params": {"n": 1}}},
        {"send": {"jsonrpc": "2.0", "method": "$/progress", "params": {}}},
    ]
    chats = play(way, start_screen, agent, [*unknown, {"say": "on"}, END])
    for chat in chats:
        chat.send()
    for chat in chats:
        chat.wait_turn()
        chat.wait("on\n")
    assert all("method" in message for message in chats[0].agent.log()), "nothing is answered"
    trace = chats[0].trace()
    assert "← _x.ai/announcements/update" in trace
    assert "← $/progress" in trace
    # 0.10 puts an empty line into :messages when Insert mode is left right after another buffer came up.
    assert chats[0].screen.messages().strip() == ""


@pytest.mark.req("V1-17")
def test_c09_ids_as_text(start_screen: StartScreen, agent: MakeAgent) -> None:
    def reply(ident: str, result: Json) -> Json:
        return {"send": {"jsonrpc": "2.0", "id": ident, "result": result}}

    early = {"send": {"jsonrpc": "2.0", "method": "_x/hello", "params": {}}}
    on = {
        "initialize": [reply("0", READY), early],
        "session/new": [reply("1", {"sessionId": "$session"})],
    }
    (chat,) = play("whole", start_screen, agent, [{"say": "ok"}, reply("2", END["reply"])], on=on)
    chat.send()
    assert chat.wait_turn()["stop_reason"] == "end_turn"
    assert "taken for 2" in chat.trace()


@pytest.mark.req("V1-17", "V1-83")
@pytest.mark.parametrize("ident", ["id-of-nobody", 77, "02"])
def test_c09_an_answer_to_nobody(ident: str | int, start_screen: StartScreen, agent: MakeAgent) -> None:
    stray = {"send": {"jsonrpc": "2.0", "id": ident, "result": {"stopReason": "end_turn"}}}
    actions: list[Json] = [
        stray,
        {"say": "still here"},
        {"wait": "session/cancel"},
        {"reply": {"stopReason": "cancelled"}},
    ]
    (chat,) = play("whole", start_screen, agent, actions)
    chat.send()
    chat.wait("still here")
    assert chat.status()["state"] == "running"
    assert "unknown response" in chat.trace()
    chat.cancel()
    assert chat.wait_turn()["stop_reason"] == "cancelled"
    assert "cancelled by you" in chat.text()


@pytest.mark.req("V1-47", "V1-16")
def test_c10_updates_before_the_session_is_known(start_screen: StartScreen, agent: MakeAgent) -> None:
    def commands(session: str, *names: str) -> Json:
        offered = [{"name": name, "description": "d"} for name in names]
        return message(session, {"sessionUpdate": "available_commands_update", "availableCommands": offered})

    def said(session: str, text: str) -> Json:
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
        return message(session, chunk)

    def message(session: str, content: Json) -> Json:
        params = {"sessionId": session, "update": content}
        return {"send": {"jsonrpc": "2.0", "method": "session/update", "params": params}}

    early = [commands("s2", "old"), said("s1", "one "), commands("s1", "init"), said("s2", "eins ")]
    late = [said("s2", "zwei "), said("s1", "two "), commands("s2", "lint"), said("s1", "three")]
    played = agent(
        on={
            "session/new": [
                [{"wait": "session/new", "count": 2}, *early, {"reply": {"sessionId": "s1"}}, *late],
                [{"wait": "session/prompt"}, {"reply": {"sessionId": "s2"}}],
            ]
        }
    )
    screen = start_screen(size=(150, 40), init=WATCH)
    stage = Stage(screen)
    stage.setup(x=played)
    first = stage.open(played)
    second = stage.open(played, new=True)
    first.wait_state("idle")
    first.wait("one two three")
    first.focus()
    screen.keys("i/in")
    screen.wait("/init ")
    screen.keys("<Esc>")
    first.send()
    second.wait("eins zwei")
    second.focus()
    screen.keys("i/l")
    screen.wait("/lint ")
    assert "/old" not in screen.text()


@pytest.mark.req("V1-75")
@pytest.mark.parametrize("pieces", [("fix it",), ("fix", " ", "it"), ("fix it\n",)])
@ways
def test_c11_the_echo_of_a_prompt(
    way: str, pieces: tuple[str, ...], start_screen: StartScreen, agent: MakeAgent
) -> None:
    echo = [update("user_message_chunk", content={"type": "text", "text": piece}) for piece in pieces]
    chats = play(way, start_screen, agent, [*echo, {"say": "ok"}, END])
    for chat in chats:
        chat.send("fix it")
    for chat in chats:
        chat.wait_turn()
        assert chat.text().count("fix it") == 1
        assert "❯ fix it\n\nok\n" in chat.text()
