"""The picture in the clipboard, by the program of the session: wl-paste, xclip or pngpaste."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from acp_nvim.process.capture import Captured, capture
from acp_nvim.process.environment import LaunchError, find_command
from acp_nvim.process.spawn import Spawner
from acp_nvim.service.mentioned import PICTURES
from acp_nvim.text.media import media_of

from .seen import MEDIA_BYTES

#: Seconds a clipboard's program may take: its owner may be a program that does not answer.
SECONDS = 5.0
#: Bytes of a list of types.
_LIST_BYTES = 64 * 1024


class ClipboardError(Exception):
    """There is no picture; the text says why, and what helps."""


@dataclass(frozen=True, slots=True)
class Tool:
    """``types`` lists what there is (without it: PNG alone); ``read`` takes a type as last argument."""

    package: str
    read: tuple[str, ...]
    types: tuple[str, ...] = ()


_WAYLAND = Tool("wl-clipboard", ("wl-paste", "--no-newline", "--type"), ("wl-paste", "--list-types"))
_X11 = Tool(
    "xclip",
    ("xclip", "-selection", "clipboard", "-o", "-t"),
    ("xclip", "-selection", "clipboard", "-o", "-t", "TARGETS"),
)
_MAC = Tool("pngpaste", ("pngpaste", "-"))


def tools_of(environment: Mapping[str, str], platform: str = sys.platform) -> list[Tool]:
    """The programs that fit the session, best first."""
    if platform == "darwin":
        return [_MAC]
    tools = [_WAYLAND] if environment.get("WAYLAND_DISPLAY") else []
    return [*tools, _X11] if environment.get("DISPLAY") else tools


async def picture(spawner: Spawner, cwd: str, platform: str = sys.platform) -> tuple[str, bytes]:
    """The extension and the data of the picture in the clipboard. Raises ClipboardError."""
    environment = spawner.environment()
    tools = tools_of(environment, platform)
    if not tools:
        raise ClipboardError("no clipboard here: neither WAYLAND_DISPLAY nor DISPLAY is set")
    tool = next((each for each in tools if _is_there(each, cwd, environment)), None)
    if tool is None:
        names = " or ".join(each.read[0] for each in tools)
        packages = " or ".join(each.package for each in tools)
        raise ClipboardError(f"{names} is missing, to paste pictures: install {packages}")
    mime = "image/png"
    if tool.types:
        said = (await _run(spawner, tool.types, cwd, _LIST_BYTES)).output.decode("utf-8", "replace")
        offered = set(said.split())
        mime = next((each for each in PICTURES if each in offered), "")
        if not mime:
            raise ClipboardError("the clipboard holds no picture")
    argv = (*tool.read, mime) if tool.types else tool.read
    data = (await _run(spawner, argv, cwd, MEDIA_BYTES)).output
    for each in (mime, *PICTURES):
        media = media_of(each)
        if media is not None and media.starts.match(data):
            return media.suffix, data
    raise ClipboardError("the clipboard holds no picture")


async def _run(spawner: Spawner, argv: tuple[str, ...], cwd: str, limit: int) -> Captured:
    try:
        made = await capture(spawner, argv, cwd=cwd, limit=limit, seconds=SECONDS)
    except LaunchError as error:
        raise ClipboardError(str(error)) from error
    if made.cut:
        raise ClipboardError(f"the picture in the clipboard is larger than {limit // 1024 // 1024} MB")
    if made.code is None:
        raise ClipboardError(f"{argv[0]} does not answer")
    return made


def _is_there(tool: Tool, cwd: str, environment: Mapping[str, str]) -> bool:
    try:
        find_command(tool.read, cwd=cwd, path=environment.get("PATH", os.defpath))
    except LaunchError:
        return False
    return True
