"""The ways an agent offers to log in, in words: what choosing one does, and what is missing for it."""

from __future__ import annotations

import shlex
from collections import Counter

from acp_nvim.session.agent import AuthMethod
from acp_nvim.session.asked import LoginWay, PermissionOption

from .connection import Connection
from .launch import demo_command

LATER = "later"
#: Characters of a command in a question: the user should recognise it, not read a page.
COMMAND_CHARS = 300


def usable(connection: Connection) -> list[AuthMethod]:
    """The methods that can be used from here, in the agent's order."""
    return [each for each in methods(connection) if each.usable]


def methods(connection: Connection) -> tuple[AuthMethod, ...]:
    """All methods the agent has named, in its order; none before it is connected."""
    return connection.info.auth_methods if connection.info is not None else ()


def missing(method: AuthMethod, connection: Connection) -> list[str]:
    """The variables the method needs that are not in the environment of the agent's process."""
    return [
        each.name for each in method.variables if not each.optional and each.name not in connection.variables
    ]


def ways(connection: Connection) -> tuple[LoginWay, ...]:
    """All methods as the question shows them: the usable ones first."""
    names = _names(usable(connection))
    shown = [
        LoginWay(name, each.description, _how(each, connection))
        for name, each in zip(names, usable(connection), strict=True)
    ]
    others = [
        LoginWay(each.name, each.description, f"cannot be used from here ({each.type})", usable=False)
        for each in methods(connection)
        if not each.usable
    ]
    return (*shown, *others)


def options(connection: Connection) -> list[PermissionOption]:
    """The answers: one for each usable method, by its place."""
    chosen = [
        PermissionOption(str(n), name, "allow_once") for n, name in enumerate(_names(usable(connection)))
    ]
    return [*chosen, PermissionOption(LATER, "Not now", "reject_once")]


def _names(methods: list[AuthMethod]) -> list[str]:
    """What they are called; with the id where neither name nor description tells two of them apart."""
    seen = Counter((each.name, each.description) for each in methods)
    return [
        f"{each.name} ({each.id})"
        if each.name and seen[each.name, each.description] > 1
        else each.name or each.id
        for each in methods
    ]


def command(method: AuthMethod, connection: Connection) -> list[str]:
    """What a terminal method runs: the agent's own command and the method's arguments (V1-38)."""
    own = list(connection.config.command)
    return [*(demo_command() if connection.demo else []), *own, *method.args]


def _how(method: AuthMethod, connection: Connection) -> str:
    if method.type == "terminal":
        line = shlex.join(command(method, connection))
        cut = line if len(line) <= COMMAND_CHARS else f"{line[:COMMAND_CHARS]}…"
        return f"runs in a terminal here: {cut}"
    absent = missing(method, connection) if method.type == "env_var" else []
    if absent:
        return f"needs {' and '.join(absent)}, not set"
    names = [each.name for each in method.variables]
    return f"takes {', '.join(names)} of the environment" if names else ""


def how_to_set(method: AuthMethod, connection: Connection) -> list[str]:
    """The lines that say what to put into the settings for an env_var method, and what follows."""
    absent = missing(method, connection)
    labels = {each.name: each.label for each in method.variables}
    fields = ", ".join(f"{name} = {{ cmd = {{ 'program', 'that prints it' }} }}" for name in absent)
    lines = [
        f"agents = {{ {_key(connection.agent)} = {{ env = {{ {fields} }} }} }}",
        "in your setup() sets it; a plain text 'value' will do too",
    ]
    lines += [f"{name}: {label}" for name in absent if (label := labels.get(name)) and label != name]
    if method.link:
        lines.append(f"to be had at {method.link}")
    return [*lines, ":AcpRestart then logs in with it"]


def _key(name: str) -> str:
    """An agent's name as a key of a Lua table."""
    return name if name.isidentifier() else f"['{name}']"
