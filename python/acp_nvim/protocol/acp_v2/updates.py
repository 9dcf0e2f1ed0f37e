"""``session/update`` -> events: no state (spec sections 9 to 12, 15 and 17). Null stays null here (V2-83)."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Iterator

from msgspec import UNSET, UnsetType

from acp_nvim.protocol.content import block, location
from acp_nvim.protocol.notices import notice
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Cost, Plan, PlanEntry, Role, Usage
from acp_nvim.session.events import (
    CommandsSet,
    CompactionAppend,
    CompactionPatch,
    Event,
    InfoPatch,
    MessageAppend,
    MessageSet,
    NoteShown,
    OptionsSet,
    PlanRemoved,
    PlanSet,
    TerminalBytes,
    TerminalPatch,
    TerminalSet,
    ToolAppend,
    ToolPatch,
    Unknown,
    UsageSet,
)
from acp_nvim.session.terminals import Exit
from acp_nvim.wire.acp_v2 import tools
from acp_nvim.wire.acp_v2 import updates as wire
from acp_nvim.wire.acp_v2.content import ContentBlock

from .content import content, contents
from .options import commands, config_options

_ROLES: dict[type, Role] = {
    wire.UserMessage: "user",
    wire.UserMessageChunk: "user",
    wire.AgentThought: "thought",
    wire.AgentThoughtChunk: "thought",
}


def role_of(update: wire.ContentChunk | wire.WholeMessage) -> Role:
    """Whose message it is."""
    return _ROLES.get(type(update), "agent")


def events(
    update: wire.SessionUpdate, cwd: str, note_id: str, report: Callable[[str], None]
) -> Iterator[Event]:
    """What an update stands for, in order. Not for state updates (turns.py).

    ``cwd`` completes relative paths; ``note_id`` is the id of a notice, which has none of its own.
    """
    match update:
        case wire.ContentChunk():
            yield MessageAppend(role_of(update), update.message_id, block(update.content))
        case wire.WholeMessage():
            yield MessageSet(role_of(update), update.message_id, _blocks(update.content), update.meta)
        case wire.ToolCallUpdate():
            yield tool_patch(update, cwd)
        case wire.ToolCallContentChunk():
            yield from (ToolAppend(update.tool_call_id, item) for item in content(update.content, cwd))
        case wire.TerminalUpdate() | wire.TerminalOutputChunk():
            yield from _terminal(update, report)
        case wire.PlanUpdate():
            yield PlanSet(_plan(update))
        case wire.PlanRemoved():
            yield PlanRemoved(update.plan_id)
        case wire.CompactionUpdate():
            summary = _blocks(update.summary)
            yield CompactionPatch(update.compaction_id, update.status, summary, update.error, update.meta)
        case wire.CompactionSummaryChunk():
            yield CompactionAppend(update.compaction_id, block(update.content))
        case _:
            yield _beside(update, note_id)


def tool_patch(call: tools.ToolCallFields, cwd: str) -> ToolPatch:
    """Creates the call or patches it; the reducer knows what null resets to (V2-85..96)."""
    said, places, caps = call.content, call.locations, call.capabilities
    return ToolPatch(
        call.tool_call_id,
        title=call.title,
        name=call.name,
        kind=call.kind,
        status=call.status,
        content=said if said is UNSET or said is None else contents(said, cwd),
        locations=places
        if places is UNSET or places is None
        else [location(place.path, place.line, cwd) for place in places],
        raw_input=call.raw_input,
        raw_output=call.raw_output,
        can_cancel=caps if caps is UNSET or caps is None else caps.cancel is not None,
        meta=call.meta,
    )


def _blocks(said: list[ContentBlock] | UnsetType | None) -> list[Block] | UnsetType | None:
    return said if said is UNSET or said is None else [block(each) for each in said]


def _beside(update: wire.SessionUpdate, note_id: str) -> Event:
    """What does not stand in the timeline, but for notices."""
    match update:
        case wire.AvailableCommandsUpdate():
            return CommandsSet(commands(update.available_commands))
        case wire.ConfigOptionUpdate():
            return OptionsSet(config_options(update.config_options))
        case wire.SessionInfoUpdate():
            return InfoPatch(update.title, update.updated_at, update.meta)
        case wire.UsageUpdate():
            said = update.cost
            cost = None if said is UNSET or said is None else Cost(said.amount, said.currency)
            return UsageSet(Usage(update.used, update.size, cost), keep_cost=said is UNSET)
        case wire.Notice():
            return NoteShown(notice(note_id, update.severity, update.title, update.description))
        case wire.UnknownUpdate():
            return Unknown(update.kind, update.raw)
    raise AssertionError(update)


def _plan(update: wire.PlanUpdate) -> Plan:
    """Each replaces the plan of its id (V2-125..128)."""
    match update.plan:
        case wire.PlanItems() as plan:
            entries = [PlanEntry(each.content, each.priority, each.status) for each in plan.entries]
            return Plan(plan.plan_id, entries=entries)
        case wire.PlanMarkdown() as plan:
            return Plan(plan.plan_id, "markdown", text=plan.content)
        case wire.PlanFile() as plan:
            return Plan(plan.plan_id, "file", uri=plan.uri)
        case wire.UnknownPlan() as plan:
            return Plan(str(plan.raw["planId"]), plan.kind, raw=plan.raw)


def _terminal(
    update: wire.TerminalUpdate | wire.TerminalOutputChunk, report: Callable[[str], None]
) -> Iterator[Event]:
    """Of the agent's. A snapshot replaces, a chunk goes on; each is base64 on its own (V2-97..103)."""
    if isinstance(update, wire.TerminalOutputChunk):
        data = _bytes(update.data, report)
        if data is not None:
            yield TerminalBytes(update.terminal_id, data)
        return
    ended, size, caps, output = update.exit_status, update.size, update.capabilities, update.output
    yield TerminalPatch(
        update.terminal_id,
        owner="agent",
        command=update.command,
        cwd=update.cwd,
        exit=ended if ended is UNSET or ended is None else Exit(ended.exit_code, ended.signal),
        size=size if size is UNSET or size is None else (size.cols, size.rows),
        can_cancel=caps if caps is UNSET or caps is None else caps.cancel is not None,
        meta=update.meta,
    )
    if output is None:
        yield TerminalSet(update.terminal_id, b"")
    elif output is not UNSET:
        data = _bytes(output.data, report)
        if data is not None:
            yield TerminalSet(update.terminal_id, data)


def _bytes(data: str, report: Callable[[str], None]) -> bytes | None:
    """None for what is no base64: dropped, and told in the trace (V2-102)."""
    try:
        return b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        report(f"output of a terminal was dropped: {error}")
        return None
