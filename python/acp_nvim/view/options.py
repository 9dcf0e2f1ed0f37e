"""The options of a session as Lua offers them: made safe, in the order they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from acp_nvim.session.options import Choice, Option
from acp_nvim.text.sanitise import one_line

#: Cells of an id, a value or a name; of a description.
NAME_CELLS = 200
DESCRIPTION_CELLS = 400


def rows(options: Sequence[Option]) -> list[dict[str, Any]]:
    """What Lua keeps of each option: ``id``, ``name``, ``type`` (select, boolean, text, secret), ``value``,
    ``label``, ``choices``, and if it is known ``description`` and ``category``. Of a secret no value is kept.

    An option of an unknown type is left out (V1-148).
    """
    return [_row(option) for option in ordered(options) if option.type != "unknown"]


def ordered(options: Sequence[Option]) -> list[Option]:
    """In the agent's order, but what configures the model behind the model (V1-145, V1-150, V1-151)."""
    model = next((option for option in options if option.category == "model"), None)
    if model is None:
        return list(options)
    near = [option for option in options if option.category == "model_config"]
    shown: list[Option] = []
    for option in options:
        if option.category != "model_config":
            shown.append(option)
        if option is model:
            shown += near
    return shown


def typed(text: str) -> str:
    """An id or a value as the user sees and types it. The agent's own may hold anything."""
    return one_line(text, NAME_CELLS)


def label(option: Option, value: str | bool | None) -> str:
    """The name of a value, for people."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if option.type == "secret":
        return "set" if value else "not set"
    name = next((choice.name for choice in option.choices if choice.value == value), "")
    return one_line(name, NAME_CELLS) or typed(value or "")


def _row(option: Option) -> dict[str, Any]:
    value = option.value if isinstance(option.value, bool) else typed(option.value or "")
    if option.type == "secret":
        value = ""
    row: dict[str, Any] = {
        "id": typed(option.id),
        "name": one_line(option.name, NAME_CELLS) or typed(option.id),
        "type": option.type,
        "value": value,
        "label": label(option, option.value),
        "choices": [_choice(choice) for choice in option.choices],
    }
    if option.description:
        row["description"] = one_line(option.description, DESCRIPTION_CELLS)
    if option.category:
        row["category"] = one_line(option.category, NAME_CELLS)
    return row


def _choice(choice: Choice) -> dict[str, str]:
    made = {"value": typed(choice.value), "name": one_line(choice.name, NAME_CELLS) or typed(choice.value)}
    if choice.description:
        made["description"] = one_line(choice.description, DESCRIPTION_CELLS)
    if choice.group:
        made["group"] = one_line(choice.group, NAME_CELLS)
    return made
