"""The scripted model answers as the real services do, as far as agents look."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fake_llm import FakeLlm
from tests.agents.fake_llm.scenario import Turn, locate, pieces
from tests.agents.fake_llm.tools import ScenarioError, resolve, smallest

Json = dict[str, Any]

SCENARIOS = Path(__file__).resolve().parents[2] / "agents/scenarios"
EDIT_SCHEMA: Json = {
    "properties": {"file_path": {}, "old_string": {}, "new_string": {}, "instruction": {}, "count": {}},
    "required": ["file_path", "count"],
}


@pytest.fixture
def llm() -> Iterator[FakeLlm]:
    with FakeLlm(SCENARIOS, Path("/ws")) as server:
        yield server


def post(url: str, body: Json) -> str:
    """The body of the answer; ``urlopen`` raises HTTPError for refusals."""
    request = urllib.request.Request(url, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=15) as response:
        return str(response.read().decode())


def events(text: str) -> list[Json]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
    return [json.loads(line) for line in lines]


def test_openai_plays_the_step_that_the_history_has_reached(llm: FakeLlm) -> None:
    parameters = {"properties": {"filePath": {"type": "string"}}, "required": ["filePath"]}
    tools = [{"type": "function", "function": {"name": "read", "parameters": parameters}}]
    messages: list[Json] = [{"role": "user", "content": [{"type": "text", "text": "please [[edit]]"}]}]
    url = f"{llm.url}/v1/chat/completions"
    found = events(post(url, {"stream": True, "tools": tools, "messages": messages}))
    deltas = [event["choices"][0]["delta"] for event in found]
    assert "".join(delta.get("reasoning_content", "") for delta in deltas).startswith("**Looking first**")
    spelled = "".join(
        call["function"]["arguments"] for delta in deltas for call in delta.get("tool_calls", [])
    )
    assert json.loads(spelled) == {"filePath": "/ws/greeting.txt"}
    messages += [{"role": "assistant", "content": "x"}, {"role": "tool", "content": "y"}] * 2
    whole = json.loads(post(url, {"tools": tools, "messages": messages}))
    assert whole["choices"][0]["message"]["content"].startswith("Done: ")


def test_responses_play_the_step_that_the_history_has_reached(llm: FakeLlm) -> None:
    tools = [{"type": "function", "name": "exec_command"}, {"type": "custom", "name": "apply_patch"}]
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "[[edit]]"}]}
    url, given = f"{llm.url}/v1/responses", [asked]
    wanted = ("cat greeting.txt", "*** Update File: greeting.txt\n@@\n-hello world\n+hello ACP\n", "Done: ")
    for step in wanted:
        done = events(post(url, {"stream": True, "tools": tools, "input": given}))[-1]
        assert done["type"] == "response.completed"
        items = done["response"]["output"]
        assert step in json.dumps(items[-1]).replace("\\n", "\n")
        given += [*items, {"type": f"{items[-1]['type']}_output", "output": "ok"}]


def test_gemini_streams_thoughts_text_and_calls(llm: FakeLlm) -> None:
    function = {"name": "replace", "parametersJsonSchema": EDIT_SCHEMA}
    contents: list[Json] = [{"role": "user", "parts": [{"text": "[[edit]]"}]}, {"role": "model", "parts": []}]
    contents.append({"role": "user", "parts": [{"functionResponse": {}}]})
    body = {"tools": [{"functionDeclarations": [function]}], "contents": contents}
    found = events(post(f"{llm.url}/v1beta/models/m:streamGenerateContent?alt=sse", body))
    call = found[-1]["candidates"][0]["content"]["parts"][0]["functionCall"]
    assert call["name"] == "replace"
    assert call["args"]["old_string"] == "hello world"
    assert found[-1]["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/nothing", "/v1beta/models/m:generateContent"])
def test_requests_beside_the_main_loop_get_harmless_answers(llm: FakeLlm, path: str) -> None:
    if path == "/nothing":
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(llm.url + path, {})
        assert refused.value.code == 404
        refused.value.close()
    else:
        assert "Scripted test" in post(llm.url + path, {})


def test_locate_counts_answers_of_the_model_after_the_last_marker() -> None:
    turns = [
        Turn("user", "[[a]]"),
        Turn("model", ""),
        Turn("user", "[[b]]"),
        Turn("model", ""),
        Turn("model", ""),
    ]
    assert locate(turns) == ("b", 1)
    assert locate([*turns, Turn("tool", ""), Turn("model", "")]) == ("b", 2)
    assert locate([Turn("user", "hi")]) == (None, 0)


def test_calls_are_spelled_by_the_schema() -> None:
    call = {"tool": "edit", "path": "a/../b.txt", "old": "x", "new": "y"}
    found = resolve(call, {"replace": EDIT_SCHEMA}, "/ws")
    assert found is not None
    assert found[1] == {
        "file_path": "/ws/b.txt",
        "old_string": "x",
        "new_string": "y",
        "instruction": "scripted by the fake model",
        "count": "none",
    }
    assert resolve(call, {"other": {}}, "/ws") is None
    with pytest.raises(ScenarioError):
        resolve({"tool": "nonsense"}, {}, "/ws")


def test_smallest_values_satisfy_their_schema() -> None:
    schema: Json = {
        "$defs": {"who": {"enum": ["model", "user"]}},
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/who"},
            "b": {"type": "array", "minItems": 1},
            "c": {"const": 3},
        },
    }
    assert smallest(schema) == {"a": "user", "b": ["none"], "c": 3}
    assert pieces(["a", {"repeat": "{i} ", "count": 2}]) == ["a", "1 ", "2 "]
