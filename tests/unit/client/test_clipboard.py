"""The picture in the clipboard: by the program of the session, and what is told when there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from acp_nvim.client import clipboard
from acp_nvim.client.clipboard import ClipboardError, picture, tools_of
from acp_nvim.process.spawn import Spawner

pytestmark = pytest.mark.anyio

PNG = r"\211PNG\r\n\032\n"
WAYLAND = {"WAYLAND_DISPLAY": "wayland-1"}
X11 = {"DISPLAY": ":0"}


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$0 $*" >>"{folder}/log"\n{script}\n')
    path.chmod(0o755)


@asynccontextmanager
async def session(folder: Path, environment: Mapping[str, str]) -> AsyncIterator[Spawner]:
    made = Spawner({"PATH": f"{folder}:/usr/bin:/bin", **environment})
    try:
        yield made
    finally:
        await anyio.to_thread.run_sync(made.reaper.close)


@pytest.mark.parametrize(
    ("environment", "platform", "names"),
    [
        ({}, "linux", []),
        (X11, "linux", ["xclip"]),
        (WAYLAND, "linux", ["wl-paste"]),
        ({**X11, **WAYLAND}, "linux", ["wl-paste", "xclip"]),
        ({**X11, "WAYLAND_DISPLAY": ""}, "linux", ["xclip"]),
        (X11, "darwin", ["pngpaste"]),
    ],
)
def test_the_program_of_the_session(environment: dict[str, str], platform: str, names: list[str]) -> None:
    assert [each.read[0] for each in tools_of(environment, platform)] == names


@pytest.mark.parametrize(
    ("types", "suffix", "asked"),
    [
        ("text/html image/jpeg image/png", ".png", "image/png"),
        ("image/webp", ".png", "image/webp"),  # what it says decides
    ],
)
async def test_wayland(tmp_path: Path, types: str, suffix: str, asked: str) -> None:
    script = f"case $1 in --list-types) printf '%s\\n' {types};; *) printf '{PNG}x';; esac"
    program(tmp_path, "wl-paste", script)
    async with session(tmp_path, WAYLAND) as made:
        assert await picture(made, str(tmp_path), "linux") == (suffix, b"\x89PNG\r\n\x1a\nx")
    said = (tmp_path / "log").read_text().splitlines()
    assert said[0].endswith("/wl-paste --list-types")
    assert said[1].endswith(f"wl-paste --no-newline --type {asked}")


async def test_x11_where_wayland_has_no_program(tmp_path: Path) -> None:
    script = f"case $5 in TARGETS) printf 'TARGETS\\nimage/png\\n';; *) printf '{PNG}';; esac"
    program(tmp_path, "xclip", script)
    spawner = Spawner({"PATH": f"{tmp_path}:/bin", **WAYLAND, **X11})
    try:
        if (Path("/bin") / "wl-paste").exists():
            pytest.skip("this machine has wl-paste")
        assert (await picture(spawner, str(tmp_path), "linux"))[0] == ".png"
    finally:
        await anyio.to_thread.run_sync(spawner.reaper.close)


@pytest.mark.parametrize(
    ("environment", "script", "problem"),
    [
        ({}, "", "no clipboard here: neither WAYLAND_DISPLAY nor DISPLAY is set"),
        (X11, None, "xclip is missing, to paste pictures: install xclip"),
        (X11, "echo TARGETS; echo UTF8_STRING", "the clipboard holds no picture"),
        (X11, "exit 1", "the clipboard holds no picture"),
        (X11, "echo image/png", "the clipboard holds no picture"),
        (X11, "sleep 100", "xclip does not answer"),
        (
            X11,
            "case $5 in TARGETS) echo image/png;; *) head -c 12000000 /dev/zero;; esac",
            "the picture in the clipboard is larger than 10 MB",
        ),
    ],
)
async def test_no_picture(
    tmp_path: Path,
    environment: dict[str, str],
    script: str | None,
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clipboard, "SECONDS", 0.3 if script == "sleep 100" else 20.0)
    if script is not None:
        program(tmp_path, "xclip", script)
    path = f"{tmp_path}:/usr/bin:/bin" if script else str(tmp_path)
    made = Spawner({"PATH": path, **environment})
    try:
        with pytest.raises(ClipboardError) as caught:
            await picture(made, str(tmp_path), "linux")
    finally:
        await anyio.to_thread.run_sync(made.reaper.close)
    assert str(caught.value) == problem
