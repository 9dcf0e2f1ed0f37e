"""The demo agent in version 2 of the protocol: the same work, told as the session's state and its parts."""

from __future__ import annotations

import shutil
import signal
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.plugin.poll import eventually
from tests.unit.demo.client import PATIENCE, DemoClient, Json
from tests.unit.demo.second import Second
from tests.unit.demo.test_turns import STORIES, _gone

Start = Callable[..., Second]


@pytest.fixture
def start2(project: Path) -> Iterator[Start]:
    """A function that starts agents of version 2; each has to leave when its input is closed."""
    started: list[Second] = []

    def begin(*arguments: str, **options: Any) -> Second:
        started.append(Second(options.pop("cwd", project), *arguments, **options))
        return started[-1]

    yield begin
    for client in started:
        assert client.close() == 0


@pytest.fixture
def second(start2: Start) -> Second:
    return start2()


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shown(client: DemoClient) -> list[Any]:
    """What a user is told, whatever the version: texts, titles, plans, and what is asked."""
    told: list[Any] = []
    for update in client.updates():
        kind = update["sessionUpdate"]
        if kind.endswith("_chunk") and "messageId" in update and not kind.startswith("user"):
            told.append((kind, update["content"]))
        elif kind in ("tool_call", "tool_call_update"):
            told.append({name: update[name] for name in ("title", "kind", "status") if name in update})
        elif kind in ("plan", "plan_update"):
            told.append(update.get("entries") or update["plan"]["entries"])
    names = [[option["name"] for option in asked["options"]] for asked in client.permissions]
    return [each for each in told if each], names  # type: ignore[return-value]


def test_the_same_work_as_in_version_1(
    start: Callable[..., DemoClient], start2: Start, project: Path, tmp_path: Path
) -> None:
    """All that can be asked for: the same is said, asked and done, and the files are the same then."""
    other = tmp_path / "other" / project.name
    shutil.copytree(project, other)
    first, second = start(), start2(cwd=other)
    sessions = first.start(), second.start()
    for text in [*STORIES, "show me everything", "demo silence 0", "run sleep 300 & echo hi"]:
        first.prompt(sessions[0], text)
        assert second.prompt(sessions[1], text)["stopReason"] == "end_turn"
        assert second.said() == first.said(), text
    assert files(other) == files(project)
    told, asked = shown(first), shown(second)
    for client in (told, asked):  # a terminal shows what is a tool call's content in version 1
        client[0][:] = [each for each in client[0] if each != {"status": "in_progress"}]
    assert asked == told


@pytest.mark.req("V2-02", "V2-05", "V2-06", "V2-19")
@pytest.mark.parametrize(
    ("spoken", "asked", "answer"),
    [
        ("1", 2, 1), ("1", 7, 1), ("auto", 1, 1), ("auto", 2, 2), ("auto", 9, 2), ("auto", 0, 1),
        ("2", 2, 2), ("2", 3, 2), ("2", 1, None),
    ],
)  # fmt: skip
def test_the_version_is_agreed_on(
    start: Callable[..., DemoClient], spoken: str, asked: int, answer: int | None
) -> None:
    client = start("--protocol", spoken)
    assert "error" in client.new(), "not before initialize"
    params = {"protocolVersion": asked, "info": {"name": "x", "version": "1"}}
    said = client.request("initialize", params)
    if answer is None:
        assert said["error"]["code"] == -32022
        assert said["error"]["data"] == {"requested": asked, "supported": [2]}
    else:
        assert said["result"]["protocolVersion"] == answer
        assert ("agentInfo" in said["result"]) == (answer == 1)
        assert "sessionId" in client.new()["result"]


@pytest.mark.req("V2-19")
def test_a_client_has_to_say_who_it_is(start: Callable[..., DemoClient]) -> None:
    said = start("--protocol", "2").request("initialize", {"protocolVersion": 2})
    assert said["error"]["code"] == -32602


@pytest.mark.req("V2-50", "V2-51", "V2-58", "V2-61", "V2-109", "V2-112", "V2-118")
def test_a_turn_is_told_as_states_and_messages(second: Second, project: Path) -> None:
    session = second.start()
    second.answer = "allow"
    second.prompt(session, "replace hello by bye in greeting.txt")
    states = second.states()
    assert states == ["running", "requires_action", "running", "idle"]
    (message,) = second.updates("user_message")
    answers = [each["result"] for each in second.received if "messageId" in (each.get("result") or {})]
    assert [message["messageId"]] == [each["messageId"] for each in answers]
    (asked,) = second.permissions
    (item,) = asked["subject"]["toolCall"]["content"]
    path = str(project / "greeting.txt")
    assert item["changes"] == [{"operation": "modify", "path": path, "fileType": "text"}]
    assert item["patch"]["text"].startswith(
        f"diff --git {path} {path}\n--- {path}\n+++ {path}\n@@ -1,3 +1,3 @@\n"
    )
    assert "\n-hello world\n+bye world\n" in item["patch"]["text"]
    assert (project / "greeting.txt").read_text() == "# greetings\nbye world\ngoodbye world\n"


