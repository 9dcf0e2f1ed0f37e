"""Together the two agents have used all of the stable protocol. Runs last, after all others of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.peers.exercised import Exercised, methods, missing, words

pytestmark = [pytest.mark.agents]

METHODS: dict[str, str] = {}
"""Methods that none of the two uses, and why."""

WORDS: dict[tuple[str, str], str] = {}
"""Words of the schema that none of the two says or hears, and why."""


@pytest.fixture
def whole(request: pytest.FixtureRequest, exercised: Exercised) -> Exercised:
    """What was used, if all tests of this folder were asked for and ran in this process."""
    others = {path.name for path in Path(__file__).parent.glob("test_*.py")} - {Path(__file__).name}
    narrowed = request.config.getoption("keyword") or hasattr(request.config, "workerinput")
    if narrowed or exercised.tests != others:
        pytest.skip("only some of the tests with the SDKs were run")
    return exercised


def test_every_method_is_used(whole: Exercised) -> None:
    assert missing(methods(), whole.methods) == sorted(METHODS)


def test_every_word_is_said(whole: Exercised) -> None:
    assert missing(words(), whole.words) == sorted(WORDS)
