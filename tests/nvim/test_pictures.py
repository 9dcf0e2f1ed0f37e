"""``make pictures``: a scene is played in a real Neovim and drawn, the same each time."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from tests.plugin import ROOT
from tools.picture import SCENES, draw


def words(picture: str) -> list[str]:
    """What a reader sees, a line a row of the screen."""
    rows: dict[str, list[str]] = {}
    for element in ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}text"):
        rows.setdefault(element.attrib["y"], []).append(element.text or "")
    return [" ".join(parts) for _, parts in sorted(rows.items(), key=lambda row: float(row[0]))]


@pytest.mark.timeout(120)
def test_following_is_drawn_without_its_time() -> None:
    seen = words(draw(SCENES["follow"]))
    assert any("return not year % 4" in row and "demo edits" in row for row in seen), seen
    assert any("── done · 1 file" in row for row in seen), seen


def test_the_pictures_of_the_pages_are_those_of_the_scenes() -> None:
    assert {path.stem for path in (ROOT / "doc/img").glob("*.svg")} == set(SCENES)
