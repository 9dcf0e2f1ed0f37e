"""What reaches an agent, and what is said of a command that cannot be run."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from acp_nvim.process.environment import LaunchError, absolute_folders, clean_environment, find_command


@pytest.mark.parametrize(
    "name",
    [
        "NVIM",
        "NVIM_LISTEN_ADDRESS",
        "VIM",
        "VIMRUNTIME",
        "MYVIMRC",
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONDONTWRITEBYTECODE",
        "VIRTUAL_ENV",
        "ACP_NVIM_AGENT",
    ],
)
def test_what_is_ours_does_not_reach_agents(name: str) -> None:
    assert clean_environment({name: "x", "KEEP": "y"}) == {"KEEP": "y"}


def test_the_rest_stays() -> None:
    env = {"HOME": "/h", "NVIM_APPNAME": "n", "TERM": "xterm", "EDITOR": "nvim", "LC_ALL": "C"}
    assert clean_environment(env) == env


def test_the_path_loses_the_host_environment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/data/venv")
    path = os.pathsep.join(["/usr/bin", "/data/venv/bin", "/data/venv/bin/", "/other/venv/bin"])
    assert clean_environment({"PATH": path}) == {"PATH": os.pathsep.join(["/usr/bin", "/other/venv/bin"])}
    monkeypatch.setattr(sys, "base_prefix", "/data/venv")  # not a virtual environment: nothing to take out
    assert clean_environment({"PATH": path}) == {"PATH": path}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, mode in (("agent", 0o755), ("plain", 0o644)):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
        (tmp_path / "bin" / name).chmod(mode)
    (tmp_path / "bin" / "dir").mkdir()
    return tmp_path


def test_a_command_is_found(folder: Path) -> None:
    bin_folder = str(folder / "bin")
    wanted = str(folder / "bin" / "agent")
    assert find_command(["agent"], cwd="/", path=f"/nowhere:{bin_folder}") == wanted
    assert find_command(["bin/agent", "--acp"], cwd=str(folder), path="") == wanted
    assert find_command([wanted], cwd="/", path="") == wanted


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-agent", "no 'no-such-agent' in $PATH"),
        ("plain", "{bin}/plain is not executable"),
        ("dir", "{bin}/dir is a directory"),
        ("{bin}/dir", "{bin}/dir is a directory"),
        ("{bin}/plain", "{bin}/plain is not executable"),
        ("{bin}/missing", "{bin}/missing does not exist"),
        ("{bin}/agent/below", "{bin}/agent/below does not exist"),
    ],
)
def test_a_command_that_cannot_be_run_names_command_and_reason(
    folder: Path, command: str, reason: str
) -> None:
    bin_folder = str(folder / "bin")
    argv = [command.format(bin=bin_folder), "--acp"]
    with pytest.raises(LaunchError) as caught:
        find_command(argv, cwd="/work dir", path=f"/nowhere:{bin_folder}")
    assert str(caught.value) == f"cannot run `{argv[0]} --acp`: {reason.format(bin=bin_folder)}"
    assert f"command: {argv[0]} --acp" in caught.value.details
    if command == "no-such-agent":
        assert f"$PATH: /nowhere:{bin_folder}" in caught.value.details


@pytest.mark.parametrize(
    "path, left", [("/a:/b", "/a:/b"), (".:/a::bin:/b:", "/a:/b"), ("", ""), (".", ""), ("./x:../y", "")]
)
def test_the_absolute_folders_of_a_path(path: str, left: str) -> None:
    assert absolute_folders(path) == left


def test_a_relative_folder_of_the_path_is_not_searched(folder: Path) -> None:
    with pytest.raises(LaunchError, match="no 'agent' in"):
        find_command(["agent"], cwd=str(folder / "bin"), path=":.:bin")
