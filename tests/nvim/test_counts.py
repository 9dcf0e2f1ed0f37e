"""What was opened, used and closed leaves nothing behind: a short soak (`make soak` is the long form)."""

from __future__ import annotations

from pathlib import Path

from bench.soak import Soak
from tests.plugin.neovim import find_binary


def test_nothing_is_left_of_chats_that_are_closed(tmp_path: Path) -> None:
    soak = Soak(find_binary(), tmp_path, seed=1)
    try:
        counts = []
        for _ in range(3):
            soak.round(
                [
                    lambda: soak.turn("bench", "go 1000"),
                    lambda: soak.turn("bench", "tools 5"),
                    lambda: soak.turn("bench", "noise 100000 1"),
                    lambda: soak.turn("demo", "replace hello by goodbye in notes.txt", "allow_once"),
                    lambda: soak.turn("demo", "replace goodbye by hello in notes.txt", "reject_once"),
                    lambda: soak.turn("demo", "replace goodbye by hello in notes.txt", "allow_once"),
                    soak.cancelled,
                    soak.restarted,
                ]
            )
            found = soak.count(last=True)
            counts.append({name: count for name, count in found.items() if not name.endswith("MB")})
    finally:
        soak.editor.close()
    assert counts[-1] == counts[-2], "and not one more of anything each time"
    assert counts[-1]["host's tasks"] <= 3
    assert counts[-1]["processes"] <= 3, "the host and its reaper"
