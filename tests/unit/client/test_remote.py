"""An agent over HTTP: which addresses are used, and what it says without what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import acp_nvim
from acp_nvim.client.remote import address
from acp_nvim.session.ports import AgentError

ROOT = str(Path(acp_nvim.__file__).parents[1])

WITHOUT = """
import sys
sys.path.insert(0, sys.argv[1])
sys.modules["httpx2"] = None  # as where it is not installed
import anyio
from acp_nvim.client.connection import Connection
from acp_nvim.client.payloads import AgentConfig
from acp_nvim.client.secrets import Secrets
from acp_nvim.session.ports import AgentError
from types import SimpleNamespace

async def main():
    async with anyio.create_task_group() as group:
        services = SimpleNamespace(clock=lambda: 0.0, secrets=Secrets(), spawn=group.start_soon)
        config = AgentConfig(protocol="aap", url="http://127.0.0.1:9")
        try:
            await Connection("x", "/", config, False, services).ready()
        except AgentError as error:
            print(error.failure.message)
            print(error.failure.remedy)
anyio.run(main)
"""

NEVER = """
import sys
sys.path.insert(0, sys.argv[1])
import acp_nvim.host
print([name for name in sys.modules if name.startswith(("httpx2", "httpcore2", "h11", "truststore"))])
"""


def run(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code, ROOT], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_without_httpx2_the_remedy_is_named() -> None:
    message, remedy = run(WITHOUT)
    assert message.startswith("agents over HTTP need the Python package httpx2")
    assert remedy.startswith(":AcpInstall installs it, or you do for ")


def test_nothing_of_http_is_loaded_before_it_is_needed() -> None:
    assert run(NEVER) == ["[]"]


@pytest.mark.req("AAP-01", "AAP-78")
@pytest.mark.parametrize(
    ("url", "base", "loopback"),
    [
        ("https://agent.example/v1/", "https://agent.example/v1", False),
        (" https://agent.example ", "https://agent.example", False),
        ("http://127.0.0.1:8080/a/b//", "http://127.0.0.1:8080/a/b", True),
        ("http://127.1.2.3", "http://127.1.2.3", True),
        ("http://localhost:1/v1", "http://localhost:1/v1", True),
        ("http://LOCALHOST/v1", "http://LOCALHOST/v1", True),
        ("http://[::1]:8080", "http://[::1]:8080", True),
        ("https://127.example.org", "https://127.example.org", False),
    ],
)
def test_addresses(url: str, base: str, loopback: bool) -> None:
    assert address("x", url) == (base, loopback)


@pytest.mark.req("AAP-78", "AAP-04")
@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "agents.x.url is not set"),
        ("http://agent.example", "is not encrypted"),
        ("http://127.example.org/v1", "is not encrypted"),
        ("http://127.0.0.1.example.org", "is not encrypted"),
        ("http://localhost.example.org", "is not encrypted"),
        ("http://0.0.0.0:8080", "is not encrypted"),
        ("http://10.0.0.1", "is not encrypted"),
        ("http://127.0.0.1:99999", "is no address"),
        ("https://[::1", "is no address"),
        ("https://agent example/v1", "is no address"),
        ("https://agent.example\\v1", "is no address"),
        ("https://agent\x00.example", "is no address"),
        ("ftp://agent.example", "is no address"),
        ("agent.example/v1", "is no address"),
        ("https:///v1", "is no address"),
        ("https://agent.example/?key=hush", "is no address"),
        ("https://agent.example/#key", "is no address"),
        ("https://me:hush@agent.example", "must not hold a name or a password"),
    ],
)
def test_addresses_that_are_not_used(url: str, says: str) -> None:
    with pytest.raises(AgentError) as caught:
        address("x", url)
    failure = caught.value.failure
    assert says in failure.message
    assert "hush" not in failure.message
    assert failure.remedy
