"""How a process ended, in words."""

from __future__ import annotations

import signal


def describe_exit(code: int | None) -> str:
    """Say how a process ended, to be read after its name.

    ``code`` is asyncio's: negative for a signal, None while it runs. 129 and more is how a shell passes on
    that its child ended by a signal.
    """
    if code is None:
        return "is still running, but closed its output"
    if code < 0:
        return f"was ended by {signal_name(-code)}"
    if code > 128 and (name := signal_name(code - 128)).startswith("SIG"):
        return f"ended with exit code {code} ({name})"
    return f"ended with exit code {code}"


def signal_name(number: int) -> str:
    """``SIGTERM`` for 15; ``signal 99`` for a number this system has no name for."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
