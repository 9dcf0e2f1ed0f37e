"""Content blocks (spec/acp-v2.md section 18). Those of v1, but for bounds and icons."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

from ..acp_v1 import content as v1
from ..acp_v1.content import ResourceContents
from ..base import U64, Lax, LaxListOrNone, UnknownType, Wire

__all__ = (
    "Annotations",
    "AudioContent",
    "ContentBlock",
    "EmbeddedResource",
    "Icon",
    "ImageContent",
    "ResourceContents",
    "ResourceLink",
    "TextContent",
)


class Annotations(v1.Annotations, frozen=True):
    """``priority`` is 0 to 1 (V2-141)."""

    priority: Lax[Annotated[float, Meta(ge=0, le=1)] | None] = None


class TextContent(v1.TextContent, frozen=True, tag_field="type", tag="text"):
    annotations: Lax[Annotations | None] = None


class ImageContent(v1.ImageContent, frozen=True, tag_field="type", tag="image"):
    annotations: Lax[Annotations | None] = None


class AudioContent(v1.AudioContent, frozen=True, tag_field="type", tag="audio"):
    annotations: Lax[Annotations | None] = None


class Icon(Wire, frozen=True):
    """Nothing is ever fetched from ``src`` (V2-142)."""

    src: str
    mime_type: Lax[str | None] = None
    sizes: LaxListOrNone[str] = None
    theme: Lax[str | None] = None


class ResourceLink(v1.ResourceLink, frozen=True, tag_field="type", tag="resource_link"):
    size: Lax[U64 | None] = None
    annotations: Lax[Annotations | None] = None
    icons: LaxListOrNone[Icon] = None


class EmbeddedResource(v1.EmbeddedResource, frozen=True, tag_field="type", tag="resource"):
    annotations: Lax[Annotations | None] = None


ContentBlock: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownType
)
