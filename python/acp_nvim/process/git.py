"""How git is asked: about the folder it is started in, without a prompt, running nothing of the project's."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .environment import absolute_folders
from .spawn import Spawner

MISSING = 127
"""The exit code where there is no git: that of env."""

# Of a Neovim that git has started (as its editor): they would name another folder than the one that is meant.
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE")
# With a monitor git may leave a daemon behind, or run what the project's own settings name.
_SETTINGS = ("core.fsmonitor=false", "core.quotePath=false")


def git_command(*words: str, settings: Sequence[str] = ()) -> tuple[str, ...]:
    """The words of a command of git; ``settings`` go over those of all files, as ``name=value``."""
    unset = (word for name in _PLACES for word in ("-u", name))
    given = (word for each in (*_SETTINGS, *settings) for word in ("-c", each))
    return ("env", *unset, "git", "--no-pager", *given, *words)


def git_environment(spawner: Spawner) -> dict[str, str]:
    """The variables it is started with: env looks for git by itself, in absolute folders only."""
    path = absolute_folders(spawner.environment().get("PATH", os.defpath))
    return {"PATH": path, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
