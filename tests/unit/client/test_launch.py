"""From the settings to the command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.client.launch import demo_command, resolve
from acp_nvim.client.payloads import AgentConfig
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio


async def test_values_and_commands_become_the_environment() -> None:
    config = AgentConfig(
        command=["agent", "--acp"],
        env={"PLAIN": "v", "NUMBER": 3, "TOKEN": {"cmd": [sys.executable, "-c", "print('from a command')"]}},
    )
    launch = await resolve("mine", config, demo=False)
    assert launch.argv == ["agent", "--acp"]
    assert launch.env == {"PLAIN": "v", "NUMBER": "3", "TOKEN": "from a command"}
    assert "from a command" in launch.secrets


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({"TOKEN": {"cmd": ["/no/such/program"]}}, "agents.mine.env.TOKEN: /no/such/program"),
        ({"TOKEN": {"cmd": [sys.executable, "-c", "exit('sealed')"]}}, "failed (1): sealed"),
        ({"TOKEN": {"cmd": [sys.executable, "-c", ""]}}, "it printed nothing"),
        ({"TOKEN": {"file": "x"}}, "neither text nor a command"),
        ({"FLAG": True}, "neither text nor a command"),
    ],
)
async def test_a_secret_that_cannot_be_had_is_named(env: dict[str, Any], says: str) -> None:
    with pytest.raises(AgentError) as caught:
        await resolve("mine", AgentConfig(command=["agent"], env=env), demo=False)
    assert says in caught.value.failure.message
    assert caught.value.failure.remedy


async def test_no_command_names_the_setting() -> None:
    with pytest.raises(AgentError) as caught:
        await resolve("mine", AgentConfig(), demo=False)
    assert caught.value.failure.remedy == "set agents.mine.command in setup()"


async def test_the_home_folder_is_filled_in() -> None:
    launch = await resolve("mine", AgentConfig(command=["~/bin/agent"]), demo=False)
    assert launch.argv == [str(Path.home() / "bin/agent")]


async def test_the_demo_is_isolated_from_the_project() -> None:
    launch = await resolve("demo", AgentConfig(), demo=True)
    assert launch.argv == demo_command()
    assert "-I" in launch.argv
