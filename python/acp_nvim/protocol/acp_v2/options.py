"""Config options and commands of v2 (spec sections 16 and 17). Modes are options, too (V2-129)."""

from __future__ import annotations

from collections.abc import Sequence

from acp_nvim.session.options import Choice, Command, Option
from acp_nvim.wire.acp_v2 import session as wire
from acp_nvim.wire.base import UnknownType


def config_options(listed: Sequence[wire.SessionConfigOption]) -> list[Option]:
    """In the agent's order. One of an unknown type is kept, and left to its default (V2-130, V2-133)."""
    return [_config_option(option) for option in listed]


def _config_option(option: wire.SessionConfigOption) -> Option:
    match option:
        case UnknownType(raw=raw):
            # Without its category: nothing is to be found in it.
            return Option(str(raw["configId"]), str(raw["name"]), "unknown", raw=raw)
        case wire.SelectConfigOption():
            choices = _choices(option.options)
            made = Option(option.config_id, option.name, "select", option.current_value, choices)
        case wire.BooleanConfigOption():
            made = Option(option.config_id, option.name, "boolean", option.current_value)
    made.description, made.category = option.description, option.category
    return made


def _choices(entries: Sequence[wire.SelectEntry]) -> list[Choice]:
    choices: list[Choice] = []
    for entry in entries:
        if entry.group_id is not None:
            choices += [Choice(o.value, o.name, o.description, entry.name) for o in entry.options or ()]
        elif entry.value is not None:
            choices.append(Choice(entry.value, entry.name, entry.description))
    return choices


def commands(listed: Sequence[wire.AvailableCommand]) -> list[Command]:
    """Of whatever type: a name and a description they all have (V2-134..136)."""
    return [
        Command(each.name, each.description, each.input.hint if each.input is not None else None)
        for each in listed
    ]
