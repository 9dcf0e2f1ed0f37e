"""Cancelling one tool call or command of an agent, where it says that this can be done."""

from __future__ import annotations

from collections.abc import Callable

from acp_nvim.editor import Editor
from acp_nvim.session.entities import ToolCall
from acp_nvim.session.ports import AgentError

from . import payloads
from .chat import Chat
from .registry import Registry


class Items:
    """Answers the message ``cancel_item`` of Lua. ``spawn`` starts an owned task."""

    def __init__(self, editor: Editor, registry: Registry, spawn: Callable[..., None]) -> None:
        self._editor = editor
        self._registry = registry
        self._spawn = spawn

    def cancel(self, request: payloads.Details) -> None:
        """What stands in a row of the transcript."""
        chat = self._registry.get(request.chat)
        call = chat.transcript.call_at(request.block, request.row) if chat is not None else None
        if chat is None or call is None or call.final:
            self._say("nothing here can be cancelled")
            return
        self._spawn(self._cancel, chat, call)

    async def _cancel(self, chat: Chat, call: ToolCall) -> None:
        terminal = next((each for each in call.terminals if each.can_cancel and each.exit is None), None)
        if chat.agent is None or not (call.can_cancel or terminal is not None):
            self._say(f"{chat.session.agent} cannot cancel this alone; :AcpCancel cancels the turn")
            return
        try:
            if call.can_cancel:
                await chat.agent.cancel_item(chat.session, call=call.id)
            elif terminal is not None:
                await chat.agent.cancel_item(chat.session, terminal=terminal.id)
        except AgentError as error:
            if error.failure.kind != "transport":  # else its end is told
                self._say(f"not cancelled: {error.failure.message}")

    def _say(self, text: str) -> None:
        self._editor.notify("acp.message", "info", text)
