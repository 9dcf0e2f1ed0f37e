"""Pasted pictures: private, bounded, and there as long as a prompt may need them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from acp_nvim.service import pasted
from acp_nvim.service.pasted import Pasted


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_user_can_read_them(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "pasted"
    folder.mkdir(parents=True, mode=0o777)
    made = Pasted(folder)
    one, two = made.put(".png", b"1"), made.put(".png", b"2")
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    assert {each.suffix for each in (one, two)} == {".png"}
    assert (mode(folder), mode(one)) == (0o700, 0o600)
    assert not any(char in one.name for char in " :#%@")


def test_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasted, "MOST_FILES", 4)
    monkeypatch.setattr(pasted, "MOST_BYTES", 250)
    made = Pasted(tmp_path)
    made.sweep()
    for _ in range(6):
        made.put(".png", b"x" * 50)
    assert len(list(tmp_path.iterdir())) == 4
    large = made.put(".png", b"x" * 240)
    assert list(tmp_path.iterdir()) == [large]
    old = large.rename(tmp_path / "old.png")
    os.utime(old, (1, 1))
    new = made.put(".png", b"x")
    assert list(tmp_path.iterdir()) == [new]


def test_the_newest_stays_however_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasted, "MOST_BYTES", 10)
    assert Pasted(tmp_path).put(".png", b"x" * 100).exists()
