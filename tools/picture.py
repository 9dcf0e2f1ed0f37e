"""Draw screens of a test Neovim as SVG: what the user sees, as text with its colours.

``python tools/picture.py [NAME ...]`` writes ``doc/img/NAME.svg`` of the scenes named, or of all.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.plugin.neovim import Options
from tests.plugin.poll import PATIENCE, eventually
from tests.plugin.screen import Screen
from tools import demo
from tools.stage import ROOT, build

from acp_nvim.replay.neovim import find_neovim

CELL = (8.4, 18.0)
"""Width and height of a cell in pixels, for a font of 14."""
BASELINE = 13.5
MARGIN = 10.0
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

HALF = "\0"
WORD = re.compile(r"[^ ]+(?: [^ ]+)*")

SIZE = (116, 34)
CLOCK = re.compile(r"(?<=── done) in \d+ s\b")
"""What is seen of the time it took, which is another one each time: taken out."""

EDIT = "replace year % 4 == 0 by year % 4 == 0 and year % 100 != 0 in leap.py"


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring cells of one look. ``col`` and ``width`` in cells.

    ``words``: first cell, number of cells, and text of each piece without two blanks in a row, placed by
    itself, so that a font whose blanks are narrower does not shift what follows.
    """

    row: int
    col: int
    width: int
    look: dict[str, Any]
    words: list[tuple[int, int, str]]


def runs(screen: Screen) -> Iterator[Run]:
    """The rows of a screen in pieces of one look each."""
    for row in range(screen.height):
        cells = screen.cells[row]
        looks = [screen.attr_at(row, col) for col in range(screen.width)]
        numbered = list(enumerate(looks))
        for _, group in itertools.groupby(numbered, key=_look_of):
            columns = [col for col, _ in group]
            # The right half of a wide character is an empty cell: a mark that stands for one cell.
            text = "".join(cells[col][0][:1] or HALF for col in columns)
            full = {at: cells[col][0] for at, col in enumerate(columns)}
            words = [
                (columns[0] + found.start(), len(found[0]), "".join(full[at] for at in range(*found.span())))
                for found in WORD.finditer(text)
            ]
            yield Run(row, columns[0], len(columns), looks[columns[0]], words)


def _look_of(numbered: tuple[int, dict[str, Any]]) -> str:
    return str(numbered[1])


def svg(screen: Screen) -> str:
    """The screen as an SVG document. Each run is stretched to its cells, so any monospace font does."""
    foreground = screen.default_colors.get("foreground", 0xE0E2EA)
    background = screen.default_colors.get("background", 0x14161B)
    width, height = screen.width * CELL[0] + 2 * MARGIN, screen.height * CELL[1] + 2 * MARGIN
    boxes, texts = [], []
    for run in runs(screen):
        front = run.look.get("foreground", foreground)
        back = run.look.get("background", background)
        if run.look.get("reverse"):
            front, back = back, front
        x, y = MARGIN + run.col * CELL[0], MARGIN + run.row * CELL[1]
        if back != background:
            box = f'x="{x:g}" y="{y:g}" width="{run.width * CELL[0]:g}" height="{CELL[1]:g}"'
            boxes.append(f'<rect {box} fill="#{back:06x}"/>')
        colour = "" if front == foreground else f' fill="#{front:06x}"'
        for col, cells, text in run.words:
            place = f'x="{MARGIN + col * CELL[0]:g}" y="{y + BASELINE:g}" textLength="{cells * CELL[0]:g}"'
            texts.append(f"<text {place}{colour}{_style(run.look)}>{escape(text)}</text>")
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    paper = f'<rect width="100%" height="100%" rx="6" fill="#{background:06x}"/>'
    words = f'<g font-family="{FONT}" font-size="14" fill="#{foreground:06x}" xml:space="preserve">'
    return "\n".join([head, paper, *boxes, words, *texts, "</g>", "</svg>", ""])


