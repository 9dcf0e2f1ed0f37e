"""The folders besides its own that a session may work in (V1-59, V1-60)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def further(settings: Sequence[str], cwd: str) -> tuple[list[str], list[str]]:
    """The folders to pass on, absolute, each once, without ``cwd``; and a sentence for each that is missing.

    ``~`` is the user's home. Looks at the disk, at one folder each.
    """
    passed: list[str] = []
    problems: list[str] = []
    for setting in settings:
        folder = os.path.normpath(os.path.expanduser(setting))  # noqa: PTH111 (Path would raise)
        if not Path(folder).is_absolute() or not Path(folder).is_dir():
            problems.append(f"directories: there is no folder {setting}")
        elif folder not in (*passed, os.path.normpath(cwd)):
            passed.append(folder)
    return passed, problems
