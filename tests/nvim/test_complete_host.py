"""Completion of paths with the real host."""

from __future__ import annotations

import subprocess

from tests.plugin import Screen, StartScreen, eventually


def offered(screen: Screen) -> list[str]:
    info = screen.funcs.complete_info(["items", "pum_visible"])
    return [item["word"] for item in info["items"] if item["user_data"]] if info["pum_visible"] else []


def test_files_of_the_project_are_offered(start_screen: StartScreen) -> None:
    screen = start_screen(size=(140, 32))
    for name in ("src/app.py", "src/a b.py", "ignored/x.py", "notes.md"):
        path = screen.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (screen.cwd / ".gitignore").write_text("ignored/\n")
    subprocess.run(["git", "init", "-q"], cwd=screen.cwd, check=True)
    screen.command("AcpChat demo")
    eventually(lambda: screen.lua("return require('acp').status().state") == "idle")
    screen.keys("@")
    eventually(lambda: "@src/" in offered(screen), message=lambda: str(offered(screen)))
    assert "@notes.md" in offered(screen)
    assert "@ignored/" not in offered(screen)
    screen.keys("sa")
    eventually(
        lambda: offered(screen) == ['@"src/a b.py"', "@src/app.py"], message=lambda: str(offered(screen))
    )
    screen.keys("<C-n><C-y>")
    eventually(lambda: screen.lines() == ['@"src/a b.py"'])
    screen.keys("<C-u>/he")
    eventually(lambda: offered(screen) == ["/help"])
    assert screen.messages().strip() == ""