@pytest.mark.req("V2-97", "V2-98", "V2-100", "V2-103", "V2-119")
def test_a_command_has_a_terminal_of_the_agents_own(second: Second, project: Path) -> None:
    session = second.start()
    second.prompt(session, "run printf 'a\\303\\244\\nb\\n'; exit 3")
    (asked,) = second.permissions
    assert asked["subject"]["type"] == "command"
    assert asked["subject"]["cwd"] == str(project)
    first, *_, last = second.updates("terminal_update")
    assert (first["cwd"], first["capabilities"]) == (str(project), {"cancel": {}})
    assert last["exitStatus"] == {"exitCode": 3, "signal": None}
    assert second.output() == b"a\xc3\xa4\nb\n"
    assert second.updates("tool_call_update")[-1]["status"] == "failed"
    assert "ended with exit code 3. It wrote 2 lines." in second.said()


@pytest.mark.req("V2-99")
def test_output_that_comes_too_fast_is_a_snapshot(second: Second) -> None:
    session = second.start()
    second.prompt(session, "run yes | head -n 400000; echo end")
    assert any("output" in update for update in second.updates("terminal_update"))
    last = [update for update in second.updates() if "output" in update or "data" in update][-1]
    assert b64decode(last.get("data") or last["output"]["data"]).endswith(b"y\nend\n")
    assert "It wrote at least" in second.said()


@pytest.mark.req("V2-73", "V2-74")
@pytest.mark.parametrize("what", ["tool_call", "terminal"])
def test_one_command_is_ended_alone(second: Second, what: str) -> None:
    session = second.start()
    second.say(session, "run echo $$; sleep 300")
    second.until(lambda _: b"\n" in second.output())
    pid = int(second.output())
    key = {"tool_call": "toolCallId", "terminal": "terminalId"}[what]
    ident = next(update[key] for update in reversed(second.updates(f"{what}_update")) if key in update)
    params = {"sessionId": session, key: ident}
    assert second.request(f"{what}/cancel", params)["result"] == {}
    assert second.idle()["stopReason"] == "end_turn"
    assert second.updates("terminal_update")[-1]["exitStatus"]["signal"] == "SIGTERM"
    assert second.updates("tool_call_update")[-1]["status"] == "cancelled"
    assert "was ended by SIGTERM" in second.said()
    assert second.request(f"{what}/cancel", params)["error"]["code"] == -32602
    _gone([pid])


@pytest.mark.req("V2-68", "V2-70", "V2-71", "V2-75")
def test_a_cancel_ends_the_turn_and_takes_its_question_back(second: Second) -> None:
    session = second.start()
    second.answer = None
    second.say(session, "run true")
    question = second.until(lambda message: message.get("method") == "session/request_permission")
    second.send(method="session/cancel", params={"sessionId": session})
    second.send(method="session/cancel", params={"sessionId": session})
    back = second.until(lambda message: message.get("method") == "$/cancel_request")
    assert back["params"] == {"requestId": question["id"]}
    second.choose(question["id"], "cancelled")
    assert second.idle()["stopReason"] == "cancelled"
    assert second.updates("tool_call_update")[-1]["status"] == "cancelled"
    second.answer = "allow"
    assert second.prompt(session, "help")["stopReason"] == "end_turn"
    assert second.states().count("idle") == 2


def test_a_cancelled_command_ends_with_all_it_started(second: Second) -> None:
    session = second.start()
    second.say(session, "run sleep 300 & echo $$ $!; wait")
    second.until(lambda _: b"\n" in second.output())
    pids = [int(word) for word in second.output().split()]
    second.send(method="session/cancel", params={"sessionId": session})
    assert second.idle()["stopReason"] == "cancelled"
    assert second.updates("terminal_update")[-1]["exitStatus"] == {"signal": "SIGTERM"}
    _gone(pids)


@pytest.mark.parametrize("how", ["end of input", "SIGTERM"])
def test_the_agent_takes_its_commands_with_it(second: Second, project: Path, how: str) -> None:
    """Also when nobody reads what it tells."""
    session = second.start()
    wait = "until [ -e go ]; do sleep 0.05; done"
    second.say(session, f"run trap '' TERM; sleep 300 & echo $$ $!; {wait}; yes; wait")
    second.until(lambda _: b"\n" in second.output())
    pids = [int(word) for word in second.output().split()]
    (project / "go").touch()
    eventually(lambda: second.unread() >= 16 * 1024)  # the pipe is full, or soon will be
    if how == "SIGTERM":
        second.process.send_signal(signal.SIGTERM)
        assert second.process.wait(PATIENCE) == 0
    else:
        assert second.close() == 0
    _gone(pids)


