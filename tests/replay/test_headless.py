"""Recorded traffic of real agents -> the transcript of a real Neovim, through ``python -m acp_nvim.replay``.

``expected/headless/<name>.txt`` was read line by line. To take over a wanted change: delete the file, run the
test (it writes the file and fails), read the file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plugin import ROOT, find_binary

pytestmark = pytest.mark.timeout(150)  # a Neovim and its host start

HERE = Path(__file__).parent
NAMES = ("gemini-edit", "gemini-cancelshell", "opencode-multi", "variants/opencode-edit.load")


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_replayed(name: str, short_tmp: Path) -> None:
    argv = [sys.executable, "-m", "acp_nvim.replay", str(HERE / f"transcripts/{name}.jsonl"), "--no-delay"]
    done = subprocess.run(
        [*argv, "--headless", "-", "--nvim", find_binary()],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "TMPDIR": str(short_tmp)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    actual = "\n".join(re.sub(r"\d+(\.\d)? s\b", "0 s", line).rstrip() for line in done.stdout.split("\n"))
    expected = HERE / "expected/headless" / f"{Path(name).name}.txt"
    if not expected.exists():
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(actual, encoding="utf-8")
        pytest.fail(f"{expected.name} was written: read it, then run again")
    assert actual == expected.read_text(encoding="utf-8")
    assert list(short_tmp.iterdir()) == []
