"""An agent over HTTP without what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import acp_nvim

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
