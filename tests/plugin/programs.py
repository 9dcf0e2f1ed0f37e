"""Shell programs that stand for agents which do not want to end."""

from __future__ import annotations

import sys

STUBBORN = "trap '' TERM HUP INT; while :; do sleep 0.1; done"
"""A shell program that ignores SIGTERM and the end of its input."""

POLITE = 'while read -r line; do echo "$line"; done'
"""A shell program that ends with its input."""

SESSION = "import os,sys; os.setsid(); os.execvp(sys.argv[1], sys.argv[1:])"
"""Python: become a session of its own, then another program."""


def in_session(program: str) -> str:
    """Return shell text that runs a shell program in a session of its own, in the background."""
    return f"'{sys.executable}' -I -S -c '{SESSION}' /bin/sh -c \"{program}\" </dev/null >/dev/null 2>&1 &"


AGENTS = {
    "normal": POLITE,
    "stubborn": STUBBORN,
    "wrapped": f'/bin/sh -c "{STUBBORN}"; true',
    "forks": f"({STUBBORN}) & ({STUBBORN}) & {POLITE}",
    "sessions": f"{in_session(STUBBORN)} {POLITE}",
    "stubborn with sessions": f"{in_session(STUBBORN)} {STUBBORN}",
    "session without environment": f"env -i {in_session(STUBBORN)} {STUBBORN}",
}
"""Shell programs of agents: name -> text."""