def _style(look: dict[str, Any]) -> str:
    """The attributes of a look that are not colours."""
    style = ' font-weight="bold"' if look.get("bold") else ""
    style += ' font-style="italic"' if look.get("italic") else ""
    if look.get("underline") or look.get("undercurl"):
        style += ' text-decoration="underline"'
    elif look.get("strikethrough"):
        style += ' text-decoration="line-through"'
    return style


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture: settings, the file that is open, and what a user does.

    ``steps``: keys, and texts to wait for after them. The keys ``ANSWER`` answer the open question.
    """

    settings: str
    file: str
    steps: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


ANSWER = ("1",)
BESIDE = "require('acp').setup({ diff = { layout = 'none' } })"
"""The chat and its question in one picture: without the diff's windows."""
CARD = ("keeps it open",)
SHORT = "replace year % 4 == 0 by not year % 4 in leap.py"

SCENES = {
    "chat": Scene(
        BESIDE,
        "leap.py",
        (
            ((EDIT, "<C-s>"), CARD),
            (ANSWER, ("── done",)),
            (("run python3 -m unittest -q", "<C-s>"), CARD),
            (ANSWER, ("ran without errors",)),
            (("Why does @leap.py:4-6",), ("3 lines", "demo  ready")),
        ),
    ),
    "question": Scene(BESIDE, "leap.py", (((EDIT, "<C-s>"), CARD),)),
    "diff": Scene("require('acp').setup({})", "leap.py", (((EDIT, "<C-s>"), ("keeps open",)),)),
    "follow": Scene(
        BESIDE,
        "README.md",
        (
            (("<Esc>", ":AcpFollow on<CR>"), ("◆ follow",)),
            (("i",), ("INSERT",)),
            ((SHORT, "<C-s>"), CARD),
            (ANSWER, ("demo edits", "── done")),
        ),
    ),
}
"""The pictures of the documentation by name."""


def _has_all(parts: tuple[str, ...], text: str) -> bool:
    return all(part in text for part in parts)


def _take_times_out(screen: Screen) -> None:
    for row in screen.cells:
        found = CLOCK.search("".join(text[:1] or HALF for text, _ in row))
        if found:
            row[found.start() : found.end()] = []
            row.extend([(" ", 0)] * (found.end() - found.start()))


def _is_lit(screen: Screen) -> bool:
    """Whether a line has just been lit up, for a moment."""
    places = ((row, col) for row in range(screen.height) for col in range(screen.width))
    return any("AcpFollowLine" in screen.groups_at(*place) for place in places)


def draw(scene: Scene) -> str:
    """Play a scene with the demo agent and draw the last screen."""
    with tempfile.TemporaryDirectory(prefix="acp-") as name:
        stage = build(Path(name, "stage"), 0.0)
        folder = stage.folder / "nvim"
        project = stage.project.rename(_made(folder / "home") / "leap")  # shown as ~/leap
        init = f"{stage.init}\n{scene.settings}\nvim.o.showtabline = 0\nvim.o.termguicolors = true\n"
        screen = Screen(
            Options(
                folder=folder,
                size=SIZE,
                cwd=project,
                init=init,
                files=(scene.file,),
                binary=find_neovim(),
            )
        )
        try:
            screen.wait("ready")
            for keys, shown in scene.steps:
                if keys is ANSWER:
                    demo.press(screen, "1", PATIENCE, demo.has_focus)
                else:
                    screen.keys(*keys)
                screen.wait(functools.partial(_has_all, shown))
            if scene.file == "README.md":
                eventually(lambda: not _is_lit(screen), message="a line stays lit up")
            _take_times_out(screen)
            return svg(screen)
        finally:
            screen.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(SCENES)}; default: all")
    parser.add_argument("--folder", type=Path, default=ROOT / "doc/img")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(SCENES)):
        parser.error(f"there is no scene {', '.join(unknown)}; there are {', '.join(SCENES)}")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or SCENES:
        picture = draw(SCENES[name])
        file = options.folder / f"{name}.svg"
        file.write_text(picture, encoding="utf-8")
        sys.stdout.write(f"{file}: {len(picture):,} characters\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
