"""The host's start: the user waits for it, so nothing of what they do not use is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PYTHON = str(Path(__file__).resolve().parents[3] / "python")

CODE = """
import sys
sys.path.insert(0, sys.argv[1])
import acp_nvim.host
print([name for name in sys.modules if name.startswith("acp_nvim.") and "acp_v2" in name])
from acp_nvim.wire.acp_v1 import codecs
def made():
    all_ = [(name, each) for name, each in vars(codecs).items() if isinstance(each, codecs.Codec)]
    return [name for name, each in all_ if each._strict is not None]
print(made())
codecs.DONE.decode(b"{}")
print(made())
"""


def test_nothing_of_version_2_is_loaded_and_no_decoder_made_before_it_is_needed() -> None:
    done = subprocess.run([sys.executable, "-c", CODE, PYTHON], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]", "['DONE']"]
