"""A picture of the project, made without any library, and a link to a file."""

from __future__ import annotations

import base64
import mimetypes
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from .peer import Json
from .project import DemoError
from .turn import Turn

BARS = 8
WIDTH, HEIGHT = 320, 160  # pixels
PAPER, INK = (250, 250, 245), ((38, 84, 124), (6, 132, 110), (214, 108, 20), (140, 60, 120))


async def show(turn: Turn) -> None:
    """The largest files as bars, and a link to the largest."""
    async with turn.call("read", "sizes of files") as call:
        sizes = {path: path.stat().st_size async for path in turn.project.files()}
        largest = sorted(sizes, key=lambda path: (-sizes[path], path))[:BARS]
        if not largest:
            raise DemoError("There are no files here to draw.")
        await call.update("completed", rawOutput={"files": len(sizes)})
    shown = ", ".join(f"`{turn.project.show(path)}` ({sizes[path]:,} bytes)" for path in largest)
    await turn.say(f"The largest files here, from the left: {shown}.")
    await turn.show(picture([sizes[path] for path in largest]))
    await turn.show(link(turn, largest[0], sizes[largest[0]]))
    await turn.say(f"`<CR>` on the lines above opens the picture and {turn.project.show(largest[0])}.")


def picture(values: Sequence[int]) -> Json:
    """An image block with one bar for each value."""
    data = base64.b64encode(png(values)).decode()
    return {"type": "image", "mimeType": "image/png", "data": data}


def link(turn: Turn, path: Path, size: int) -> Json:
    """A resource link to a file."""
    found: Json = {"type": "resource_link", "uri": path.as_uri(), "name": turn.project.show(path)}
    mime, _ = mimetypes.guess_type(path.name)
    return {**found, "size": size, **({} if mime is None else {"mimeType": mime})}


def png(values: Sequence[int]) -> bytes:
    """Bars of these heights as a PNG file: its signature, then header, rows and end as chunks."""
    slot = WIDTH // len(values)
    tops = [HEIGHT - max(2, value * (HEIGHT - 16) // max(*values, 1)) for value in values]
    rows = bytearray()
    for y in range(HEIGHT):
        rows.append(0)  # the row is not filtered
        for x in range(WIDTH):
            bar, within = divmod(x, slot)
            drawn = bar < len(values) and slot // 8 <= within < slot - slot // 8 and y >= tops[bar]
            rows.extend(INK[bar % len(INK)] if drawn else PAPER)
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)  # 8 bits for each of red, green, blue
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