@pytest.mark.req("V2-54", "V2-55", "V2-56", "V2-68")
@pytest.mark.parametrize("how", ["withdrawn", "cancelled", "closed", "taken"])
def test_a_prompt_during_a_turn_is_held(second: Second, how: str) -> None:
    session = second.start()
    second.say(session, "run echo on; sleep 300")
    second.until(lambda _: b"on" in second.output())
    held = second.say(session, "help")
    if how == "taken":
        (call,) = {update["toolCallId"] for update in second.updates("tool_call_update")}
        second.request("tool_call/cancel", {"sessionId": session, "toolCallId": call})
        assert "messageId" in second.wait(held)["result"]
        assert second.idle()["stopReason"] == "end_turn"
        assert len(second.updates("user_message")) == 2
        return
    if how == "withdrawn":
        second.send(method="$/cancel_request", params={"requestId": held})
    elif how == "cancelled":
        second.send(method="session/cancel", params={"sessionId": session})
    else:
        second.begin("session/close", {"sessionId": session})
    assert second.wait(held)["error"]["code"] == -32800
    assert len(second.updates("user_message")) == 1
    if how == "withdrawn":
        second.send(method="session/cancel", params={"sessionId": session})
    if second.states()[-1] != "idle":
        second.idle()


@pytest.mark.req("V2-48")
def test_a_prompt_needs_a_block(second: Second) -> None:
    session = second.start()
    said = second.request("session/prompt", {"sessionId": session, "prompt": []})
    assert said["error"]["code"] == -32602


@pytest.mark.req("V2-62", "V2-63", "V2-66", "V2-68", "V2-73")
@pytest.mark.parametrize("how", ["ends", "is ended", "with the session", "with the agent"])
def test_work_in_the_background(second: Second, project: Path, how: str) -> None:
    session = second.start()
    second.say(session, "run echo $$; until [ -e stop ]; do sleep 0.05; done in the background")
    idle = second.idle()
    (item,) = idle["background"]
    second.send(method="session/cancel", params={"sessionId": session})  # it goes on
    assert second.prompt(session, "help")["background"] == [item]
    if b"\n" not in second.output():
        second.until(lambda _: b"\n" in second.output())
    pid = int(second.output())
    if how == "with the agent":
        assert second.close() == 0
    elif how == "with the session":
        assert second.request("session/close", {"sessionId": session})["result"] == {}
    else:
        if how == "ends":
            (project / "stop").touch()
        else:
            second.request("tool_call/cancel", {"sessionId": session, "toolCallId": item["toolCallId"]})
        second.until_update(state="running")
        last = second.idle()
        assert (last["stopReason"], last["background"]) == ("end_turn", [])
        ends = {"ends": ("ran without errors", "completed"), "is ended": ("ended by SIGTERM", "cancelled")}
        words, status = ends[how]
        assert words in second.said().rpartition("In the background")[2]
        assert second.updates("tool_call_update")[-1]["status"] == status
    _gone([pid])


def test_work_in_the_background_needs_version_2(client: DemoClient) -> None:
    client.prompt(client.start(), "run true in the background")
    assert "Only version 2" in client.said()


@pytest.mark.req("V2-35", "V2-36", "V2-37", "V2-41", "V2-42", "V2-44", "V2-46", "V2-125")
def test_a_session_is_taken_up_in_either_version(
    start: Callable[..., DemoClient], start2: Start, project: Path, tmp_path: Path
) -> None:
    state = str(tmp_path / "state")
    one = start2("--state", state)
    capabilities = one.hello()["capabilities"]
    takes: Json = {"embeddedContext": {}, "image": {}, "audio": {}}
    assert capabilities == {"session": {"prompt": takes, "delete": {}}}
    session = one.new()["result"]["sessionId"]
    one.prompt(session, "plan: replace hello by bye in greeting.txt, then run echo hi")
    (listed,) = one.request("session/list", {"cwd": str(project)})["result"]["sessions"]
    assert listed["sessionId"] == session
    where = {"sessionId": session, "cwd": str(project)}
    assert one.request("session/close", where)["result"] == {}
    assert one.say(session, "help") and one.receive()["error"]["data"] == {"sessionId": session}

    two = start2("--state", state)
    two.hello()
    result = two.request("session/resume", {**where, "replayFrom": {"type": "start"}})["result"]
    assert {"configOptions", "availableCommands"} == set(result)
    kinds = [update["sessionUpdate"] for update in two.updates()]
    assert kinds[0] == "user_message" and kinds[-1] == "state_update"
    assert two.updates("plan_update")
    assert two.said() == one.said()
    assert two.prompt(session, "help")["stopReason"] == "end_turn"

    older = start("--state", state)
    older.hello()
    assert "result" in older.request("session/load", {**where, "mcpServers": []})
    assert older.said() == two.said()
    assert {update["sessionUpdate"] for update in older.updates()} >= {"tool_call", "plan"}
    assert not any("planId" in update or "capabilities" in update for update in older.updates())

    three = start2("--state", state)
    three.hello()
    three.request("session/resume", where)
    assert [update["sessionUpdate"] for update in three.updates()][:1] == ["state_update"]
    assert three.request("session/delete", {"sessionId": session})["result"] == {}
    assert three.request("session/list", {})["result"] == {"sessions": []}


