"""Content blocks: wire <-> model (spec sections 4, 5 and 9)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from acp_nvim.session.content import Block, ToolContent, UnknownContent
from acp_nvim.wire.aap import messages as wire
from acp_nvim.wire.aap.meta import Image
from acp_nvim.wire.base import UnknownType

_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[^,;]*)*;base64,", re.IGNORECASE)


class UnsupportedBlockError(Exception):
    """The agent does not take this kind of block in a prompt."""


def image(block: wire.ImageBlock) -> Block:
    """A ``data:`` URI becomes its data; an address stays one."""
    found = _DATA.match(block.url)
    if found is None:
        return Block("image", uri=block.url)
    return Block("image", data=block.url[found.end() :], mime=found[1] or "image/png")


def in_order(content: Sequence[wire.ContentBlock]) -> list[wire.ContentBlock]:
    """The blocks of a stored message, thoughts first: the SDK stores them behind the text (AAP-71)."""
    return sorted(content, key=lambda each: not isinstance(each, wire.ThinkingBlock))


def tool_content(content: wire.Content) -> list[ToolContent]:
    """A tool's result as content of its row."""
    if isinstance(content, str):
        return [Block.of_text(content)] if content else []
    made: list[ToolContent] = []
    for each in content:
        match each:
            case wire.TextBlock(text=text) | wire.ThinkingBlock(thinking=text):
                made.append(Block.of_text(text))
            case wire.ImageBlock():
                made.append(image(each))
            case wire.ToolUseBlock():
                made.append(UnknownContent({"type": "tool_use", "name": each.name, "input": each.input}))
            case UnknownType():
                made.append(UnknownContent(each.raw))
    return made


def user_message(blocks: Sequence[Block], takes: Image | None) -> wire.UserMessage:
    """A prompt. Resources do not exist, so their text was put into the words before (AAP-32..34).

    Raises UnsupportedBlockError.
    """
    made = [_prompt_block(block, takes or Image()) for block in blocks]
    if len(made) == 1 and isinstance(made[0], wire.TextBlock):
        return wire.UserMessage(made[0].text)
    return wire.UserMessage(made)


def _prompt_block(block: Block, takes: Image) -> wire.ContentBlock:
    if block.type == "text":
        return wire.TextBlock(str(block.text))
    if block.type == "image" and block.data and takes.data is not None:
        return wire.ImageBlock(f"data:{block.mime or 'image/png'};base64,{block.data}")
    if block.type == "image" and (block.uri or "").startswith("https://") and takes.http is not None:
        return wire.ImageBlock(block.uri or "")
    raise UnsupportedBlockError(f"the agent takes no {block.type} in a prompt")
