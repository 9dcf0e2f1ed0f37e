"""Content blocks (spec/acp-v1.md section 9)."""

from __future__ import annotations

from typing import TypeAlias

from ..base import ChunkText, Lax, LaxListOrNone, UnknownType, Wire


class Annotations(Wire, frozen=True):
    audience: LaxListOrNone[str] = None
    last_modified: Lax[str | None] = None
    priority: Lax[float | None] = None


class TextContent(Wire, frozen=True, tag_field="type", tag="text"):
    """In a chunk, ``text`` may be a ``SplitText``: give it to a ``SurrogateJoiner``."""

    text: ChunkText
    annotations: Lax[Annotations | None] = None


class ImageContent(Wire, frozen=True, tag_field="type", tag="image"):
    """``data`` is base64."""

    data: str
    mime_type: str
    uri: Lax[str | None] = None
    annotations: Lax[Annotations | None] = None


class AudioContent(Wire, frozen=True, tag_field="type", tag="audio"):
    """``data`` is base64."""

    data: str
    mime_type: str
    annotations: Lax[Annotations | None] = None


class ResourceLink(Wire, frozen=True, tag_field="type", tag="resource_link"):
    """``size`` is in bytes."""

    uri: str
    name: str
    mime_type: Lax[str | None] = None
    title: Lax[str | None] = None
    description: Lax[str | None] = None
    size: Lax[int | None] = None
    annotations: Lax[Annotations | None] = None


class ResourceContents(Wire, frozen=True):
    """A text (``text``) or binary (``blob``, base64) resource: told apart by the key (V1-97)."""

    uri: str
    text: str | None = None
    blob: str | None = None
    mime_type: Lax[str | None] = None

    def __post_init__(self) -> None:
        if self.text is None and self.blob is None:
            raise ValueError("a resource needs `text` or `blob`")


class EmbeddedResource(Wire, frozen=True, tag_field="type", tag="resource"):
    resource: ResourceContents
    annotations: Lax[Annotations | None] = None


ContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownType
)
