"""Recorded traffic of real agents -> the text of the transcript, frame by frame.

``expected/buffers/<name>.txt`` was read line by line: the whole text, then what closed folds leave of it.
To take over a wanted change: delete the file, run the test (it writes the file and fails), read the file.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.replay.player import Player
from tests.replay.test_model import HERE, NAMES, TRANSCRIPTS
from tests.unit.view.buffer import Buffer

from acp_nvim.session.entities import Item, Session
from acp_nvim.session.events import Event
from acp_nvim.session.store import Store
from acp_nvim.view.transcript import Transcript

#: Lines kept of a long text: both ends say enough, the count says the rest.
ENDS = 12

pytestmark = pytest.mark.anyio


class Screen:
    """A transcript and its buffer. ``seed`` None: drawn once at the end; else after random events."""

    def __init__(self, store: Store, session: Session, seed: int | None) -> None:
        self.session = session
        self.buffer = Buffer()
        self._transcript = Transcript(1, session, label="agent", home="/home/me")
        self._random = random.Random(seed) if seed is not None else None
        store.subscribe(self._on_event)

    def _on_event(self, session: Session, _event: Event, touched: Sequence[Item]) -> None:
        if session is not self.session:
            return
        self._transcript.touch(touched)
        if self._random is not None and self._random.random() < 0.5:
            self.buffer.apply(self._transcript.take(self._random.choice((64, 1024, 65536)))[0])

    def finish(self) -> str:
        while self._transcript.dirty:
            self.buffer.apply(self._transcript.take()[0])
        assert self._transcript.unread == 0
        return self.buffer.text


async def play(name: str, seed: int | None) -> list[Screen]:
    screens: list[Screen] = []
    player = Player(
        TRANSCRIPTS / name, watch=lambda store, session: screens.append(Screen(store, session, seed))
    )
    await player.play()
    return screens


def shortened(lines: Sequence[str]) -> list[str]:
    cut = [line if len(line) <= 200 else f"{line[:160]}… {len(line)} characters" for line in lines]
    if len(cut) <= 4 * ENDS:
        return cut
    return [*cut[:ENDS], f"… {len(cut) - 2 * ENDS} more lines", *cut[-ENDS:]]


@pytest.mark.parametrize("name", NAMES)
async def test_a_recording_becomes_the_expected_text(name: str) -> None:
    screens = await play(name, None)
    lines: list[str] = []
    for number, screen in enumerate(screens, 1):
        text = screen.finish()
        lines += [f"== session {number}", *shortened(text.split("\n"))]
        lines += ["-- folded", *shortened(screen.buffer.screen())]
    actual = "\n".join(line.rstrip() for line in lines) + "\n"
    expected = HERE / "expected" / "buffers" / Path(name).with_suffix(".txt").name
    if not expected.exists():
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(actual, encoding="utf-8")
        pytest.fail(f"{expected.name} was written: read it, then run again")
    assert actual == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
async def test_frames_in_between_lead_to_the_same_text(name: str) -> None:
    whole = [screen.finish() for screen in await play(name, None)]
    for seed in range(3):
        assert [screen.finish() for screen in await play(name, seed)] == whole
