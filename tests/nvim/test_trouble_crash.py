"""An agent, or the host, that ends by itself: one message, nothing of the user's lost, and a way back."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.trouble import BACK, Chat, change, kill_agent, kill_host, ready_chat, starts
from tests.plugin import StartScreen, eventually

RUN: Json = {
    "sessionUpdate": "tool_call",
    "toolCallId": "t",
    "title": "make all",
    "kind": "execute",
    "status": "in_progress",
}
HALF: list[Json] = [{"say": "half an answer"}, {"update": RUN}, {"stderr": "warming up\nFATAL: heap\n"}]
DONE: list[Json] = [{"reply": {"stopReason": "end_turn"}}]

WATCH = """
_G.ends = {}
vim.api.nvim_create_autocmd('User', {
  pattern = 'AcpTurnEnd',
  callback = function(args) table.insert(_G.ends, args.data.stop_reason) end,
})
"""


def hello(**capabilities: Any) -> Json:
    info = {"name": "scripted", "version": "1.0"}
    return {"reply": {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities}}


RESUMES = hello(sessionCapabilities={"resume": {}})
LOADS = hello(loadSession=True)


def in_a_turn(start_screen: StartScreen, x: ScriptedAgent) -> Chat:
    """A chat in the middle of a turn, with two queued prompts and one being written."""
    chat = ready_chat(start_screen, x, init=WATCH)
    chat.submit("hello")
    chat.until("half an answer", "run    make all")
    chat.submit("queued one")
    chat.submit("queued\ntwo")
    chat.type("draft")
    eventually(lambda: chat.status["queued"] == 2, message=chat.show)
    return chat


def over(chat: Chat, *said: str) -> None:
    """Assert that the turn ended once, that this was said, and that every text is in the prompt."""
    chat.until(*said)
    chat.until_state("failed")
    chat.until_prompt("queued one\nqueued\ntwo\ndraft")
    chat.until("✗ run    make all  no answer")
    eventually(lambda: chat.screen.lua("return _G.ends") == ["lost"], message=chat.show)
    assert chat.status["stop_reason"] == "lost"
    assert chat.status["queued"] == 0
    assert len(chat.troubles) == 2  # the row, and the message
    chat.sees("half an answer", said[0], "✗ failed, :AcpRestart", "queued one", "draft")
    chat.screen.wait(lambda text: "⋯ queued" not in text)


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ({"exit": 137}, "✗ connection lost: x ended with exit code 137 (SIGKILL)"),
        ({"exit": 0}, "✗ connection lost: x ended with exit code 0"),
        ({"kill": "SIGSEGV"}, "✗ connection lost: x was ended by SIGSEGV"),
    ],
)
def test_it_crashes_in_a_turn(start_screen: StartScreen, agent: MakeAgent, last: Json, said: str) -> None:
    capable = hello()
    capable["reply"]["authMethods"] = [{"id": "go", "name": "go"}]
    x = agent({"initialize": [capable], "session/prompt": [*HALF, {"wait": "authenticate"}, last]})
    change(x, authenticate=[])
    chat = in_a_turn(start_screen, x)
    chat.screen.command("AcpLogin")
    chat.until("? login  x  waiting for you")
    chat.screen.command("AcpPermit 1")  # the sign to end
    over(chat, said, "  │ warming up\n  │ FATAL: heap\n  │ :AcpRestart starts it again")
    chat.quiet()


FLOOD = 50_000_000
"""Bytes an agent writes to stderr before it ends."""


@pytest.mark.req("V1-07", "V1-08", "V1-19")
def test_50_mb_of_stderr_are_bounded_and_their_end_is_shown(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    line = "x" * 999 + "\n"
    flood = {"stderr": line, "times": FLOOD // len(line)}
    last = [
        flood,
        {"stderr": "FATAL: heap\n"},
        {"say": "said it all"},
        {"wait": "session/cancel"},
        {"exit": 3},
    ]
    chat = ready_chat(start_screen, agent({"session/prompt": last}), init=WATCH)
    host = chat.screen.host_ready()
    before = resident(host)
    chat.submit("hello")
    chat.until("said it all")  # it was never held up
    assert resident(host) - before < 30_000_000
    chat.screen.command("AcpCancel")
    chat.until(
        "✗ connection lost: x ended with exit code 3", "  │ FATAL: heap\n  │ :AcpRestart starts it again"
    )
    assert chat.text.count("x" * 900) == 11, "twelve lines with the last one"
    chat.quiet()


def resident(pid: int) -> int:
    """Bytes of memory of a process."""
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(said.stdout) * 1024


@pytest.mark.parametrize(
    ("capable", "method", "says"),
    [
        (hello(), "session/new", "── x cannot resume: it does not remember this chat"),
        (RESUMES, "session/resume", "── resumed: x remembers this chat"),
        (LOADS, "session/load", "── resumed: x remembers this chat"),
    ],
    ids=["forgets", "resumes", "loads"],
)
def test_back_after_a_crash(
    start_screen: StartScreen, agent: MakeAgent, capable: Json, method: str, says: str
) -> None:
    old = {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "replayed"}}
    x = agent(
        {
            "initialize": [capable],
            "session/prompt": [*HALF],
            "session/resume": [{"reply": {}}],
            "session/load": [{"update": old}, {"reply": {}}],
        }
    )
    chat = in_a_turn(start_screen, x)
    kill_agent(x)
    remedy = "starts it again" if method == "session/new" else "starts it again and resumes this chat"
    over(chat, "✗ connection lost: x was ended by SIGKILL", f"  │ :AcpRestart {remedy}")

    chat.submit("too early")
    chat.until(f"✗ not sent: the agent is not running. {BACK}\n  │ :AcpRestart")
    chat.until_prompt("too early")
    chat.type("kept")
    change(x, session_prompt=DONE)
    chat.screen.command("AcpRestart")
    chat.until(says)
    chat.until_state("idle")
    assert chat.text.count(says) == 1
    assert "replayed" not in chat.text
    assert len(starts(x)) == 2
    assert x.log()[-1]["method"] == method
    if method != "session/new":
        assert x.log(method)[-1]["params"]["sessionId"] == "s1"
    assert chat.prompt == "kept"
    assert chat.status.get("error") is None
    chat.works()
    chat.until("half an answer", "❯ kept")
    chat.sees(" x  ready", "❯ kept")


def test_a_resume_that_is_refused(start_screen: StartScreen, agent: MakeAgent) -> None:
    error = {"error": {"code": -32002, "message": "Resource not found"}}
    x = agent({"initialize": [RESUMES], "session/resume": [error]})
    chat = ready_chat(start_screen, x)
    chat.works("one")
    kill_agent(x)
    chat.until("✗ x was ended by SIGKILL")
    chat.screen.command("AcpRestart")
    chat.until("── x does not remember this chat: Resource not found")
    chat.until_state("idle")
    assert len(chat.troubles) == 1
    chat.works()


@pytest.mark.parametrize("talked", [False, True])
def test_it_crashes_while_idle(start_screen: StartScreen, agent: MakeAgent, talked: bool) -> None:
    x = agent()
    chat = ready_chat(start_screen, x)
    if talked:
        chat.works("one")
    chat.type("being written")
    kill_agent(x)
    chat.until("✗ x was ended by SIGKILL\n  │ :AcpRestart starts it again")
    chat.until_state("failed")
    chat.sees("✗ x was ended by SIGKILL", "✗ failed, :AcpRestart", "being written")
    assert len(chat.troubles) == 1
    assert chat.prompt == "being written"
    chat.quiet()
    chat.submit()
    chat.until_prompt("being written")
    chat.screen.command("AcpRestart")
    chat.until_state("idle")
    chat.works()


def test_a_crash_with_two_chats_is_told_in_each(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"session/new": [[{"reply": {"sessionId": "a"}}], [{"reply": {"sessionId": "b"}}]]})
    chat = ready_chat(start_screen, x)
    chat.screen.command("AcpChat!")
    second = chat.screen.funcs.bufnr("acp://x/2")
    eventually(lambda: "ready in" in "\n".join(chat.screen.lines(second)), message=chat.show)
    kill_agent(x)
    said = "✗ x was ended by SIGKILL"
    chat.until(said)
    eventually(lambda: said in chat.screen.lines(second), message=chat.show)
    chat.screen.command("AcpRestart")
    eventually(lambda: "ready in" in "\n".join(chat.screen.lines(second)), message=chat.show)
    chat.until("ready in")
    assert len(starts(x)) == 2


SPY = """
_G.seen = {}
vim.api.nvim_create_autocmd('User', { pattern = 'AcpStatus', callback = function()
  local status = require('acp').status()
  table.insert(_G.seen, { status.state, status.error or '' })
end })
"""


@pytest.mark.parametrize("what", ["agent", "host"])
@pytest.mark.parametrize("busy", [True, False], ids=["in a turn", "idle"])
def test_a_failure_and_its_reason_are_told_together(
    start_screen: StartScreen, agent: MakeAgent, what: str, busy: bool
) -> None:
    x = agent({"session/prompt": [*HALF]})
    chat = in_a_turn(start_screen, x) if busy else ready_chat(start_screen, x)
    chat.screen.lua(SPY)
    if what == "agent":
        kill_agent(x)
    else:
        kill_host(chat.screen)
    chat.until_state("failed")
    said = "was ended by SIGKILL" if what == "agent" else "host ended"
    eventually(lambda: chat.screen.lua("return _G.seen"))
    seen = [error for state, error in chat.screen.lua("return _G.seen") if state == "failed"]
    assert seen and all(said in error for error in seen), seen
    change(x, session_prompt=DONE)
    chat.screen.command("AcpRestart")
    chat.until_state("idle")
    assert "error" not in chat.status
    chat.screen.clear_messages()


def test_a_restart_in_a_turn(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"session/prompt": [*HALF]})
    chat = in_a_turn(start_screen, x)
    change(x, session_prompt=DONE)
    chat.screen.command("AcpRestart")
    chat.until("── x was stopped by :AcpRestart", "── x cannot resume: it does not remember this chat")
    chat.until_prompt("queued one\nqueued\ntwo\ndraft")
    assert chat.troubles == ["✗ run    make all  no answer"]
    assert chat.screen.lua("return _G.ends") == ["lost"]
    chat.quiet()
    chat.works()


def test_the_host_is_killed_in_a_turn(start_screen: StartScreen, agent: MakeAgent) -> None:
    x = agent({"session/prompt": [*HALF]})
    chat = in_a_turn(start_screen, x)
    kill_host(chat.screen)
    over(chat, "✗ host ended (signal 9)", "  │ :AcpRestart starts it again")
    chat.sees("acp: host ended (signal 9): next command restarts it, or :AcpInstall")
    assert len(chat.screen.messages().strip().splitlines()) == 1
    assert not chat.screen.blocked()
    chat.screen.clear_messages()

    change(x, session_prompt=DONE)
    chat.works()
    chat.until("half an answer", "❯ queued one\n  queued\n  two\n  draft")
    assert chat.text.index("half an answer") < chat.text.index("✗ host ended") < chat.text.index("❯ queued")
    assert chat.text.count("cannot resume") == 1
    assert len(starts(x)) == 2
    assert chat.status.get("error") is None


@pytest.mark.parametrize("capable", [RESUMES, LOADS], ids=["resumes", "loads"])
def test_back_after_the_host_was_killed(start_screen: StartScreen, agent: MakeAgent, capable: Json) -> None:
    old = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "replayed"}}
    x = agent(
        {
            "initialize": [capable],
            "session/resume": [{"reply": {}}],
            "session/load": [{"update": old}, {"reply": {}}],
        }
    )
    chat = ready_chat(start_screen, x)
    chat.works("one")
    kill_host(chat.screen)
    chat.until("✗ host ended (signal 9)")
    chat.screen.clear_messages()
    chat.screen.command("AcpRestart")
    chat.until("── resumed: x remembers this chat")
    chat.until_state("idle")
    assert "replayed" not in chat.text
    assert chat.text.count("❯ one") == 1
    chat.works("two")
    assert x.log("session/prompt")[-1]["params"]["sessionId"] == "s1"
