"""Recorded traffic of real agents -> the model. ``expected/<name>.txt`` was read line by line.

To take over a wanted change: delete the file, run the test (it writes the file and fails), read the file.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.replay.player import Player

HERE = Path(__file__).parent
TRANSCRIPTS = HERE / "transcripts"
NAMES = sorted(str(path.relative_to(TRANSCRIPTS)) for path in TRANSCRIPTS.rglob("*.jsonl"))

pytestmark = pytest.mark.anyio


def test_there_are_recordings_of_both_agents() -> None:
    assert {Path(name).name.split("-")[0] for name in NAMES} == {"gemini", "opencode"}


@pytest.mark.parametrize("name", NAMES)
async def test_a_recording_becomes_the_expected_timeline(name: str) -> None:
    player = Player(TRANSCRIPTS / name)
    await player.play()
    lines: list[str] = [f"error {error}" for error in player.errors]
    for number, text in enumerate(player.texts, 1):
        lines += [f"== session {number}", *text]
    actual = "\n".join(lines) + "\n"
    expected = HERE / "expected" / Path(name).with_suffix(".txt").name
    if not expected.exists():
        expected.write_text(actual, encoding="utf-8")
        pytest.fail(f"{expected.name} was written: read it, then run again")
    assert actual == expected.read_text(encoding="utf-8")
    assert player.unused == []  # every recorded line was of use
