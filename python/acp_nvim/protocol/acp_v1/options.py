"""Modes, models and config options of v1, all as options of the model (spec section 14)."""

from __future__ import annotations

from collections.abc import Sequence

from acp_nvim.session.options import Choice, Option
from acp_nvim.wire.acp_v1 import session as wire
from acp_nvim.wire.base import UnknownType


def offered(setup: wire.SessionSetup) -> list[Option] | None:
    """The options a new, loaded or resumed session came with; None: it said nothing of them.

    Config options win over modes (V1-149). The older ``models`` stand in where no config option is a
    model's.
    """
    if setup.modes is None and setup.models is None and setup.config_options is None:
        return None
    options: list[Option] = []
    if setup.config_options is not None:
        options = config_options(setup.config_options)
    elif setup.modes is not None:
        options.append(_modes(setup.modes))
    if setup.models is not None and not any(option.category == "model" for option in options):
        options.append(_models(setup.models))
    return options


def config_options(listed: Sequence[wire.SessionConfigOption]) -> list[Option]:
    """In the agent's order. One of an unknown type is kept, and left to its default (V1-145..150)."""
    return [_config_option(option) for option in listed]


def _config_option(option: wire.SessionConfigOption) -> Option:
    match option:
        case UnknownType(raw=raw):
            # Without its category: nothing is to be found in it.
            name = str(raw.get("name") or option.kind)
            return Option(str(raw.get("id") or ""), name, "unknown", raw=raw)
        case wire.SelectConfigOption():
            made = Option(option.id, option.name, "select", option.current_value, _choices(option.options))
        case wire.BooleanConfigOption():
            made = Option(option.id, option.name, "boolean", option.current_value)
    made.description, made.category = option.description, option.category
    return made


def _choices(entries: Sequence[wire.SelectEntry]) -> list[Choice]:
    """A flat list, or groups: told apart by the key ``group`` (V1-146)."""
    choices: list[Choice] = []
    for entry in entries:
        if entry.group is not None:
            choices += [Choice(o.value, o.name, o.description, entry.name) for o in entry.options or ()]
        elif entry.value is not None:
            choices.append(Choice(entry.value, entry.name, entry.description))
    return choices


def _modes(modes: wire.SessionModeState) -> Option:
    """V1-142."""
    choices = [Choice(mode.id, mode.name, mode.description) for mode in modes.available_modes]
    return Option("mode", "Mode", "select", modes.current_mode_id, choices, category="mode", source="mode")


def _models(models: wire.SessionModelState) -> Option:
    choices = [Choice(model.model_id, model.name, model.description) for model in models.available_models]
    return Option(
        "model", "Model", "select", models.current_model_id, choices, category="model", source="model"
    )
