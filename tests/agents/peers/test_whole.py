"""Together the agents have used all of the stable protocol. Runs last, after all others of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.peers.exercised import SCHEMAS, Exercised, Word, methods, missing, words

pytestmark = [pytest.mark.agents]

METHODS: dict[int, dict[str, str]] = {1: {}, 2: {}}
"""Methods of a version that none of its agents uses, and why."""

WORDS: dict[int, dict[Word, str]] = {1: {}, 2: {}}
"""Words of the schema that none of them says or hears, and why."""

each_version = pytest.mark.parametrize("version", SCHEMAS)


@pytest.fixture
def whole(
    request: pytest.FixtureRequest, exercised: dict[int, Exercised], ran: set[str]
) -> dict[int, Exercised]:
    """What was used, if all tests of this folder were asked for and ran in this process: of a part of them
    nothing can be said.
    """
    others = {path.name for path in Path(__file__).parent.glob("test_*.py")} - {Path(__file__).name}
    narrowed = request.config.getoption("keyword") or hasattr(request.config, "workerinput")
    if narrowed or ran != others:
        pytest.skip("only some of the tests with the SDKs were run")
    return exercised


@each_version
def test_every_method_is_used(whole: dict[int, Exercised], version: int) -> None:
    assert missing(methods(SCHEMAS[version]), whole[version].methods) == sorted(METHODS[version])


@each_version
def test_every_word_is_said(whole: dict[int, Exercised], version: int) -> None:
    assert missing(words(SCHEMAS[version]), whole[version].words) == sorted(WORDS[version])
