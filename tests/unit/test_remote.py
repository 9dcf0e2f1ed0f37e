"""The file that pynvim loads (rplugin/python3/acp_remote.py)."""

from __future__ import annotations

import gc
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

REMOTE = Path(__file__).parents[2] / "rplugin/python3/acp_remote.py"


@pytest.fixture
def without_gc() -> Iterator[None]:
    """As boot.py leaves it to whoever loads the host."""
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


@pytest.mark.usefixtures("without_gc")
def test_garbage_is_collected_when_the_host_is_loaded_or_cannot_be() -> None:
    runpy.run_path(str(REMOTE))["AcpRemote"](None)
    assert gc.isenabled()
