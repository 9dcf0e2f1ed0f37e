"""What the user sends: the words of the prompt buffer, and pieces of files with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from acp_nvim.session.content import Block

from .payloads import Context


@dataclass(slots=True, eq=False)
class Prompt:
    """What the user sent. ``text`` is exactly what stood in the prompt buffer."""

    text: str
    context: Sequence[Context] = ()
    id: int = 0  # the number of its send
    waited: bool = False  # while a turn ran: should that turn fail, the user may want to change it
    steering: bool = False  # the agent is asked to take it into the running turn
    goes_on: bool = False  # nothing is said: what an old turn was left with is asked

    def blocks(self, embedded: bool) -> list[Block]:
        """The content blocks: context first (V1-69), then the user's words, but a command begins (V1-155)."""
        blocks = [_context_block(each, embedded) for each in self.context]
        said = [Block.of_text(self.text)] if self.text else []
        return [*said, *blocks] if self.text.startswith("/") else [*blocks, *said]


def _context_block(context: Context, embedded: bool) -> Block:
    """A piece of a file: embedded where the agent takes that (V1-69), else as text that names it."""
    where = context.path
    if context.first is not None:
        where += f":{context.first}" + (
            f"-{context.last}" if context.last not in (None, context.first) else ""
        )
    if embedded and context.path.startswith("/"):
        fragment = f"#L{context.first}-L{context.last}" if context.first is not None else ""
        block = Block("resource", uri=Path(context.path).as_uri() + fragment, mime="text/plain", name=where)
        block.text = Block.of_text(context.text).text
        return block
    fence = "```"
    while fence in context.text:
        fence += "`"
    return Block.of_text(f"{where}\n{fence}\n{context.text}\n{fence}\n")
