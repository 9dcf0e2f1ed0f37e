"""Files of what agents sent: private, and gone with their host."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from acp_nvim.service import saved
from acp_nvim.service.saved import Saved

ROOT = Path(saved.__file__).parents[2]

HOST = """
import os, sys
from pathlib import Path
from acp_nvim.service.saved import Saved, close_all
path = Saved(Path(sys.argv[1])).put('image', '.png', b'x')
print(path, flush=True)
sys.stdin.readline()
if sys.argv[2] == 'ends':
    close_all()
os._exit(0)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def other(base: Path, how: str) -> tuple[subprocess.Popen[str], Path]:
    """Another host that has saved a file."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOST, str(base), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        mine = Saved(tmp_path / "cache" / "acp.nvim")
        path = mine.put("image", ".png", b"data")
    finally:
        os.umask(old)
    assert path.read_bytes() == b"data"
    assert path.name.startswith("image-")
    assert path.suffix == ".png"
    assert (mode(path), mode(path.parent), mode(tmp_path / "cache" / "acp.nvim")) == (0o600, 0o700, 0o700)
    mine.close()
    assert list((tmp_path / "cache" / "acp.nvim").iterdir()) == []


def test_the_same_data_is_one_file_and_always_what_was_sent(tmp_path: Path) -> None:
    mine = Saved(tmp_path)
    path = mine.put("image", ".png", b"data")
    path.write_bytes(b"a viewer was here")
    assert mine.put("image", ".png", b"data") == path
    assert path.read_bytes() == b"data"
    target = tmp_path / "precious"
    target.write_text("mine")
    path.unlink()
    path.symlink_to(target)
    assert mine.put("image", ".png", b"data") == path
    assert target.read_text() == "mine"
    mine.close()


def test_a_folder_that_was_swept_away_is_made_again(tmp_path: Path) -> None:
    mine = Saved(tmp_path)
    first = mine.put("image", ".png", b"data")
    mine.close()
    second = mine.put("image", ".png", b"data")
    assert second.read_bytes() == b"data"
    assert first.parent != second.parent
    mine.close()


@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_what_other_hosts_left(tmp_path: Path, how: str) -> None:
    mine = Saved(tmp_path)
    kept = mine.put("image", ".png", b"mine")
    process, path = other(tmp_path, how)
    mine.sweep()
    assert path.exists(), "that host lives"
    process.communicate("\n")
    assert path.exists() == (how == "is killed")
    mine.sweep()
    assert not path.parent.exists()
    assert kept.exists()
    mine.close()


def test_only_folders_of_hosts_are_swept(tmp_path: Path) -> None:
    new, old, stranger = (tmp_path / name for name in ("content-new", "content-old", "other"))
    for folder in (new, old, stranger):
        folder.mkdir()
    os.utime(old, (time.time() - 3600,) * 2)
    Saved(tmp_path).sweep()
    Saved(tmp_path / "nothing").sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["content-new", "other"]
