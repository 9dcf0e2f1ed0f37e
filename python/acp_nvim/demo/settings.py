"""What a user can set in a chat with the demo: its mode, whether it thinks aloud, and its pace.

They are config options; the modes are told the old way too, for clients that know no config options.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .peer import Json

MODES = (
    ("ask", "Ask before edits", "asks before it changes anything"),
    ("edit", "Edit at once", "edits and creates files without a question; asks for all else"),
    ("read", "Read only", "changes nothing and runs nothing, and asks to leave this mode"),
)
SLOW, FAST = 10.0, 160.0  # words a second


@dataclass(slots=True)
class Settings:
    """The values of one session."""

    mode: str = "ask"
    thoughts: bool = True
    pace: str = "normal"

    def speed(self, normal: float) -> float:
        """Words a second, 0 for no pauses. ``normal``: as the process was started."""
        return {"slow": SLOW, "fast": FAST, "now": 0.0}.get(self.pace, normal)

    def set(self, ident: Any, value: Any) -> bool:
        """Set one option by its id. Whether there is such an option and it can have that value."""
        if ident == "mode" and value in [mode for mode, _, _ in MODES]:
            self.mode = value
        elif ident == "pace" and value in ("slow", "normal", "fast", "now"):
            self.pace = value
        elif ident == "thoughts" and isinstance(value, bool):
            self.thoughts = value
        else:
            return False
        return True

    def kept(self) -> Json:
        """What has to be remembered."""
        return {"mode": self.mode, "thoughts": self.thoughts, "pace": self.pace}

    @classmethod
    def recalled(cls, kept: Any) -> Settings:
        """What was remembered; what cannot be read is as in a new session."""
        settings = cls()
        for ident, value in kept.items() if isinstance(kept, dict) else ():
            settings.set(ident, value)
        return settings

    def options(self, normal: float, booleans: bool) -> list[Json]:
        """All options with their values, as the protocol has them. ``booleans``: the client knows these."""
        found: list[Json] = [
            {
                "id": "mode",
                "name": "Mode",
                "category": "mode",
                "type": "select",
                "currentValue": self.mode,
                "options": [
                    {"value": mode, "name": name, "description": about} for mode, name, about in MODES
                ],
            },
            {
                "id": "pace",
                "name": "Pace",
                "description": "how fast I write",
                "type": "select",
                "currentValue": self.pace,
                "options": [
                    _group("To read along", ("slow", "Slow", SLOW), ("normal", "Normal", normal)),
                    _group("To get on", ("fast", "Fast", FAST), ("now", "At once", 0.0)),
                ],
            },
        ]
        if booleans:
            found.insert(
                1,
                {
                    "id": "thoughts",
                    "name": "Thoughts",
                    "description": "whether I think aloud",
                    "category": "thought_level",
                    "type": "boolean",
                    "currentValue": self.thoughts,
                },
            )
        return found

    def modes(self) -> Json:
        return {
            "currentModeId": self.mode,
            "availableModes": [
                {"id": mode, "name": name, "description": about} for mode, name, about in MODES
            ],
        }


def _group(name: str, *paces: tuple[str, str, float]) -> Json:
    options = [
        {
            "value": value,
            "name": label,
            "description": f"{speed:g} words a second" if speed else "without pauses",
        }
        for value, label, speed in paces
    ]
    return {"group": name.split()[-1], "name": name, "options": options}
