"""open_buffers, diagnostics, selection: of the project alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.service.tools.desk import ALLOW, REJECT, Desk, desk

pytestmark = pytest.mark.anyio


def found(made: Desk, name: str, **more: Any) -> dict[str, Any]:
    return {"path": name if name.startswith("/") else str(made.ws / name), **more}


async def test_buffers_of_the_project(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        (made.ws / "out").symlink_to(made.base)
        made.editor.said["buffers"] = [
            found(made, "a.txt", modified=True, current=True),
            found(made, "/etc/passwd", modified=False, current=False),
            found(made, "out/b.txt", modified=False, current=False),
            found(made, "src/c.txt", modified=False, current=False),
        ]
        assert json.loads(await made.use("open_buffers")) == [
            {"path": "a.txt", "modified": True, "current": True},
            {"path": "src/c.txt", "modified": False, "current": False},
        ]
        made.editor.said["buffers"] = {}  # Lua's empty table
        assert await made.use("open_buffers", {}) == "(no file of the project is open)"
        assert await made.use("open_buffers", None) == "(no file of the project is open)"


async def test_diagnostics(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.git("init", "-q")
        made.file(".gitignore", "build/\n")
        made.file("a.py")
        names = ["a.py", ".env", "build/b.py", "/etc/c.py", ".git/config"]
        all_found = [found(made, name, line=1, message=f"of {name}") for name in names]
        made.editor.said["diagnostics"] = {"loaded": True, "more": True, "found": all_found}
        told, _, more = (await made.use("diagnostics")).rpartition("\n")
        assert json.loads(told) == [{"path": "a.py", "line": 1, "message": "of a.py"}]
        assert more == "(there are more)"
        assert made.asked == []
        made.editor.said["diagnostics"] = {"loaded": True, "more": False, "found": all_found[:1]}
        assert json.loads(await made.use("diagnostics", path="a.py"))[0]["message"] == "of a.py"
        assert made.editor.wanted[-1] == ("diagnostics", str(made.ws / "a.py"), 200)
        made.editor.said["diagnostics"] = {"loaded": False, "more": False, "found": {}}
        assert "is not open" in await made.use("diagnostics", path="a.py")
        made.editor.said["diagnostics"] = {"loaded": True, "more": False, "found": {}}
        assert await made.use("diagnostics") == "(none)"
        made.answer = REJECT
        assert "rejected" in await made.use("diagnostics", path=".env")
        assert "not a file of the project" in await made.use("diagnostics", path="/etc/c.py")


async def test_the_selection(tmp_path: Path) -> None:
    async with desk(tmp_path) as made:
        made.editor.said["selection"] = found(made, "a.py", line=3, column=1, text="half \ud83d")
        assert json.loads(await made.use("selection")) == {
            "path": "a.py",
            "line": 3,
            "column": 1,
            "text": "half \ufffd",
        }
        assert (made.row.locations[0].path, made.row.locations[0].line) == (str(made.ws / "a.py"), 3)
        made.editor.said["selection"] = found(made, "/etc/passwd", line=1, column=1, text="root")
        assert await made.use("selection") == "(the file that is shown is not one of the project)"
        made.editor.said["selection"] = {}
        assert await made.use("selection") == "(no file is shown)"
        made.editor.said["selection"] = found(made, ".env", line=1, column=1, text="KEY")
        made.answer = REJECT
        assert "KEY" not in await made.use("selection")
        made.answer = ALLOW
        assert "KEY" in await made.use("selection")
