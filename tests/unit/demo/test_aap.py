"""The demo agent over HTTP, asked by the client's own adapter."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.agents.aap_server import AapServer
from tests.unit.protocol.aap.bench import Bench

import acp_nvim

pytestmark = pytest.mark.anyio

COMMAND = [sys.executable, "-m", "acp_nvim.demo", "--speed", "0", "--aap"]
ENVIRONMENT = {"PYTHONPATH": str(Path(acp_nvim.__file__).parents[1])}


class Demo(AapServer):
    """What the bench needs to know of a server."""

    def __init__(self, url: str) -> None:
        self.url = url


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of a demo that runs in a small project."""
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "b.txt").write_text("two\n")
    with subprocess.Popen(
        [*COMMAND, "0"], cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield re.findall(r"http://[\d.:]+", process.stdout.readline())[0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Bench]:
    bench = Bench(Demo(url))
    await bench.open()
    yield bench
    await bench.http.close()


async def test_a_tool_is_asked_about_and_its_result_shown(url: str) -> None:
    async with opened(url) as bench:
        async with bench.turn("list"):
            await bench.asked()
            assert bench.questions.asked[0].description == "Lists the files of the server's folder."
            bench.questions.answer("q1", "allow")
        (call,) = bench.session.tool_calls.values()
        assert bench.texts(call.id) == "a.txt\nb.txt"
        assert bench.timeline[-2:] == [
            "agent: Here it is:\n\n```\na.txt\nb.txt\n```\n",
            "end: end_turn",
        ]


async def test_always_and_the_other_tools(url: str) -> None:
    async with opened(url) as bench:
        for option in bench.session.options:
            if option.category == "tool":
                await bench.adapter.set_option(bench.session, option, "trust")
        await bench.prompt("show lines 2-3 of a.txt")
        await bench.prompt("search for two")
        await bench.prompt("show c.txt")
        assert bench.questions.asked == []
        assert [bench.texts(row) for row in bench.session.tool_calls] == [
            "two\nthree",
            "a.txt:2: two\nb.txt:1: two",
            "There is no file `c.txt`. Did you mean `b.txt`?",
        ]


async def test_a_reason_options_and_what_it_does_not_understand(url: str) -> None:
    async with opened(url) as bench:
        name = next(option for option in bench.session.options if option.id == "name")
        await bench.adapter.set_option(bench.session, name, "Ada")
        async with bench.turn("list"):
            await bench.asked()
            bench.questions.answer("q1", "reason")
            await bench.asked()
            bench.questions.answer("q2", "accept", {"reason": "not now"})
        assert "agent: Then I leave it because “not now”." in bench.timeline
        await bench.prompt("sing")
        assert any(line.startswith("agent: Ada: I am the demo agent over HTTP.") for line in bench.timeline)
        off = next(option for option in bench.session.options if option.id == "tool:list_files")
        await bench.adapter.set_option(bench.session, off, "off")
        await bench.prompt("list")
        assert "agent: My tool `list_files` is off; `:AcpOptions` turns it on." in bench.timeline


async def test_its_sessions(url: str) -> None:
    async with opened(url) as bench:
        async with bench.turn("list"):
            await bench.asked()
            await bench.adapter.cancel(bench.session)
        (entry,) = (await bench.adapter.list_sessions()).sessions
        bench.session = bench.new_session("again")
        await bench.adapter.load_session(bench.session, entry.id)
        assert bench.session.waits
        async with bench.turn(""):
            await bench.asked()
            bench.questions.answer("q2", "reject")
        assert "agent: Then I leave it." in bench.timeline
        await bench.adapter.delete_session(entry.id)
        assert (await bench.adapter.list_sessions()).sessions == ()


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nothing", None, 404),
        ("GET", "/sessions/x", None, 404),
        ("POST", "/sessions", b"{", 400),
        ("POST", "/sessions", b"[]", 400),
        ("PUT", "/meta", None, 404),
    ],
)
async def test_what_is_not_aap(url: str, method: str, path: str, body: bytes | None, status: int) -> None:
    async with opened(url) as bench:
        assert (await bench.http.request(method, path, body=body)).status == status


async def test_another_name_for_this_machine_is_refused(url: str) -> None:
    from acp_nvim.transport.http import Http

    http = Http(url, {"Host": "evil.example:80"}, loopback=True)
    assert (await http.request("GET", "/meta")).status == 403
    await http.close()


def test_a_port_that_is_taken(url: str) -> None:
    port = url.rsplit(":", 1)[1]
    done = subprocess.run([*COMMAND, port], env=ENVIRONMENT, capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert "address already in use" in done.stderr
