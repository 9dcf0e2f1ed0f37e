"""Fixtures of several files of tests in Neovim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.diff_kit import LIVED_IN, Desk, MakeDesk, desk, edit, question
from tests.plugin import StartScreen


@pytest.fixture
def make_desk(start_screen: StartScreen, agent: MakeAgent, short_tmp: Path) -> MakeDesk:
    """Begin a chat whose agent asks about a change, or does what is given."""

    def start(actions: Sequence[Any] | None = None, **options: Any) -> Desk:
        given = question(edit()) if actions is None else actions
        return desk(start_screen, agent, given, short_tmp, **{"init": LIVED_IN, **options})

    return start
