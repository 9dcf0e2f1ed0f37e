"""Options and modes of the demo: told, set, changed by itself, and honoured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.demo.client import DemoClient, Json

Start = Callable[..., DemoClient]

BOOLEANS: Json = {"session": {"configOptions": {"boolean": {}}}}
EDIT = "replace hello by bye in greeting.txt"


def settings(options: list[Json]) -> dict[str, Any]:
    return {option["id"]: option["currentValue"] for option in options}


def choose(client: DemoClient, session: str, ident: str, value: Any) -> Json:
    params = {"sessionId": session, "configId": ident, "value": value}
    return client.request("session/set_config_option", params)


@pytest.mark.parametrize(
    ("offers", "wanted"),
    [
        ({}, ["mode", "pace"]),
        ({"session": {"configOptions": None}}, ["mode", "pace"]),
        ({"session": "nonsense"}, ["mode", "pace"]),
        (BOOLEANS, ["mode", "thoughts", "pace"]),
    ],
)
def test_a_new_session_has_options_and_modes(start: Start, offers: Json, wanted: list[str]) -> None:
    client = start(offers=offers)
    client.hello()
    result = client.new()["result"]
    assert [option["id"] for option in result["configOptions"]] == wanted
    assert result["modes"]["currentModeId"] == "ask"
    assert [mode["id"] for mode in result["modes"]["availableModes"]] == ["ask", "edit", "read"]
    groups = next(option for option in result["configOptions"] if option["id"] == "pace")["options"]
    assert [choice["value"] for group in groups for choice in group["options"]] == [
        *("slow", "normal", "fast", "now"),
    ]


def test_an_option_is_set_and_all_are_told(start: Start) -> None:
    client = start(offers=BOOLEANS)
    session = client.start()
    answer = choose(client, session, "pace", "fast")["result"]
    assert settings(answer["configOptions"]) == {"mode": "ask", "thoughts": True, "pace": "fast"}
    params = {"sessionId": session, "configId": "thoughts", "type": "boolean", "value": False}
    answer = client.request("session/set_config_option", params)["result"]
    assert settings(answer["configOptions"])["thoughts"] is False
    client.prompt(session, EDIT)
    assert client.updates("agent_thought_chunk") == []
    assert client.said()


@pytest.mark.parametrize(
    ("ident", "value"),
    [("mode", "fly"), ("pace", 3), ("thoughts", "on"), ("model", "x"), (None, None), ("mode", ["ask"])],
)
def test_what_is_not_offered_is_refused(start: Start, ident: Any, value: Any) -> None:
    client = start(offers=BOOLEANS)
    session = client.start()
    assert choose(client, session, ident, value)["error"]["code"] == -32602
    assert choose(client, "demo-99", "mode", "ask")["error"]["code"] == -32002
    assert (
        client.request("session/set_mode", {"sessionId": session, "modeId": "x"})["error"]["code"] == -32602
    )


def test_a_mode_is_told_both_ways_whoever_sets_it(client: DemoClient) -> None:
    session = client.start()
    assert client.request("session/set_mode", {"sessionId": session, "modeId": "read"})["result"] == {}
    client.until(lambda message: bool(client.updates("current_mode_update")))
    assert settings(client.updates("config_option_update")[-1]["configOptions"])["mode"] == "read"
    assert client.updates("current_mode_update")[-1]["currentModeId"] == "read"
    choose(client, session, "mode", "edit")
    client.prompt(session, "go to ask mode")
    modes = [update["currentModeId"] for update in client.updates("current_mode_update")]
    assert modes == ["read", "edit", "ask"]
    assert settings(client.updates("config_option_update")[-1]["configOptions"])["mode"] == "ask"
    client.prompt(session, "go to ask mode")
    assert "already" in client.said()
    assert len(client.updates("config_option_update")) == 2


def test_edit_at_once_asks_for_all_but_edits(client: DemoClient, project: Path) -> None:
    session = client.start()
    choose(client, session, "mode", "edit")
    client.prompt(session, EDIT)
    client.prompt(session, "create new.txt with x")
    assert client.permissions == []
    assert "bye" in (project / "greeting.txt").read_text()
    client.prompt(session, "delete new.txt")
    client.prompt(session, "run true")
    assert len(client.permissions) == 2
    choose(client, session, "mode", "ask")
    client.prompt(session, "replace bye by hello in greeting.txt")
    assert len(client.permissions) == 3


CHANGES = [
    EDIT,
    "replace hello by bye in all files at once",
    "create made.txt with x",
    "delete greeting.txt",
    "move greeting.txt to made.txt",
    "run touch made.txt",
    "demo output 1",
]


@pytest.mark.parametrize("text", CHANGES)
@pytest.mark.parametrize("answer", ["stay", "cancelled"])
def test_read_only_changes_nothing(client: DemoClient, project: Path, text: str, answer: str) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    session = client.start()
    choose(client, session, "mode", "read")
    client.answer = answer
    client.prompt(session, text)
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    (question,) = client.permissions
    assert question["toolCall"]["kind"] == "switch_mode"
    assert client.updates("tool_call_update")[-1]["status"] == "failed"
    assert "I only read" in client.said()
    client.prompt(session, "list files")
    assert len(client.permissions) == 1, "reading is not asked for"


@pytest.mark.parametrize(("answer", "questions"), [("ask", 2), ("edit", 1)])
def test_read_only_is_left_by_an_answer(
    client: DemoClient, project: Path, answer: str, questions: int
) -> None:
    session = client.start()
    choose(client, session, "mode", "read")
    client.answer = None

    def reply(message: Json) -> None:
        if message.get("method") == "session/request_permission":
            switch = message["params"]["toolCall"]["kind"] == "switch_mode"
            client.choose(message["id"], answer if switch else "allow")

    client.on_message = reply
    client.prompt(session, EDIT)
    assert len(client.permissions) == questions
    assert "Edit greeting.txt" in client.permissions[0]["toolCall"]["content"][0]["content"]["text"]
    assert "bye" in (project / "greeting.txt").read_text()
    assert client.updates("current_mode_update")[-1]["currentModeId"] == answer


def test_the_settings_are_remembered(start: Start, project: Path, tmp_path: Path) -> None:
    first = start("--state", str(tmp_path / "state"))
    session = first.start()
    choose(first, session, "mode", "edit")
    choose(first, session, "pace", "slow")
    first.close()
    second = start("--state", str(tmp_path / "state"), offers=BOOLEANS)
    second.hello()
    params = {"sessionId": session, "cwd": str(project), "mcpServers": []}
    result = second.request("session/resume", params)["result"]
    assert settings(result["configOptions"]) == {"mode": "edit", "thoughts": True, "pace": "slow"}
    assert result["modes"]["currentModeId"] == "edit"
