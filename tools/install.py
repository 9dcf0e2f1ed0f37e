#!/usr/bin/env python3
"""Make the plugin's own Python environment; run by `:AcpInstall` and by `make install`.

Everything goes into a fresh folder, which takes the place of the old environment by renaming once it works:
a half-done install is never used, and one that fails changes nothing. Progress is one line a step on stdout;
what went wrong is the last line, `error: REASON; REMEDY`, and exit code 1. Needs the standard library only.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[1] / "python" / "requirements.txt"
NOTE = "acp-requirements.txt"
"""In the environment: what was installed. lua/acp/environment.lua compares it with what is needed."""
CHECK = "import pynvim, msgspec, anyio"
NETWORK = (
    "connection",
    "network",
    "name resolution",
    "name or service",
    "dns",
    "timed out",
    "timeout",
    "error sending request",
    "could not fetch url",
    "no matching distribution",
    "proxy",
)
"""Words by which an installer's complaint is known to be about the network."""


class InstallError(Exception):
    """What to tell the user: the reason, and the remedy."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")


def default_target() -> Path:
    """Return the folder Neovim's `stdpath('data')` stands for, with this plugin's name."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / (os.environ.get("NVIM_APPNAME") or "nvim") / "acp.nvim"


def say(line: str) -> None:
    """Show progress at once."""
    print(line, flush=True)  # noqa: T201 - that is how a program speaks


def run(*argv: str | Path) -> None:
    """Run a step quietly. Raises InstallError with the end of what it said."""
    # Settings of the user's shell for Python would reach into the new environment; pip's and uv's own stay.
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("PYTHON") and key != "VIRTUAL_ENV"
    }
    done = subprocess.run(
        [str(part) for part in argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=env,
        check=False,
    )
    if done.returncode == 0:
        return
    for line in done.stdout.splitlines():
        say("  " + line)
    said = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if any(word in done.stdout.lower() for word in NETWORK):
        raise InstallError(
            "the package index cannot be reached", "check the network, or pip's proxy and index settings"
        )
    raise InstallError(said[-1] if said else f"{Path(argv[0]).name} failed", ":AcpInstall shows all it said")


def create(folder: Path, uv: str | None) -> None:
    """Make an empty environment."""
    if uv is not None:
        run(uv, "venv", "--quiet", "--no-project", "--python", sys.executable, folder)
        return
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise InstallError(
            f"{sys.executable} has no venv module",
            "install it (Debian, Ubuntu: apt install python3-venv), or install uv",
        )
    run(sys.executable, "-I", "-m", "venv", folder)


def fill(folder: Path, uv: str | None) -> None:
    """Install the pinned packages."""
    python = folder / "bin" / "python"
    if uv is not None:
        run(uv, "pip", "install", "--quiet", "--python", python, "-r", REQUIREMENTS)
        return
    options = ("--disable-pip-version-check", "--no-input", "--retries", "2", "--timeout", "15")
    run(python, "-I", "-m", "pip", "install", *options, "-r", REQUIREMENTS)


def swap(fresh: Path, target: Path) -> None:
    """Put the new environment in the place of the old one."""
    environment = target / "venv"
    if environment.exists() or environment.is_symlink():
        # A host that runs may still load modules from it: the next install takes it away.
        environment.rename(Path(tempfile.mkdtemp(prefix="old-", dir=target)) / "venv")
    fresh.rename(environment)


def install(target: Path) -> Path:
    """Make the environment `target/venv` and return it. Raises InstallError, or OSError of the disk."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the user's Python may be anything
        version = ".".join(map(str, sys.version_info[:3]))
        raise InstallError(f"{sys.executable} is Python {version}", "install Python 3.11 or later, or uv")
    target.mkdir(parents=True, exist_ok=True)
    for leftover in target.glob("old-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    uv = shutil.which("uv")
    work = Path(tempfile.mkdtemp(prefix="new-", dir=target))
    fresh = work / "venv"
    try:
        say(f"1/4 making an environment with {'uv' if uv else 'venv'} ({sys.executable})")
        create(fresh, uv)
        say(f"2/4 installing the packages with {'uv' if uv else 'pip'}")
        fill(fresh, uv)
        say("3/4 trying them")
        run(fresh / "bin" / "python", "-I", "-c", CHECK)
        shutil.copyfile(REQUIREMENTS, fresh / NOTE)
        say("4/4 putting it in place")
        swap(fresh, target)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target / "venv"


def main() -> int:
    """Install; return the exit code."""
    parser = argparse.ArgumentParser(description="Make acp.nvim's Python environment.")
    parser.add_argument("--target", type=Path, default=default_target(), help="folder to put `venv` into")
    try:
        say(f"done: {install(parser.parse_args().target)}")
    except InstallError as failure:
        say(f"error: {failure}")
        return 1
    except OSError as error:
        say(f"error: {error}; make room, or give yourself the right to write there")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
