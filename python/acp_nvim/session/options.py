"""What an agent offers in a session: options that can be set, and commands."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Choice(Struct, frozen=True):
    """A value that an option can have; ``group``: the heading it stands under."""

    value: str
    name: str
    description: str | None = None
    group: str | None = None


class Option(Struct):
    """A setting of the session: a config option (``source`` config) or the modes of v1 (``mode``)."""

    id: str
    name: str
    type: Literal["select", "boolean", "text", "secret", "unknown"]
    value: str | bool | None = None
    choices: list[Choice] = []
    description: str | None = None
    category: str | None = None  # mode, model, model_config, thought_level, or the agent's own
    source: Literal["config", "mode", "model", "aap"] = "config"
    raw: Any = None

    @property
    def label(self) -> str:
        """The name of the current value, for people."""
        for choice in self.choices:
            if choice.value == self.value:
                return choice.name or choice.value
        return str(self.value) if self.value is not None else ""


class Command(Struct, frozen=True):
    """A slash command of the agent; the name may contain blanks."""

    name: str
    description: str = ""
    hint: str | None = None
