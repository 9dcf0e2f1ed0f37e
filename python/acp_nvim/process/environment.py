"""What an agent inherits of the host's environment, and where its command is found."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

MARKER = "ACP_NVIM_AGENT"
"""Environment variable that all descendants of an agent inherit; its value is unique to the agent."""

_OURS = {
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "VIM",
    "VIMRUNTIME",
    "MYVIMRC",
    "VIRTUAL_ENV",
    "__PYVENV_LAUNCHER__",
    MARKER,
}


class LaunchError(Exception):
    """A command cannot be started (C28). The text: command and reason in one line; ``details``: the rest."""

    def __init__(self, message: str, details: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.details = list(details)


def clean_environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return ``base`` without what belongs to Neovim or to the host's Python.

    An agent that found ``$NVIM`` would remote-control this Neovim; one with the host's ``PYTHON*`` or virtual
    environment would run the user's tests with the plugin's packages.
    """
    env = {name: value for name, value in base.items() if name not in _OURS and not name.startswith("PYTHON")}
    if sys.prefix != sys.base_prefix and "PATH" in env:
        host = Path(sys.prefix) / "bin"
        kept = [entry for entry in env["PATH"].split(os.pathsep) if not entry or Path(entry) != host]
        env["PATH"] = os.pathsep.join(kept)
    return env


def absolute_folders(path: str) -> str:
    """A ``$PATH`` without its relative folders: in a project they would mean programs of the project.

    For programs of ours that look for others by themselves, as env does.
    """
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if entry.startswith("/"))


def find_command(argv: Sequence[str], *, cwd: str, path: str) -> str:
    """Return the absolute path of the program ``argv[0]``.

    A name with a slash is taken relative to ``cwd``; else the absolute folders of ``path`` are searched
    (relative ones would mean running programs of the user's project). Raises LaunchError.
    """
    name = argv[0]
    if "/" in name:
        program = Path(cwd, name)
        reason = _fault(program)
        if reason is not None:
            raise _refused(argv, cwd, f"{program} {reason}")
        return str(program)
    folders = [entry for entry in absolute_folders(path).split(os.pathsep) if entry]
    near_miss = ""
    for folder in folders:
        program = Path(folder, name)
        reason = _fault(program)
        if reason is None:
            return str(program)
        if not near_miss and reason != _MISSING:
            near_miss = f"{program} {reason}"
    raise _refused(
        argv, cwd, near_miss or f"no '{name}' in $PATH", [f"$PATH: {os.pathsep.join(folders) or 'empty'}"]
    )


def explain(argv: Sequence[str], program: str, cwd: str, error: OSError | ValueError) -> LaunchError:
    """Return the LaunchError for a start that the system refused although the file was there."""
    if not Path(cwd).is_dir():
        reason = f"its working directory {cwd} does not exist"
    elif isinstance(error, FileNotFoundError):
        reason = f"the interpreter named in the first line of {program} does not exist"
    else:
        reason = f"{program}: {getattr(error, 'strerror', None) or error}"
    return _refused(argv, cwd, reason)


_MISSING = "does not exist"


def _fault(program: Path) -> str | None:
    """Say why a path is no program that can be run, or return None."""
    try:
        mode = program.stat().st_mode
    except OSError as error:
        return _MISSING if isinstance(error, FileNotFoundError | NotADirectoryError) else str(error.strerror)
    if stat.S_ISDIR(mode):
        return "is a directory"
    return None if os.access(program, os.X_OK) else "is not executable"


def _refused(argv: Sequence[str], cwd: str, reason: str, more: Sequence[str] = ()) -> LaunchError:
    command = shlex.join(argv)
    return LaunchError(
        f"cannot run `{command}`: {reason}", [f"command: {command}", f"directory: {cwd}", *more]
    )
