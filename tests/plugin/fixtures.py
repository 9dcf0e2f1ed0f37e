"""The fixtures: ``nvim``, ``screen``, and the factories behind them for other options."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from .neovim import Neovim, Options
from .processes import none_left
from .screen import Screen

N = TypeVar("N", bound=Neovim)

StartNvim = Callable[..., Neovim]
StartScreen = Callable[..., Screen]


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests (``@pytest.mark.anyio``) run on asyncio, as the host does."""
    return "asyncio"


@pytest.fixture
def short_tmp() -> Iterator[Path]:
    """A folder with a short path: sockets live in it, and pytest's own folders are too deep for them."""
    folder = Path(tempfile.mkdtemp(prefix="acp-")).resolve()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _factory(kind: type[N], folder: Path, started: list[Neovim]) -> Callable[..., N]:
    def start(**options: Any) -> N:
        own = folder / f"n{len(started)}"
        own.mkdir(exist_ok=True)  # a test may have put something there
        editor = kind(Options(folder=own, **options))
        started.append(editor)
        return editor

    return start


@pytest.fixture
def _started() -> Iterator[list[Neovim]]:
    """All Neovims of this test: killed at its end; then no process of theirs may be alive."""
    started: list[Neovim] = []
    yield started
    failures: list[AssertionError] = []
    for editor in reversed(started):
        for check in (editor.close, lambda marker=editor.marker: none_left(marker)):
            try:
                check()
            except AssertionError as error:
                failures.append(error)
    if failures:
        raise failures[0]


@pytest.fixture
def start_nvim(short_tmp: Path, _started: list[Neovim]) -> StartNvim:
    """Return a function that starts a headless Neovim with the fields of ``Options`` as keywords."""
    return _factory(Neovim, short_tmp, _started)


@pytest.fixture
def start_screen(short_tmp: Path, _started: list[Neovim]) -> StartScreen:
    """Return a function that starts a Neovim with a screen, with the fields of ``Options`` as keywords."""
    return _factory(Screen, short_tmp, _started)


@pytest.fixture
def nvim(start_nvim: StartNvim) -> Neovim:
    """A headless Neovim with the plugin."""
    return start_nvim()


@pytest.fixture
def screen(start_screen: StartScreen) -> Screen:
    """A Neovim with the plugin and a screen of 80 by 24 cells."""
    return start_screen()
