"""What the demo uses only where the client offers it: terminals, forms, pages, notices, compaction."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.demo.client import DemoClient, Json

from acp_nvim.demo.asking import page
from acp_nvim.demo.project import DemoError

Start = Callable[..., DemoClient]
FORMS: Json = {"elicitation": {"form": {}}}
PAGES: Json = {"elicitation": {"url": {}}}


@pytest.mark.parametrize(
    ("exits", "status", "said"),
    [
        ({"exitCode": 0, "signal": None}, "completed", "ran without errors. It wrote 2 lines."),
        ({"exitCode": 3}, "failed", "ended with exit code 3"),
        ({"exitCode": None, "signal": "SIGTERM"}, "failed", "was ended by SIGTERM"),
    ],
)
def test_a_command_runs_in_a_terminal(
    start: Start, project: Path, exits: Json, status: str, said: str
) -> None:
    client = start(offers={"terminal": True})
    session = client.start()
    client.exits = exits
    client.prompt(session, "run make test")
    assert [each["method"] for each in client.terminals] == ["create", "wait_for_exit", "output", "release"]
    created = client.terminals[0]
    assert (created["command"], created["args"], created["cwd"]) == (
        "/bin/sh",
        ["-c", "make test"],
        str(project),
    )
    embedded = [update for update in client.updates("tool_call_update") if "content" in update]
    assert [update["content"] for update in embedded] == [[{"type": "terminal", "terminalId": "t1"}]]
    assert client.updates("tool_call_update")[-1]["status"] == status
    assert said in client.said()


def test_a_load_shows_the_text_instead_of_a_terminal_that_is_gone(
    start: Start, project: Path, tmp_path: Path
) -> None:
    first = start("--state", str(tmp_path / "state"), offers={"terminal": True})
    session = first.start()
    first.prompt(session, "run make test")
    first.close()
    second = start("--state", str(tmp_path / "state"))
    second.hello()
    second.request("session/load", {"sessionId": session, "cwd": str(project), "mcpServers": []})
    contents = [u["content"] for u in second.updates("tool_call_update") if "content" in u]
    assert contents[-1] == [{"type": "content", "content": {"type": "text", "text": "one\ntwo\n"}}]


def test_a_cancel_gives_the_terminal_back(start: Start) -> None:
    client = start(offers={"terminal": True})
    session = client.start()
    client.exits = None
    blocks = [{"type": "text", "text": "run sleep 300"}]
    turn = client.begin("session/prompt", {"sessionId": session, "prompt": blocks})
    client.until(lambda message: message.get("method") == "terminal/wait_for_exit")
    client.send(method="session/cancel", params={"sessionId": session})
    assert client.wait(turn)["result"] == {"stopReason": "cancelled"}
    assert [each["method"] for each in client.terminals][-1] == "release"


def test_a_terminal_that_is_refused(start: Start) -> None:
    client = start(offers={"terminal": True})
    session = client.start()
    blocks = [{"type": "text", "text": "run true"}]
    client.terminals = []
    client._serve_terminal = lambda message: client.send(  # type: ignore[method-assign]
        id=message["id"], error={"code": -32603, "message": "no more terminals"}
    )
    turn = client.begin("session/prompt", {"sessionId": session, "prompt": blocks})
    assert client.wait(turn)["result"] == {"stopReason": "end_turn"}
    assert "The editor does not run `true`: no more terminals" in client.said()


def test_the_agent_ends_although_a_terminal_runs(start: Start) -> None:
    client = start(offers={"terminal": True})
    session = client.start()
    client.exits = None
    blocks = [{"type": "text", "text": "run sleep 300"}]
    client.begin("session/prompt", {"sessionId": session, "prompt": blocks})
    client.until(lambda message: message.get("method") == "terminal/wait_for_exit")
    assert client.close() == 0


ANSWERS = {
    "name": "Ada  Lovelace",
    "language": "de",
    "times": 2,
    "parts": ["poem"],
    "loud": True,
    "width": 1.5,
}


def test_a_form_becomes_a_file(start: Start, project: Path) -> None:
    client = start(offers=FORMS)
    session = client.start()
    client.filled = {"action": "accept", "content": ANSWERS}
    client.prompt(session, "ask me something")
    (asked,) = client.elicited
    assert (asked["mode"], asked["sessionId"]) == ("form", session)
    types = {field["type"] for field in asked["requestedSchema"]["properties"].values()}
    assert types == {"string", "integer", "number", "boolean", "array"}
    assert len(client.permissions) == 1
    text = (project / "greeting-ada-lovelace.md").read_text()
    assert text.startswith(
        "# HALLO ADA LOVELACE!\n\n# HALLO ADA LOVELACE!\n\n<!-- margin: 1.5 cm -->\n\n> Roses"
    )
    client.prompt(session, "ask me something")
    assert "exists already" in client.said()


@pytest.mark.parametrize(
    ("filled", "said"),
    [
        ({"action": "decline"}, "You declined, so there is no page."),
        ({"action": "cancel"}, "You gave no answer, so there is no page."),
        ({"action": "accept"}, "a form without a name"),
        ({"action": "accept", "content": {"name": "x", "language": "la"}}, "a form without a name"),
    ],
)
def test_no_answer_no_file(start: Start, project: Path, filled: Json, said: str) -> None:
    client = start(offers=FORMS)
    session = client.start()
    client.filled = filled
    assert client.prompt(session, "/ask")["result"] == {"stopReason": "end_turn"}
    assert said in client.said()
    assert not list(project.glob("greeting-*"))


@pytest.mark.parametrize(
    "values",
    [
        {"name": " ", "language": "en"},
        {"name": "x", "language": "en", "times": 99},
        {"name": "x", "language": "en", "times": "2"},
        {"name": "x", "language": "en", "parts": "poem"},
        {"name": 3, "language": "en"},
    ],
)
def test_answers_the_form_does_not_allow(values: Json) -> None:
    with pytest.raises(DemoError):
        page(values)


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "日本", "...", "a/b\\c"])
def test_a_name_never_leaves_the_folder(name: str) -> None:
    assert "/" not in page({"name": name, "language": "en"})[0]
    assert page({"name": name, "language": "en"})[0].startswith("greeting-")


@pytest.mark.parametrize(
    ("action", "completed", "said"),
    [("accept", 1, "the visit is over"), ("decline", 0, "You declined"), ("cancel", 0, "You gave no answer")],
)
def test_a_page(start: Start, action: str, completed: int, said: str) -> None:
    client = start(offers=PAGES)
    session = client.start()
    client.filled = {"action": action}
    client.prompt(session, "open a page")
    (asked,) = client.elicited
    assert (asked["mode"], asked["url"]) == ("url", "https://agentclientprotocol.com")
    over = [m["params"] for m in client.received if m.get("method") == "elicitation/complete"]
    assert over == [{"elicitationId": asked["elicitationId"]}] * completed
    assert said in client.said()


@pytest.mark.parametrize(
    ("text", "said"), [("ask me something", "has none"), ("open a page", "opens no pages")]
)
def test_without_elicitation_it_says_so(client: DemoClient, text: str, said: str) -> None:
    client.prompt(client.start(), text)
    assert said in client.said()
    assert client.elicited == []


def blocks(client: DemoClient, kind: str) -> list[Json]:
    chunks = client.updates("agent_message_chunk")
    return [chunk["content"] for chunk in chunks if chunk["content"]["type"] == kind]


def test_a_picture_and_a_link(client: DemoClient, project: Path) -> None:
    client.prompt(client.start(), "show a picture")
    (image,) = blocks(client, "image")
    data = base64.b64decode(image["data"], validate=True)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    at, found = 8, {}
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        found[kind], at = body, at + 12 + size
    assert len(zlib.decompress(found[b"IDAT"])) == height * (1 + 3 * width)
    (link,) = blocks(client, "resource_link")
    assert link["uri"] == (project / "greeting.txt").as_uri()
    assert link["size"] == (project / "greeting.txt").stat().st_size
    messages = {chunk["messageId"] for chunk in client.updates("agent_message_chunk")}
    assert len(messages) == 1


@pytest.mark.parametrize("noticed", [True, False])
def test_a_full_context_is_noticed_once_and_compacted(start: Start, noticed: bool) -> None:
    session_offers: Json = {"notices": {}, "compaction": {}} if noticed else {}
    client = start(offers={"session": session_offers})
    session = client.start()
    client.prompt(session, "x" * 30_000)
    client.prompt(session, "list files")
    assert len(client.updates("notice")) == (1 if noticed else 0)
    client.prompt(session, "/compact")
    assert client.updates("usage_update")[-1]["used"] < 100
    compaction = client.updates("compaction_update")
    assert [update["status"] for update in compaction] == (["in_progress", "completed"] if noticed else [])
    summary: Any = compaction[-1]["summary"][0]["text"] if noticed else client.said()
    assert "- list files" in summary
    client.prompt(session, "x" * 30_000)
    assert len(client.updates("notice")) == (2 if noticed else 0)


def test_a_title_of_the_users_own(client: DemoClient) -> None:
    session = client.start()
    client.prompt(session, "list files")
    client.prompt(session, "/name leap  years")
    assert [update["title"] for update in client.updates("session_info_update")] == [
        "list files",
        "leap years",
    ]
