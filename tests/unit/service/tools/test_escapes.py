"""No path, however it is written, tells of a file that takes the user's word."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio
from hypothesis import example, given
from hypothesis import strategies as st
from tests.plugin import examples
from tests.unit.service.tools.desk import REJECT, Desk, desk

SEGMENTS = [
    "..",
    ".",
    "",
    "src",
    "out",
    "up",
    "ws",
    "other",
    "x.txt",
    ".env",
    "b.txt",
    "env.txt",
    ".ENV",
    "KEY.pem",
]
PATHS = st.tuples(st.sampled_from(["", "/", "@", "~/"]), st.lists(st.sampled_from(SEGMENTS), max_size=7))
CALLS = st.tuples(st.sampled_from(["read_file", "search_files", "list_files", "edit_file"]), PATHS)


def project(made: Desk) -> None:
    for name in (".env", "src/.env", "KEY.pem"):
        made.file(name, "hush\n")
    made.file("src/b.txt", "fine\n")
    (made.base / "other").mkdir()
    (made.base / "other/x.txt").write_text("hush\n")
    (made.ws / "out").symlink_to(made.base / "other")
    (made.ws / "src/up").symlink_to("../..")
    (made.ws / "src/env.txt").symlink_to("../.env")


async def use(made: Desk, tool: str, path: str) -> None:
    fields = {"search_files": {"pattern": "hush"}, "edit_file": {"old_text": "hush", "new_text": "loud"}}
    said = await made.use(tool, path=path, **fields.get(tool, {}))
    assert "hush" not in said, (tool, path)
    assert "hush" not in made.shown


@examples(12)
@example([("read_file", ("", ["src", "up", "other", "x.txt"])), ("read_file", ("@", ["src", "..", ".env"]))])
@given(st.lists(CALLS, min_size=10, max_size=40))
def test_no_path_leads_out(calls: list[tuple[str, tuple[str, list[str]]]]) -> None:
    async def main() -> None:
        with tempfile.TemporaryDirectory() as base:
            async with desk(Path(base)) as made:
                project(made)
                made.answer = REJECT
                for tool, (start, segments) in calls:
                    path = "/".join(segments) or "."
                    await use(made, tool, f"{made.ws}/{path}" if start == "@" else start + path)
                assert (made.base / "other/x.txt").read_text() == "hush\n"
                assert (made.ws / ".env").read_text() == "hush\n"

    anyio.run(main)
