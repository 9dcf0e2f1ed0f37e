"""What the user sends: the words of the prompt buffer, and with them what they mention or have marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.content import Block, Text

from .payloads import Context, Spot


@dataclass(slots=True, eq=False)
class Prompt:
    """What the user sent. ``text`` is exactly what stood in the prompt buffer; ``spot``: where they were."""

    text: str
    context: Sequence[Context] = ()
    spot: Spot | None = None
    id: int = 0  # the number of its send
    waited: bool = False  # while a turn ran: should that turn fail, the user may want to change it
    steering: bool = False  # the agent is asked to take it into the running turn
    goes_on: bool = False  # nothing is said: what an old turn was left with is asked


@dataclass(frozen=True, slots=True)
class Along:
    """What goes along with the words: as the agent gets it, and as the transcript knows it."""

    sent: Block
    shown: Block


def arrange(text: str, along: Sequence[Along]) -> tuple[list[Block], list[Block]]:
    """Blocks to send and to show: context first (V1-69), then the words, but a command begins (V1-155)."""
    said = [Block.of_text(text)] if text else []
    sent, shown = [each.sent for each in along], [each.shown for each in along]
    if text.startswith("/"):
        return [*said, *sent], [*said, *shown]
    return [*sent, *said], [*shown, *said]


def given(context: Context, info: AgentInfo | None) -> Along:
    """Lines of a file that were given with the text."""
    lines = f":{context.first}" if context.first is not None else ""
    if context.last not in (None, context.first):
        lines += f"-{context.last}"
    uri = uri_of(context.path, context.first, context.last) if context.path.startswith("/") else None
    return text_along(context.text, f"{context.path}{lines}", uri, info)


def text_along(
    text: str, where: str, uri: str | None, info: AgentInfo | None, *, name: str | None = None, mime: str = ""
) -> Along:
    """A text: embedded where the agent takes that (V1-69), else as words that say where it is from.

    ``name``: how the user has mentioned it.
    """
    shown = Block("resource", uri=uri, mime=mime or "text/plain", name=name or where, text=Text(text))
    if uri is not None and info is not None and info.embedded_context:
        return Along(shown, shown)
    # Where it is shown nevertheless, what the transcript has of it is the mention, or a line.
    return Along(Block("text", text=Text(fenced(where, text)), audience=("assistant",)), shown)


def uri_of(path: str, first: int | None = None, last: int | None = None) -> str:
    """The ``file:`` address of an absolute path, with its lines (V1-100)."""
    fragment = f"#L{first}-L{first if last is None else last}" if first is not None else ""
    return Path(path).as_uri() + fragment


def fenced(where: str, text: str) -> str:
    """A text between fences, which are longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{where}\n{fence}\n{text}\n{fence}\n"
