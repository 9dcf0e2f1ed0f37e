"""Commands of agents: run by the host, live in their rows, ended with the session."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import Chat
from tests.nvim.terminal_kit import ask, create, done, gate, play, sh, show
from tests.plugin import StartScreen, eventually, marked, none_left
from tests.plugin.programs import STUBBORN, in_session


def commands(chat: Chat) -> list[str]:
    """The command lines of this test's processes that sleep."""
    return [line for line in marked(chat.screen.marker).values() if "sleep" in line or "trap" in line]


def row(chat: Chat, name: str = "npm test") -> str:
    """The row of a tool call."""
    return next((line for line in chat.text().split("\n") if name in line and "│" not in line), "")


@pytest.mark.req("V1-120", "V1-176", "V1-182", "V1-184", "V1-188")
def test_output_lives_in_the_row_and_outlives_the_release(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    program = f"echo one; {gate('go')}; printf '10%%\\r\\033[K20%%\\033[0m\\n'; echo two >&2; exit 3"
    chat = play(
        start_screen,
        agent,
        [
            *sh("t", program),
            show("t"),
            *ask("wait_for_exit", "t", "w"),
            *ask("output", "t", "o"),
            *ask("release", "t", "r"),
            done(status="failed"),
        ],
    )
    chat.send()
    chat.wait("│ one")
    assert re.search(r"● run {4}npm test$", row(chat)), chat.text()
    (chat.screen.cwd / "go").touch()
    chat.wait_turn()
    assert chat.agent.response("w")["result"] == {"exitCode": 3}
    output = {
        "output": "one\n10%\r\x1b[K20%\x1b[0m\ntwo\n",
        "truncated": False,
        "exitStatus": {"exitCode": 3},
    }
    assert chat.agent.response("o")["result"] == output
    assert chat.agent.response("r")["result"] == {}
    assert row(chat) == "✗ run    npm test  failed, exit 3"
    text = chat.text()
    assert "│ one\n  │ 20%\n  │ two\n" in text
    assert f"  │ {program}\n" in text  # the title does not say it


@pytest.mark.req("V1-186", "V1-187", "V1-189", "V1-190", "V1-191")
def test_kill_release_and_what_comes_after(start_screen: StartScreen, agent: MakeAgent) -> None:
    stubborn = f"echo on; ({STUBBORN}) & sleep 600"
    chat = play(
        start_screen,
        agent,
        [
            *sh("t", stubborn),
            show("t"),
            *ask("wait_for_exit", "t", "w1", wait=False),
            *ask("wait_for_exit", "t", "w2", wait=False),
            {"wait": "session/cancel"},
            *ask("kill", "t", "k"),
            *ask("output", "t", "o"),
            *ask("kill", "t", "k2"),
            *ask("release", "t", "r"),
            *ask("output", "t", "gone"),
            *ask("kill", "t", "gone2"),
            done(),
        ],
    )
    chat.send()
    chat.wait("│ on")
    assert chat.agent.responses("w1") == []
    assert len(commands(chat)) >= 2
    chat.cancel()  # the agent goes on: it only uses this as its signal
    chat.wait_turn()
    eventually(lambda: not commands(chat), message=lambda: str(commands(chat)))
    for ident in ("w1", "w2"):
        assert chat.agent.response(ident)["result"] == {"signal": "SIGTERM"}
    assert chat.agent.response("o")["result"]["exitStatus"] == {"signal": "SIGTERM"}
    assert chat.agent.response("k2")["result"] == chat.agent.response("r")["result"] == {}
    for ident in ("gone", "gone2"):
        assert chat.agent.response(ident)["error"]["code"] == -32002
    assert row(chat) == "✓ run    npm test  stopped, SIGTERM"


@pytest.mark.req("V1-85", "V1-184")
def test_a_wait_that_is_taken_back_leaves_the_command_running(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    chat = play(
        start_screen,
        agent,
        [
            *sh("t", "echo on; sleep 600"),
            show("t"),
            *ask("wait_for_exit", "t", "w", wait=False),
            *ask("output", "t", "o1"),
            {"send": {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "w"}}},
            {"await": "w"},
            *ask("output", "t", "o2"),
            done(),
        ],
    )
    chat.send()
    chat.wait_turn()
    assert chat.agent.response("w")["error"]["code"] == -32800
    assert "exitStatus" not in chat.agent.response("o2")["result"]
    assert len(commands(chat)) >= 1
    assert row(chat) == "✓ run    npm test  still running"


@pytest.mark.req("V1-184")
def test_children_that_outlive_the_command(start_screen: StartScreen, agent: MakeAgent) -> None:
    program = f"(sleep 0.5; echo late; sleep 600) & {in_session(STUBBORN)} echo early"
    chat = play(start_screen, agent, [*sh("t", program), show("t"), *ask("wait_for_exit", "t", "w"), done()])
    chat.send()
    chat.wait_turn()
    assert chat.agent.response("w")["result"] == {"exitCode": 0}
    chat.wait("│ late")  # what they write is shown all the same
    assert commands(chat)


@pytest.mark.req("V1-181", "V1-196")
def test_c17_the_limit_is_the_agents(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(
        start_screen,
        agent,
        [
            *create("t", "printf", "%s", "aaééé", outputByteLimit=5),
            show("t"),
            *ask("wait_for_exit", "t", "w"),
            *ask("output", "t", "o"),
            done(),
        ],
    )
    chat.send()
    chat.wait_turn()
    result = {"output": "éé", "truncated": True, "exitStatus": {"exitCode": 0}}
    assert chat.agent.response("o")["result"] == result
    assert "│ aaééé\n" in chat.text()


@pytest.mark.req("V1-181", "V1-195", "V1-196")
def test_c18_endless_output_floods_nothing(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(
        start_screen,
        agent,
        [
            *create("t", "yes", "\x1b]52;c;ZXZpbA==\x07 an endless line"),
            show("t", title="yes"),
            {"stderr": "x" * 1000 + "\n", "times": 5000},
            {"sleep": 1500},
            *ask("output", "t", "o"),
            *ask("kill", "t", "k"),
            *ask("output", "t", "o2"),
            done(),
        ],
    )
    frames = """
      _G.frames, _G.bytes = 0, 0
      local transcript = require('acp.chat.transcript')
      local frame = transcript.frame
      transcript.frame = function(list)
        _G.frames = _G.frames + 1
        _G.bytes = _G.bytes + #vim.json.encode(list)
        return frame(list)
      end
      _G.began = vim.uv.hrtime()
    """
    chat.screen.lua(frames)
    chat.send()
    chat.wait_turn()
    count, size, seconds = chat.screen.lua("return { frames, bytes, (vim.uv.hrtime() - began) / 1e9 }")
    assert count <= seconds / 0.016 + 5
    assert size / count < 8000, "of megabytes a frame shows a few lines"
    result = chat.agent.response("o")["result"]
    assert result["truncated"]
    assert len(result["output"]) <= 1024 * 1024
    assert chat.agent.response("o2")["result"]["exitStatus"] == {"signal": "SIGTERM"}
    assert "│  an endless line\n" in chat.text()
    assert "52;c" not in "\n".join(line for line in chat.text().split("\n") if "yes" not in line)


@pytest.mark.req("V1-183", "V1-195")
def test_binary_output(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(
        start_screen,
        agent,
        [
            *sh(
                "t",
                r"printf 'a\000\377\033[2J\033c\007\303\251\016b\n';"
                " head -c 100000 /dev/urandom; echo; echo end",
            ),
            show("t"),
            *ask("wait_for_exit", "t", "w"),
            *ask("output", "t", "o"),
            done(),
        ],
    )
    chat.send()
    chat.wait_turn()
    output = chat.agent.response("o")["result"]["output"]
    assert output.startswith("a\0\ufffd\x1b[2J\x1bc\x07é\x0eb\n")
    assert "│ end\n" in chat.text()
    assert not set(chat.text()) & set("\0\x1b\x07\x0e\r")


@pytest.mark.req("V1-179", "V1-180")
def test_shell_lines_and_missing_programs(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(
        start_screen,
        agent,
        [
            *create("t", "echo a && echo b | tr b c"),
            show("t", title="", call="c1"),
            *ask("wait_for_exit", "t", "w"),
            *ask("output", "t", "o"),
            done(),
            *create("missing", "no-such-program", "--now"),
            *create("relative", "ls", cwd="sub"),
        ],
    )
    chat.send()
    chat.wait_turn()
    assert chat.agent.response("o")["result"]["output"] == "a\nc\n"
    assert "✓ run    echo a && echo b | tr b c\n  │ a\n  │ c\n" in chat.text()
    error = chat.agent.response("missing")["error"]
    assert "no-such-program --now" in error["message"]
    assert chat.agent.response("relative")["error"]["code"] == -32602


def test_a_folder_outside_and_the_setting_ask(start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(
        start_screen,
        agent,
        [*create("t", "pwd", cwd="/"), *ask("wait_for_exit", "t", "w"), *ask("output", "t", "o")],
        [*create("t2", "touch", "made")],
    )
    chat.send()
    chat.wait_pending(1)
    shown = chat.wait("outside the project")
    assert (
        "? run    pwd  waiting for you\n  │ pwd\n  │ in /\n  │ outside the project\n  │ 1 Yes  2 No" in shown
    )
    assert chat.agent.responses("t") == []
    chat.permit("allow_once")
    chat.wait_turn()
    assert chat.agent.response("o")["result"]["output"] == "/\n"
    chat.screen.setup({**_settings(chat), "permission": {"open": "never", "terminal": "ask"}})
    chat.send()
    chat.wait_pending(1)
    chat.permit("reject_once")
    chat.wait_turn(2)
    assert "did not allow" in chat.agent.response("t2")["error"]["message"]
    assert not (chat.screen.cwd / "made").exists()
    assert "⊘ run    touch made  rejected by you" in chat.text()


def _settings(chat: Chat) -> dict[str, Any]:
    return {"agents": {"x": chat.agent.settings}}


ENDS: dict[str, Callable[[Chat], object]] = {
    "the chat is wiped": lambda chat: chat.screen.command(f"bwipeout! {chat.buf}"),
    "the agent is started again": lambda chat: chat.screen.command("AcpRestart"),
    "the agent dies": lambda chat: os.kill(chat.agent.events("start")[0]["pid"], 9),
}


@pytest.mark.req("V1-193")
@pytest.mark.parametrize("how", ENDS)
def test_commands_end_with_their_session(how: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    chat = play(
        start_screen,
        agent,
        [*sh("a", f"({STUBBORN}) & echo on; sleep 600"), *sh("b", "sleep 601"), show("a", "b"), done()],
    )
    chat.send()
    chat.wait_turn()
    chat.wait("│ on")
    assert len(commands(chat)) >= 3
    ENDS[how](chat)
    eventually(lambda: not commands(chat), message=lambda: str(commands(chat)))


@pytest.mark.req("V1-193")
@pytest.mark.parametrize("how", ["quit", "kill"])
def test_no_command_outlives_neovim(how: str, start_screen: StartScreen, agent: MakeAgent) -> None:
    program = f"({STUBBORN}) & {in_session(STUBBORN)} echo on; {STUBBORN}"
    chat = play(start_screen, agent, [*sh("a", program), show("a"), *ask("wait_for_exit", "a", "w")])
    chat.send()
    chat.wait("│ on")
    if how == "quit":
        chat.screen.keys("<Esc>:qa<CR>")
    else:
        os.kill(chat.screen.pid, 9)
    chat.screen.wait_exit()
    none_left(chat.screen.marker)


def test_what_the_adapters_tell_in_meta(start_screen: StartScreen, agent: MakeAgent) -> None:
    def told(**meta: Any) -> dict[str, Any]:
        return {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "_meta": meta}}

    chat = play(
        start_screen,
        agent,
        [
            {
                "update": {
                    "sessionUpdate": "tool_call",
                    "toolCallId": "c1",
                    "title": "npm test",
                    "kind": "execute",
                    "status": "in_progress",
                    "content": [{"type": "terminal", "terminalId": "c1"}],
                    "_meta": {"terminal_info": {"terminal_id": "c1", "cwd": "$cwd"}},
                }
            },
            told(terminal_output={"terminal_id": "c1", "data": "\x1b[32mok\x1b[0m 1\n"}),
            told(terminal_output_delta={"terminal_id": "c1", "data": "ok 2\n"}),
            {"wait": "session/cancel"},
            told(terminal_exit={"terminal_id": "c1", "exit_code": 1, "signal": None}),
            done(),
        ],
    )
    chat.send()
    assert "● run    npm test\n  │ ok 1\n  │ ok 2\n" in chat.wait("│ ok 2") + "\n"
    chat.cancel()
    chat.wait_turn()
    assert row(chat) == "✗ run    npm test  failed, exit 1"
    hello = chat.agent.log("initialize")[0]["params"]["clientCapabilities"]
    assert hello["terminal"] is True
    assert hello["_meta"]["terminal_output"] is True
