"""Content blocks and places in files: wire <-> model (spec sections 9 and 11). The same in every version."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.content import Block, Location, Text
from acp_nvim.wire.acp_v1 import content as wire
from acp_nvim.wire.base import UnknownType


class UnsupportedBlockError(Exception):
    """The agent does not take this kind of block in a prompt."""


def block(content: wire.ContentBlock) -> Block:
    """A block of the model. An unknown type is kept, never dropped (V1-95, V1-97, V1-99)."""
    match content:
        case wire.TextContent():
            made = Block("text", text=Text(str(content.text)))
        case wire.ImageContent():
            made = Block("image", data=content.data, mime=content.mime_type, uri=content.uri)
        case wire.AudioContent():
            made = Block("audio", data=content.data, mime=content.mime_type)
        case wire.ResourceLink():
            made = Block(
                "link",
                uri=content.uri,
                name=content.name,
                mime=content.mime_type,
                title=content.title,
                description=content.description,
                size=content.size,
            )
        case wire.EmbeddedResource():
            resource = content.resource
            made = Block("resource", uri=resource.uri, mime=resource.mime_type)
            if resource.text is not None:
                made.text = Text(resource.text)
            else:
                made.data = resource.blob
        case UnknownType():
            return Block("unknown", raw=content.raw)
    annotations = content.annotations
    if annotations is not None and annotations.audience is not None:
        made.audience = tuple(annotations.audience)  # V1-101: who it is for; the view decides
    return made


def prompt_blocks(blocks: Sequence[Block], info: AgentInfo) -> list[wire.ContentBlock]:
    """The blocks of a prompt, only such as the agent takes (V1-68).

    A resource becomes a link where resources are not taken. Raises UnsupportedBlockError.
    """
    return [_prompt_block(each, info) for each in blocks]


def _prompt_block(block: Block, info: AgentInfo) -> wire.ContentBlock:
    match block.type:
        case "text":
            return wire.TextContent(text=str(block.text))
        case "resource" if info.embedded_context:
            text = str(block.text) if block.text is not None else None
            return wire.EmbeddedResource(
                resource=wire.ResourceContents(
                    uri=block.uri or "", text=text, blob=block.data, mime_type=block.mime
                )
            )
        case "link" | "resource" if block.uri:
            name = block.name or unquote(posixpath.basename(urlsplit(block.uri).path)) or block.uri
            return wire.ResourceLink(
                uri=block.uri, name=name, mime_type=block.mime, title=block.title, size=block.size
            )
        case "image" if info.image:
            return wire.ImageContent(data=block.data or "", mime_type=block.mime or "", uri=block.uri)
        case "audio" if info.audio:
            return wire.AudioContent(data=block.data or "", mime_type=block.mime or "")
        case _:
            raise UnsupportedBlockError(f"the agent takes no {block.type} in a prompt")


def location(path: str, line: int | None, cwd: str) -> Location:
    """A place in a file; line 0 says no line (V1-122, V1-125, V2-94)."""
    return Location(absolute(path, cwd), line or None)


def absolute(path: str, cwd: str) -> str:
    """Paths of display data should be absolute; where an agent forgets it they are the session's (V1-60).

    No file has a NUL in its name, and neither the system nor Neovim's functions take a name with one.
    """
    path = path.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return posixpath.join(cwd, path) if path and not posixpath.isabs(path) else path
