"""From an agent's settings to what is started: the command, and the environment with its secrets."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream

from acp_nvim.process.environment import MARKER, absolute_folders, clean_environment
from acp_nvim.process.reaper import Reaper
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError

from .mcp import with_secrets
from .payloads import AgentConfig

#: Seconds a command that prints a secret may take: it may ask for a passphrase in a window of its own.
SECRET_TIMEOUT = 120.0
_DEMO = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import runpy; "
    "runpy.run_module('acp_nvim.demo', run_name='__main__')"
)


@dataclass(frozen=True, slots=True)
class Launch:
    """``secrets``: what must be masked. ``mcp_problems``: what keeps MCP servers from being passed on."""

    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    mcp_servers: tuple[dict[str, Any], ...] = ()
    mcp_problems: tuple[str, ...] = ()


def demo_command() -> list[str]:
    """The built-in agent, by the host's own interpreter, isolated from the user's project."""
    root = str(Path(__file__).resolve().parents[2])
    return [sys.executable, "-I", "-c", _DEMO, root]


async def resolve(agent: str, config: AgentConfig, demo: bool, reaper: Reaper | None = None) -> Launch:
    """Work out what to start. Raises AgentError when a secret cannot be had or nothing is configured.

    ``reaper`` watches over the commands that print secrets.
    """
    argv = list(config.command)
    if demo:
        argv = [*demo_command(), *argv]
    if not argv:
        raise _wrong(f"agent “{agent}” has no command", f"set agents.{agent}.command in setup()")
    raw: Mapping[str, Any] = config.env if isinstance(config.env, dict) else {}
    ask = partial(_ask, reaper)
    env: dict[str, str] = {}
    secrets: list[str] = []
    for name, value in raw.items():
        env[name] = await _value(f"agents.{agent}.env.{name}", value, reaper)
        secrets.append(env[name])
    argv[0] = os.path.expanduser(argv[0])  # noqa: ASYNC240, PTH111 (reads no disk)
    mcp = config.mcp_servers if isinstance(config.mcp_servers, list) else []
    servers, more, problems = await with_secrets(agent, mcp, ask)
    return Launch(argv, env, (*secrets, *more), tuple(servers), tuple(problems))


async def variable(agent: str, config: AgentConfig, name: str, reaper: Reaper | None = None) -> str | None:
    """One variable: as the settings have it, else as our own environment has it. Raises AgentError."""
    raw: Mapping[str, Any] = config.env if isinstance(config.env, dict) else {}
    if name in raw:
        return await _value(f"agents.{agent}.env.{name}", raw[name], reaper)
    return os.environ.get(name)


async def _value(where: str, value: Any, reaper: Reaper | None) -> str:
    if isinstance(value, dict) and isinstance(value.get("cmd"), list):
        return await _ask(reaper, where, [str(part) for part in value["cmd"]])
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    why = f"{where} is neither text nor a command"
    raise _wrong(why, "set it to 'value' or { cmd = { 'program', 'argument' } }")


async def _ask(reaper: Reaper | None, where: str, argv: list[str]) -> str:
    """Run the command that prints a secret; its first line is the value. ``where``: its setting."""
    remedy = f"check {where}.cmd, then :AcpRestart"
    try:
        with anyio.fail_after(SECRET_TIMEOUT):
            returncode, stdout, stderr = await _run(argv, reaper)
    except (OSError, TimeoutError) as error:
        why = f"took more than {SECRET_TIMEOUT:.0f} s" if isinstance(error, TimeoutError) else str(error)
        raise _wrong(f"{where}: {argv[0]}: {why}", remedy) from error
    lines = stdout.decode("utf-8", "replace").splitlines()
    if returncode != 0 or not lines:
        said = stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it printed nothing"]
        raise _wrong(f"{where}: {argv[0]} failed ({returncode}): {said[0]}", remedy)
    return lines[0]


async def _run(argv: list[str], reaper: Reaper | None) -> tuple[int, bytes, bytes]:
    """Run a command; return its exit code, stdout and stderr. It ends with us, in whatever way we end.

    What it leaves behind by itself, as a password agent that keeps the passphrase, is not ours to end.
    """
    marker = str(uuid.uuid4())
    env = {**clean_environment(os.environ), MARKER: marker}
    env["PATH"] = absolute_folders(env.get("PATH", os.defpath))
    if reaper is not None:
        reaper.watch(marker)
    try:
        async with await anyio.open_process(
            argv, stdin=subprocess.DEVNULL, env=env, start_new_session=True
        ) as process:
            if reaper is not None:
                reaper.watch(marker, process.pid)
            try:
                output: dict[str, bytes] = {}
                async with anyio.create_task_group() as group:
                    group.start_soon(_collect, process.stdout, output, "stdout")
                    group.start_soon(_collect, process.stderr, output, "stderr")
                    await process.wait()
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise
            return await process.wait(), output["stdout"], output["stderr"]
    finally:
        if reaper is not None:
            reaper.forget(marker)


async def _collect(source: ByteReceiveStream | None, output: dict[str, bytes], name: str) -> None:
    assert source is not None, "stdout and stderr are pipes"
    output[name] = b""
    async for data in source:
        output[name] += data


def _wrong(message: str, remedy: str) -> AgentError:
    return AgentError(Failure(message, kind="invalid", remedy=remedy))
