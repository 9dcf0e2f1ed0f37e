"""What a mention of the user's stands for, and how that is said beside it in the prompt (ui.md section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from acp_nvim.service.mentioned import Looked
from acp_nvim.session.agent import AgentInfo
from acp_nvim.text.mentions import Mention, Reading
from acp_nvim.view.content import size_text
from acp_nvim.view.look import plural

#: Bytes of a text that is put into a prompt, and of all of them; what is larger is named by a link.
TEXT_BYTES = 256 * 1024
ALL_TEXT_BYTES = 1024 * 1024
#: The same of pictures and sounds.
MEDIA_BYTES = 10 * 1024 * 1024
ALL_MEDIA_BYTES = 20 * 1024 * 1024

How = Literal["text", "link", "image", "audio", "words"]

#: Of an agent that is not connected yet nothing bad is said.
ABLE = AgentInfo("", embedded_context=True, image=True, audio=True)


class Seen(Struct, frozen=True):
    """``how``: what is sent; ``words``: no more than what stands there. ``facts`` say what it is.

    ``path`` and ``real`` of files; ``text`` of what is in no file, as far as it was asked for. ``quiet``:
    nothing is said of it: it need not be a mention at all.
    """

    mention: Mention
    reading: Reading
    how: How
    facts: str = ""
    why: str = ""
    path: str = ""
    real: str = ""
    first: int | None = None
    last: int | None = None
    size: int = 0
    mime: str = ""
    text: str | None = None
    where: str = ""
    quiet: bool = False

    @property
    def note(self) -> str:
        """``7 lines``, ``image, 84 kB``, ``no such file: sent as text``."""
        facts = ", ".join(part for part in (self.facts, self.why) if part)
        ends = {"link": ": sent as a link", "words": ": sent as text"}
        return facts + ends.get(self.how, "")


def unlinked(seen: Seen, info: AgentInfo) -> Seen:
    """A link, where the agent takes them."""
    return structs.replace(seen, how="link" if info.links else "words")


def of_file(
    mention: Mention,
    reading: Reading,
    looked: Looked,
    unsaved: Mapping[str, Any] | None,
    lines: int | None,
    info: AgentInfo,
) -> Seen:
    """A path. ``unsaved``: what the editor says of its buffer, ``lines``: how many the file has, if known."""
    seen = Seen(mention, reading, "text", why=looked.why, path=looked.path, real=looked.real)
    if unsaved is not None:
        return _of_buffer(seen, reading, int(unsaved["lines"]), int(unsaved["bytes"]))
    match looked.kind:
        case "missing":
            return structs.replace(seen, how="words", facts="no such file", quiet=not mention.clear)
        case "other":
            return structs.replace(seen, how="words", facts="cannot be read")
        case "folder":
            return unlinked(structs.replace(seen, facts="folder"), info)
        case "binary":
            what = "not UTF-8" if looked.mime else "binary"
            return unlinked(structs.replace(seen, facts=f"{what}, {size_text(looked.size)}"), info)
        case "image" | "audio" as kind:
            seen = structs.replace(seen, facts=f"{kind}, {size_text(looked.size)}", mime=looked.mime or "")
            taken = info.image if kind == "image" else info.audio
            if taken and looked.size <= MEDIA_BYTES:
                return structs.replace(seen, how=kind, size=looked.size)
            return unlinked(seen, info)
    embeds = info.embedded_context or not info.links
    if reading.first is not None:
        if lines is None:
            seen = structs.replace(seen, facts=size_text(looked.size), first=reading.first, last=reading.last)
            return unlinked(seen, info)
        seen = ranged(seen, reading, lines)
        return seen if embeds or seen.how == "words" else unlinked(seen, info)
    seen = structs.replace(seen, facts=size_text(looked.size), size=looked.size)
    return seen if embeds and looked.size <= TEXT_BYTES else unlinked(seen, info)


def ranged(seen: Seen, reading: Reading, lines: int) -> Seen:
    """Some lines of so many."""
    first, last = reading.first or 1, min(reading.last or lines, lines)
    if first > lines:
        return structs.replace(seen, how="words", facts=f"only {plural(lines, 'line')}")
    return structs.replace(seen, facts=plural(last - first + 1, "line"), first=first, last=last)


def _of_buffer(seen: Seen, reading: Reading, lines: int, size: int) -> Seen:
    """Unsaved edits go as the text they are: nobody else can know them."""
    if reading.first is not None:
        seen = ranged(seen, reading, lines)
    else:
        seen = structs.replace(seen, facts=size_text(size), size=size)
    return seen if seen.how == "words" else structs.replace(seen, facts=f"{seen.facts}, unsaved")


def of_word(mention: Mention, told: Mapping[str, Any], why: str = "") -> Seen:
    """A word of our own: what the editor says of it (``acp.context.of``), or that there is nothing.

    ``why``: what to be warned of, if it is of a file.
    """
    reading = mention.plain
    if told.get("none"):
        return Seen(mention, reading, "words", facts=str(told["none"]))
    size, lines = int(told.get("bytes", 0)), int(told.get("lines", 0))
    seen = Seen(
        mention,
        reading,
        "text",
        why=why,
        size=size,
        text=told.get("text"),
        path=str(told.get("path") or ""),
        first=told.get("first"),
        last=told.get("last"),
        where=str(told.get("name") or ""),
    )
    match mention.word:
        case "buffer" | "selection":
            amount = plural(lines, "line") if seen.first is not None else size_text(size)
            facts = f"{seen.where}, {amount}" + (", unsaved" if told.get("unsaved") else "")
        case "diagnostics":
            facts = plural(int(told.get("count", 0)), "diagnostic")
        case "diff":
            facts = size_text(size)
        case _:
            count = int(told.get("count", 0))
            facts = f"{count:,} {'entry' if count == 1 else 'entries'}"
    return structs.replace(seen, facts=facts + (", cut" if told.get("cut") else ""))


def once(seen: Sequence[Seen]) -> list[Seen]:
    """Each thing once, however often it is mentioned; without what goes as words alone."""
    known: dict[tuple[object, ...], Seen] = {}
    for each in seen:
        if each.how != "words":
            known.setdefault(
                (each.mention.word, each.real or each.where, each.path, each.first, each.last), each
            )
    return list(known.values())