@pytest.mark.req("V2-129", "V2-130", "V2-131", "V2-132", "V2-134", "V2-135")
def test_options_and_commands(second: Second) -> None:
    second.hello()
    new = second.new()["result"]
    session = new["sessionId"]
    assert [option["configId"] for option in new["configOptions"]] == ["mode", "thoughts", "pace"]
    assert new["configOptions"][2]["options"][0]["groupId"] == "along"
    assert {command["type"] for command in new["availableCommands"]} == {"command"}

    def set_option(ident: str, kind: str, value: object) -> Json:
        params = {"sessionId": session, "configId": ident, "type": kind, "value": value}
        return second.request("session/set_config_option", params)

    listed = set_option("thoughts", "boolean", False)["result"]["configOptions"]
    assert listed[1]["currentValue"] is False
    for wrong in [("thoughts", "id", False), ("mode", "id", "none"), ("none", "id", "x")]:
        assert set_option(*wrong)["error"]["code"] == -32602
    second.prompt(session, "go to edit mode")
    (told,) = second.updates("config_option_update")
    assert told["configOptions"][0]["currentValue"] == "edit"
    assert not second.updates("current_mode_update")


@pytest.mark.req("V2-139", "V2-140", "V2-145", "V2-147")
def test_what_else_there_is(second: Second, project: Path) -> None:
    """A form, a page, a picture, a notice and a compaction."""
    session = second.start()
    second.filled = {"action": "accept", "content": {"name": "Ada", "language": "de"}}
    second.prompt(session, "ask me something")
    assert (project / "greeting-ada.md").read_text() == "# Hallo Ada!\n"
    second.filled = {"action": "accept"}
    second.prompt(session, "open a page")
    assert [m for m in second.received if m.get("method") == "elicitation/complete"]
    second.prompt(session, "show a picture")
    kinds = {update["content"]["type"] for update in second.updates("agent_message_chunk")}
    assert kinds == {"text", "image", "resource_link"}
    second.prompt(session, "x" * 40_000)
    (notice,) = second.updates("notice")
    assert notice["severity"] == "warning"
    second.prompt(session, "compact")
    assert [each["status"] for each in second.updates("compaction_update")] == ["in_progress", "completed"]


def test_without_forms_and_pages(start2: Start) -> None:
    client = start2(offers={})
    session = client.start()
    client.prompt(session, "ask me something")
    client.prompt(session, "open a page")
    assert "this editor has none" in client.said()
    assert "opens no pages" in client.said()


@pytest.mark.req("V2-25", "V2-26", "V2-28", "V2-30", "V2-31")
def test_logging_in_and_out(start2: Start, tmp_path: Path) -> None:
    client = start2("--login", "--state", str(tmp_path / "state"))
    guest, terminal = client.hello()["authMethods"]
    assert (guest["type"], guest["methodId"]) == ("agent", "guest")
    assert (terminal["type"], terminal["methodId"], terminal["env"]) == ("terminal", "terminal", [])
    assert client.new()["error"]["code"] == -32000
    assert client.request("auth/login", {"methodId": "terminal"})["error"]["code"] == -32602
    assert client.request("auth/login", {"methodId": "guest"})["result"] == {}
    session = client.new()["result"]["sessionId"]
    assert client.prompt(session, "help")["stopReason"] == "end_turn"
    assert client.request("auth/logout", {})["result"] == {}
    assert client.wait(client.say(session, "help"))["error"]["code"] == -32000


def test_the_methods_of_version_1_are_gone(second: Second) -> None:
    session = second.start()
    for method in ("session/load", "session/set_mode", "authenticate", "logout", "session/fork"):
        assert second.request(method, {"sessionId": session})["error"]["code"] == -32601, method
