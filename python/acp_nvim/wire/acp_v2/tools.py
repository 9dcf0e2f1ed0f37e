"""Tool calls, their content, and permission requests (sections 11, 13 and 14).

Kinds, statuses and option kinds are plain strings: an unknown value is kept (V2-90, V2-91, V2-121).
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta

from ..acp_v1.tools import CancelledOutcome, PermissionOption, RequestPermissionResponse, SelectedOutcome
from ..base import (
    UNKNOWN_TAG,
    Lax,
    LaxListOrUnset,
    Marker,
    Patch,
    Patched,
    SkipList,
    Unknown,
    UnknownType,
    Wire,
)
from .content import ContentBlock

__all__ = (
    "AddChange",
    "CancelledOutcome",
    "CommandSubject",
    "ContentItem",
    "CopyChange",
    "DeleteChange",
    "DiffChange",
    "DiffItem",
    "DiffPatch",
    "ModifyChange",
    "MoveChange",
    "PermissionOption",
    "PermissionSubject",
    "RequestPermissionRequest",
    "RequestPermissionResponse",
    "SelectedOutcome",
    "TerminalItem",
    "ToolCallCapabilities",
    "ToolCallContent",
    "ToolCallFields",
    "ToolCallLocation",
    "ToolCallPatch",
    "ToolCallSubject",
    "UnknownChange",
)

Line: TypeAlias = Annotated[int, Meta(ge=1, le=2**32 - 1)]


class ContentItem(Wire, frozen=True, tag_field="type", tag="content"):
    content: ContentBlock


class FileChange(Wire, frozen=True, kw_only=True):
    """``file_type``: text, binary, directory, symlink, or another; None: not known (V2-110)."""

    file_type: Lax[str | None] = None
    mime_type: Lax[str | None] = None


class AddChange(FileChange, frozen=True, kw_only=True, tag_field="operation", tag="add"):
    path: str


class DeleteChange(FileChange, frozen=True, kw_only=True, tag_field="operation", tag="delete"):
    path: str


class ModifyChange(FileChange, frozen=True, kw_only=True, tag_field="operation", tag="modify"):
    path: str


class MoveChange(FileChange, frozen=True, kw_only=True, tag_field="operation", tag="move"):
    old_path: str
    path: str


class CopyChange(FileChange, frozen=True, kw_only=True, tag_field="operation", tag="copy"):
    old_path: str
    path: str


class UnknownChange(Unknown, frozen=True, tag_field="operation", tag=UNKNOWN_TAG):
    """An operation this version does not know (V2-109)."""


DiffChange: TypeAlias = AddChange | DeleteChange | ModifyChange | MoveChange | CopyChange | UnknownChange


class DiffPatch(Wire, frozen=True):
    """``format``: git_patch (absolute paths without ``a/`` and ``b/``), or another (V2-112, V2-113)."""

    format: str
    text: str


class DiffItem(Wire, frozen=True, tag_field="type", tag="diff"):
    """``changes`` say which files, ``patch`` what may have been done to some of them (V2-108..114)."""

    changes: SkipList[DiffChange]
    patch: Lax[DiffPatch | None] = None


class TerminalItem(Wire, frozen=True, tag_field="type", tag="terminal"):
    """The place of a terminal (V2-97)."""

    terminal_id: str


ToolCallContent: TypeAlias = ContentItem | DiffItem | TerminalItem | UnknownType


class ToolCallLocation(Wire, frozen=True):
    """``line`` counts from 1 (V2-94)."""

    path: str
    line: Lax[Line | None] = None


class ToolCallCapabilities(Wire, frozen=True):
    cancel: Lax[Marker | None] = None


class ToolCallFields(Patch, frozen=True, kw_only=True):
    """The fields of a ``ToolCallUpdate`` (V2-88)."""

    tool_call_id: str
    name: Patched[str] = UNSET
    title: Patched[str] = UNSET
    kind: Patched[str] = UNSET
    status: Patched[str] = UNSET
    content: LaxListOrUnset[ToolCallContent] = UNSET
    locations: LaxListOrUnset[ToolCallLocation] = UNSET
    raw_input: Lax[Any] = UNSET
    raw_output: Lax[Any] = UNSET
    capabilities: Patched[ToolCallCapabilities] = UNSET


class ToolCallPatch(ToolCallFields, frozen=True, kw_only=True):
    """The patch a permission's subject carries."""


class ToolCallSubject(Wire, frozen=True, tag_field="type", tag="tool_call"):
    """Applied to the call before it is shown (V2-118)."""

    tool_call: ToolCallPatch


class CommandSubject(Wire, frozen=True, tag_field="type", tag="command"):
    """The ids only link to what is displayed (V2-119)."""

    command: str
    cwd: str
    tool_call_id: Lax[str | None] = None
    terminal_id: Lax[str | None] = None


PermissionSubject: TypeAlias = ToolCallSubject | CommandSubject | UnknownType


class RequestPermissionRequest(Wire, frozen=True, kw_only=True):
    """V2-116."""

    session_id: str
    title: str
    description: Lax[str | None] = None
    subject: PermissionSubject | None = None
    options: list[PermissionOption]
