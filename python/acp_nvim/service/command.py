"""How the command of an agent is run: as a program with its arguments, or as a line of a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..process.environment import LaunchError, find_command
from ..session.ports import CommandLine, RequestError
from .roots import resolve

INVALID_PARAMS = -32602

_POSIX = frozenset({"sh", "ash", "bash", "dash", "ksh", "mksh", "yash", "zsh"})
# What makes a text more than the name of a program.
_SHELL_WORDS = re.compile(r"[\s|&;<>()$`\\\"'*?\[\]{}~#=!]")


@dataclass(frozen=True, slots=True)
class Plan:
    """``shown``: the command in full, for people. ``real_cwd``: the folder without links.

    ``outside``: the folder is under none of the session's.
    """

    argv: tuple[str, ...]
    shown: str
    cwd: str
    real_cwd: str
    outside: bool


def plan(line: CommandLine, cwd: str, roots: Sequence[str], environment: Mapping[str, str]) -> Plan:
    """Decide how to run it. Touches the disk: run it in a thread.

    Raises RequestError -32602 for what no command can be, and a folder that is not absolute.
    """
    _check(line)
    place = resolve(cwd, roots, ())
    argv, shown = _argv(line, cwd, environment)
    return Plan(argv, shown, cwd, place.real, place.why is not None)


def _argv(line: CommandLine, cwd: str, environment: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """A whole command line in ``command`` is the shell's, as several agents send it (V1-180).

    Only without arguments, when there is no such program, and when it is more than a single word: the name
    of a missing program is told as such, not by a shell.
    """
    argv = (line.command, *line.args)
    if not line.args and _SHELL_WORDS.search(line.command):
        try:
            find_command(argv, cwd=cwd, path=environment.get("PATH", ""))
        except LaunchError:
            return (_shell(environment), "-c", line.command), line.command
    return argv, shlex.join(argv)


def _shell(environment: Mapping[str, str]) -> str:
    """The user's shell if it takes what agents write, which is for a POSIX shell; else sh."""
    shell = environment.get("SHELL", "")
    return shell if Path(shell).name in _POSIX and Path(shell).is_absolute() else "/bin/sh"


def _check(line: CommandLine) -> None:
    if not line.command.strip():
        raise RequestError(INVALID_PARAMS, "the command is empty")
    for name in line.env:
        if not name or "=" in name:
            raise RequestError(INVALID_PARAMS, "a variable of the environment has no valid name", name)
    words = (line.command, *line.args, *line.env, *line.env.values())
    if any("\0" in word or not _encodes(word) for word in words):
        raise RequestError(INVALID_PARAMS, "the command holds what no command can hold")


def _encodes(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:  # half a character
        return False
    return True
