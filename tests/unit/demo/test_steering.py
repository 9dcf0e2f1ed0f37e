"""What is said during a turn of the demo agent is done in that turn."""

from __future__ import annotations

from tests.unit.demo.client import DemoClient, Json


def steer(client: DemoClient, session: str, text: str) -> Json:
    blocks = [{"type": "text", "text": text}]
    found: Json = client.request("_session/steering", {"sessionId": session, "prompt": blocks})["result"]
    return found


def test_it_is_done_after_what_is_under_way(client: DemoClient) -> None:
    assert client.hello()["_meta"] == {"steering": {"supported": True}}
    session = str(client.new()["result"]["sessionId"])
    blocks = [{"type": "text", "text": "run echo hi"}]
    client.answer = None
    turn = client.begin("session/prompt", {"sessionId": session, "prompt": blocks})
    question = client.until(lambda message: message.get("method") == "session/request_permission")
    assert steer(client, session, "show greeting.txt") == {"outcome": "injected"}
    assert steer(client, session, "nonsense") == {"outcome": "injected"}
    client.choose(question["id"], "allow")
    assert client.wait(turn)["result"] == {"stopReason": "end_turn"}
    said = client.said()
    first, second = said.index("Now to what you added: “show greeting.txt”"), said.index("“nonsense”")
    assert said.index("It wrote") < first < second
    assert "read in_progress" in client.story()


def test_without_a_turn_it_is_to_be_an_ordinary_prompt(client: DemoClient) -> None:
    session = client.start()
    refused = {"outcome": "promptRequired", "reason": "noRunningTurn"}
    assert steer(client, session, "help") == refused
    client.prompt(session, "help")
    assert steer(client, session, "help") == refused
    assert "added" not in client.said()
