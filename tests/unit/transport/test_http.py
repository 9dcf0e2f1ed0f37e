"""HTTP against a server on loopback: what is sent, what comes back, and what may go wrong."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from tests.agents.aap_faults import answers, breaks, hangs
from tests.agents.aap_script import Hold, text
from tests.agents.aap_server import AapServer
from tests.agents.aap_tls import self_signed
from tests.plugin import eventually

from acp_nvim.transport import http
from acp_nvim.transport.errors import HttpFailedError
from acp_nvim.transport.http import Http

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Iterator[AapServer]:
    with AapServer() as started:
        yield started


def client(server: AapServer, **headers: str) -> Http:
    return Http(server.url, headers, loopback=True)


async def failure(http: Http, method: str = "GET", path: str = "/meta") -> HttpFailedError:
    with pytest.raises(HttpFailedError) as raised:
        await http.request(method, path)
    return raised.value


@pytest.mark.req("AAP-05")
async def test_a_request_and_its_answer(server: AapServer) -> None:
    http = client(server, Authorization="Bearer k")
    server.fail("POST sessions", answers(201, b'{"a":1}', x_more="1"))
    answer = await http.request("POST", "/sessions", body=b"{}")
    assert (answer.status, answer.body, answer.headers["x-more"]) == (201, b'{"a":1}', "1")
    assert answer.content_type == "application/json"
    (seen,) = server.requests
    assert seen.headers["authorization"] == "Bearer k"
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["accept"] == "application/json"
    await http.close()


async def test_a_query(server: AapServer) -> None:
    http = client(server)
    server.fail("GET sessions", answers(200, b"{}"))
    await http.request("GET", "/sessions", query={"after": "a b&c=ü"})
    assert server.requests[0].query == {"after": "a b&c=ü"}
    await http.close()


async def test_an_answer_is_read_as_it_comes(server: AapServer) -> None:
    http = client(server)
    server.script = [[text("one"), Hold(), text("two")]]
    await http.request("POST", "/sessions", body=b'{"agent": {"name": "helper"}}')
    body = b'{"messages": [{"role": "user", "content": "x"}], "stream": "delta"}'
    path = "/sessions/s%2F1%20%C3%A9/turns"
    async with http.stream("POST", path, body=body, accept="text/event-stream") as streamed:
        assert streamed.answer.content_type == "text/event-stream"
        got = b""
        async for piece in streamed.pieces():
            got += piece
            if b"one" in got and b"two" not in got:
                server.go_on()
    assert b"two" in got
    assert server.requests[-1].headers["accept"] == "text/event-stream"
    await http.close()


@pytest.mark.req("AAP-38")
async def test_leaving_closes_the_connection(server: AapServer) -> None:
    http = client(server)
    server.fail("GET meta", hangs())
    with anyio.move_on_after(0.2):
        await http.request("GET", "/meta")
    await anyio.to_thread.run_sync(lambda: eventually(lambda: server.dropped == 1))
    await http.close()


@pytest.mark.req("AAP-04")
async def test_no_redirect_is_followed(server: AapServer) -> None:
    http = client(server, Authorization="Bearer k")
    server.fail("GET meta", answers(307, location=server.url + "/sessions"))
    assert (await http.request("GET", "/meta")).status == 307
    assert len(server.requests) == 1
    await http.close()


async def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    http = Http(f"http://127.0.0.1:{port}", {}, loopback=True)
    error = await failure(http)
    assert (error.cause, str(error)) == ("refused", "nothing listens there")
    await http.close()


async def test_no_such_host(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nowhere(*_args: object, **_kwargs: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", nowhere)
    http = Http("https://nowhere.invalid", {}, loopback=True)
    assert (await failure(http)).cause == "name"
    await http.close()


async def test_no_connection_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "CONNECT_TIMEOUT", 0.1)
    with socket.socket() as full:  # a connection waits for ever when the queue of the listener is full
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        slow = Http(f"http://127.0.0.1:{port}", {}, loopback=True)
        error = await failure(slow)
        for filler in fillers:
            filler.close()
    assert (error.cause, str(error)) == ("timeout", "no connection within 0.1 s")
    await slow.close()


@pytest.mark.req("AAP-37")
async def test_a_silent_answer_is_waited_for_only_where_that_is_wanted(
    server: AapServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "READ_TIMEOUT", 0.1)
    quick = client(server)
    server.fail("GET meta", hangs(), hangs())
    error = await failure(quick)
    assert (error.cause, str(error)) == ("timeout", "nothing came for 0.1 s")
    with anyio.move_on_after(0.5) as scope:
        async with quick.stream("GET", "/meta"):
            pytest.fail("nothing came")
    assert scope.cancelled_caught
    await quick.close()


@pytest.mark.parametrize("after", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12", b"HTTP/1.1 20"])
async def test_it_breaks_off(server: AapServer, after: bytes) -> None:
    http = client(server)
    server.fail("GET meta", breaks(after))
    assert (await failure(http)).cause == "cut"
    await http.close()


async def test_an_answer_is_bounded(server: AapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    http = client(server)
    server.fail("GET meta", answers(200, b"x" * 3000), answers(500, b"x" * 100_000, "text/plain"))
    async with http.stream("GET", "/meta") as streamed:
        with pytest.raises(HttpFailedError, match="longer than 2,000 bytes"):
            await streamed.rest(2000)
    assert len((await http.request("GET", "/meta")).body) == 64 * 1024  # of an error, the beginning is enough
    await http.close()


async def test_no_proxy_to_this_machine(server: AapServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    http = client(server)
    assert (await http.request("GET", "/meta")).status == 200
    await http.close()


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    return self_signed(tmp_path)


@pytest.mark.req("AAP-78")
async def test_a_certificate_nobody_vouches_for(
    certificate: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    with AapServer(tls=certificate[1]) as server:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        http = client(server)
        error = await failure(http)
        assert error.cause == "tls"
        assert str(error).startswith("its certificate is not accepted: ")
        await http.close()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        http = client(server)
        assert (await http.request("GET", "/meta")).status == 200
        await http.close()


async def test_what_is_no_http(server: AapServer) -> None:
    http = client(server)
    server.fail("GET meta", breaks(b"SSH-2.0-OpenSSH_9\r\n"))
    assert (await failure(http)).cause in ("cut", "other")
    await http.close()


@pytest.mark.parametrize("base", ["http://ho..st", "http://" + "a" * 300, "http://127.0.0.1:x"])
async def test_an_address_that_is_none(base: str) -> None:
    http = Http(base, {}, loopback=True)
    with pytest.raises(HttpFailedError):
        await http.request("GET", "/meta")
    await http.close()
