"""Reading recordings: traces, plain logs, and what is neither: one message that names the line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.replay import recording as module
from acp_nvim.replay.__main__ import main
from acp_nvim.replay.acts import prompt_text, typed
from acp_nvim.replay.recording import RecordingError, read

HEAD = {"acp.nvim": "0.1.0", "trace": 1, "agent": "claude"}


def line(direction: str, msg: Any = None, t: float = 0, **more: Any) -> dict[str, Any]:
    return {"t": t, "dir": direction, "connection": 1, **({"msg": msg} if msg is not None else {}), **more}


def write(folder: Path, *lines: Any) -> Path:
    path = folder / "report.jsonl"
    texts = [each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in lines]
    path.write_bytes(b"".join(texts))
    return path


GOOD = line("out", {"id": 0, "method": "initialize"})


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "there are no messages in it"),
        ([HEAD], "there are no messages in it"),
        (
            [HEAD, GOOD, b'{"t": 1, "dir": "in", "msg": {"id"'],
            "line 3: this is no JSON, the file may have been cut",
        ),
        ([HEAD, b"nonsense\n", GOOD], "line 2: this is no JSON"),
        ([HEAD, b"[" * 100_000 + b"\n", GOOD], "line 2: this is no JSON"),
        ([HEAD, [1]], "line 2: this is no JSON object"),
        ([b"\xff\xfe\n"], "line 1: this is no JSON"),
        ([{"name": "package"}], "line 1: this is no trace: :w file.jsonl in :AcpTrace writes one"),
        ([{"trace": 2}, GOOD], "line 1: written by a newer acp.nvim (format 2)"),
        ([{"trace": "x"}, GOOD], "line 1: this is no trace of acp.nvim"),
        ([HEAD, {**GOOD, "t": "x"}], "line 2: “t” is no time"),
        ([HEAD, {**GOOD, "t": float("nan")}], "line 2: “t” is no time"),
        ([HEAD, {**GOOD, "dir": "up"}], "line 2: “dir” is none of in, out, note"),
        ([HEAD, {**GOOD, "msg": "x"}], "line 2: “msg” is no message"),
        ([HEAD, {**GOOD, "connection": "x"}], "line 2: this is no line of a trace"),
    ],
)
def test_what_is_broken_is_named_with_its_line(tmp_path: Path, lines: list[Any], said: str) -> None:
    with pytest.raises(RecordingError) as raised:
        read(write(tmp_path, *lines))
    assert said in str(raised.value)


def test_a_file_that_is_not_there_and_lines_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RecordingError, match="No such file"):
        read(tmp_path / "none")
    monkeypatch.setattr(module, "MOST_LINE", 1000)
    with pytest.raises(RecordingError, match="line 2: too long"):
        read(write(tmp_path, HEAD, line("in", {"x": "y" * 2000})))


def test_the_program_says_it_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, HEAD, b"{\n")
    monkeypatch.setattr("sys.argv", ["replay", str(path), "--headless", "-"])
    assert main() == 2
    assert capsys.readouterr().err == f"replay: {path}, line 2: this is no JSON\n"


def test_lives_of_an_agent_and_a_log_in(tmp_path: Path) -> None:
    lines = [
        line("out", {"id": 0, "method": "initialize"}),
        line("in", {"id": 0, "result": {"protocolVersion": 1}}),
        line("out", {"id": 1, "method": "session/new", "params": {"cwd": "~/app"}}, 1000),
        line("in", {"id": 1, "error": {"code": -32000}}, 1500),
        line("out", {"id": 2, "method": "authenticate", "params": {"methodId": "m"}}),
        line("in", {"id": 2, "result": {}}),
        line("out", {"id": 3, "method": "session/new", "params": {"cwd": "~/app"}}),
        line("in", {"id": 3, "result": {"sessionId": "s"}}),
        line("note", note="the agent ended"),
        line("out", {"id": 0, "method": "initialize"}),
        line("in", cut="{", size=9),
    ]
    found = read(write(tmp_path, HEAD, *lines))
    assert (found.agent, found.protocol, found.cwd, found.cut, found.others) == (
        "claude",
        "acp-v1",
        "~/app",
        1,
        0,
    )
    assert [entry.at for entry in found.entries][2:4] == [1.0, 1.5]
    (life,) = found.lives()
    assert [entry.method or entry.ident for entry in life if entry.message] == [
        "initialize", "0", "authenticate", "2", "session/new", "3",
    ]  # fmt: skip


def test_the_connection_with_most_prompts_or_the_one_that_is_named(tmp_path: Path) -> None:
    prompt = {"id": 1, "method": "session/prompt", "params": {}}
    path = write(tmp_path, HEAD, GOOD, {**line("out", prompt), "connection": 2}, {**GOOD, "connection": 2})
    assert {entry.connection for entry in read(path).entries} == {2}
    assert read(path).others == 1
    assert {entry.connection for entry in read(path, 1).entries} == {1}
    with pytest.raises(RecordingError, match="no connection 3, only 1, 2"):
        read(path, 3)


def test_a_plain_log_and_arrays_of_messages(tmp_path: Path) -> None:
    found = read(
        write(
            tmp_path,
            {"t": 0.5, "dir": "send", "msg": {"id": 0, "method": "initialize"}},
            {"t": 1.5, "dir": "recv", "msg": [{"id": 0, "result": {"protocolVersion": 2}}, {"method": "x"}]},
            {"t": 2, "dir": "stderr", "text": "x"},
        )
    )
    assert found.protocol == "acp-v2"
    assert [(entry.at, entry.direction) for entry in found.entries] == [
        (0.5, "out"), (1.5, "in"), (1.5, "in"), (2.0, "note"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ("hello", "hello"),
        (
            [
                {"type": "text", "text": "a"},
                {"type": "resource_link", "name": "b.py", "uri": "file:///b.py"},
            ],
            "a @b.py",
        ),
        ([{"type": "resource", "resource": {"uri": "file:///x/c.py"}}], "@c.py"),
        ([{"type": "resource_link", "uri": "file:///ws/a%20b/c.py", "name": "c.py"}], "@a b/c.py"),
        ([{"type": "image", "data": "x"}], "(a prompt without text)"),
        (None, "(a prompt without text)"),
    ],
)
def test_prompts_as_they_were_written(blocks: Any, text: str) -> None:
    assert prompt_text(blocks, "/ws") == text


def test_forms_are_filled_in_as_they_were() -> None:
    fields = {
        "name": {"type": "string"},
        "language": {"type": "string", "oneOf": [{"const": "en"}, {"const": "de"}]},
        "size": {"type": "string", "enum": ["s", "m"]},
        "parts": {"type": "array", "items": {"anyOf": [{"const": "a"}, {"const": "b"}]}},
        "times": {"type": "integer"},
        "width": {"type": "number"},
        "loud": {"type": "boolean"},
    }
    content = {
        "name": "Bob",
        "language": "de",
        "size": "m",
        "parts": ["b", "x"],
        "times": 2,
        "width": 0.5,
        "loud": True,
    }
    assert typed({"requestedSchema": {"properties": fields}}, content) == {
        "name": "Bob", "language": 2, "size": 2, "parts": [2], "times": "2", "width": "0.5", "loud": True,
    }  # fmt: skip
    assert typed({}, content) == typed({"requestedSchema": {"properties": fields}}, None) == {}
