"""``session/update`` -> events: one function, no state (spec sections 8, 10, 13 and 15)."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, UnsetType

from acp_nvim.protocol.content import block, location
from acp_nvim.protocol.notices import notice
from acp_nvim.session.entities import Cost, Plan, PlanEntry, Role, Usage
from acp_nvim.session.events import (
    CommandsSet,
    CompactionAppend,
    CompactionPatch,
    Event,
    InfoPatch,
    MessageAppend,
    NoteShown,
    OptionsSet,
    OptionValue,
    PlanSet,
    ToolPatch,
    Unknown,
    UsageSet,
)
from acp_nvim.session.options import Command
from acp_nvim.wire.acp_v1 import tools
from acp_nvim.wire.acp_v1 import updates as wire

from .content import tool_content
from .options import config_options

T = TypeVar("T")


def role_of(chunk: wire.ContentChunk) -> Role:
    """Whose message the chunk belongs to."""
    match chunk:
        case wire.UserMessageChunk():
            return "user"
        case wire.AgentThoughtChunk():
            return "thought"
        case _:
            return "agent"


def event(update: wire.SessionUpdate, cwd: str, note_id: str) -> Event:
    """The event an update stands for; an unknown one is kept as such (V1-88, V1-89).

    ``cwd`` completes relative paths; ``note_id`` is the id of a notice, which has none of its own.
    """
    match update:
        case wire.ContentChunk():
            # A chunk's block at its place (V1-93); the empty id of some agents is no id (V1-90).
            made = block(update.content)
            return MessageAppend(role_of(update), update.message_id or None, made, meta=update.meta)
        case wire.ToolCallStart() | wire.ToolCallPatch():
            return tool_patch(update, cwd)
        case wire.PlanUpdate():
            entries = [PlanEntry(each.content, each.priority, each.status) for each in update.entries]
            return PlanSet(Plan("default", entries=entries))  # V1-139, V1-140
        case wire.AvailableCommandsUpdate():
            return CommandsSet([_command(each) for each in update.available_commands])  # V1-154
        case wire.CurrentModeUpdate():
            return OptionValue("mode", update.mode)  # V1-144
        case wire.ConfigOptionUpdate():
            return OptionsSet(config_options(update.config_options))  # V1-153
        case wire.SessionInfoUpdate():
            return InfoPatch(update.title, update.updated_at)  # V1-156
        case wire.UsageUpdate():
            cost = Cost(update.cost.amount, update.cost.currency) if update.cost is not None else None
            return UsageSet(Usage(update.used, update.size, cost))  # V1-157, V1-158
        case wire.Notice():
            return NoteShown(notice(note_id, update.severity, update.title, update.description))  # V1-159
        case wire.CompactionUpdate():
            summary = update.summary
            blocks = summary if summary is UNSET or summary is None else [block(each) for each in summary]
            return CompactionPatch(update.compaction_id, update.status, blocks, update.error)  # V1-160
        case wire.CompactionSummaryChunk():
            return CompactionAppend(update.compaction_id, block(update.content))
        case wire.UnknownUpdate():
            return Unknown(update.kind, update.raw)


def tool_patch(call: wire.ToolCallStart | wire.ToolCallPatch | tools.ToolCallUpdate, cwd: str) -> ToolPatch:
    """A tool call's creation or patch. Null is the same as left out, for every field (V1-102..106).

    An empty list empties, except in ``tool_call``: that says how the call begins, and when the same call
    is announced again it wipes nothing (C16).
    """
    start = isinstance(call, wire.ToolCallStart)
    content, locations = call.content, call.locations
    return ToolPatch(
        call.tool_call_id,
        title=_said(call.title),
        name=_said(call.name),
        kind=_said(call.kind),
        status=_said(call.status),
        content=UNSET
        if content is None or (start and not content)
        else [tool_content(i, cwd) for i in content],
        locations=UNSET
        if locations is None or (start and not locations)
        else [location(place.path, place.line, cwd) for place in locations],
        raw_input=_said(call.raw_input),
        raw_output=_said(call.raw_output),
        meta=_said(call.meta),
    )


def _said(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value


def _command(command: wire.AvailableCommand) -> Command:
    hint = command.input.hint if command.input is not None else None
    return Command(command.name, command.description, hint)
