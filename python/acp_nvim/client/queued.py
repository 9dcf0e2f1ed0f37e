"""Prompts that wait are changed: their text, their order, or they are sent at once."""

from __future__ import annotations

from collections.abc import Callable

from . import payloads
from .announce import Announcer
from .chat import Chat
from .prompt import Prompt
from .registry import Registry
from .steering import steer


class Queued:
    """One for the host. A prompt is known by the number of its send, however the others move."""

    def __init__(self, registry: Registry, announcer: Announcer, spawn: Callable[..., None]) -> None:
        self._registry = registry
        self._announcer = announcer
        self._spawn = spawn

    def change(self, request: payloads.ChangeQueued) -> None:
        """Do what the user wants. What was changed of a prompt that has gone out meanwhile goes back."""
        chat = self._registry.get(request.chat)
        if chat is None:
            return
        queue = chat.queue
        queue.seen = max(queue.seen, request.seq)
        prompt = queue.waiting(request.id)
        if prompt is None:
            self._announcer.call(chat, "acp.chat.prompt", "missed", request.text or "")
        elif request.text is not None and not request.text.strip():
            queue.forget(prompt)
        else:
            if request.text is not None:
                prompt.text, prompt.spot = request.text, prompt.spot or request.spot
            if request.before is not None:
                queue.move(prompt, request.before)
            if request.now:
                queue.first(prompt)
                self.at_once(chat, prompt)
        queue.show()

    def at_once(self, chat: Chat, prompt: Prompt) -> None:
        """Have the running turn take a prompt that waits as the first, else cancel the turn for it."""
        turn = chat.session.turn
        if turn is None or chat.agent is None or chat.queue.waiting(prompt.id) is not prompt:
            return
        if chat.agent.info is not None and chat.agent.info.can_steer and not turn.cancelling:
            prompt.steering = True
            self._spawn(steer, chat, chat.agent, prompt)
        else:
            if not (turn.cancelling or chat.told_of_steering):
                chat.told_of_steering = True
                name = chat.session.agent
                chat.tell.note(
                    "info", f"{name} takes no prompt into a running turn: it is cancelled for yours"
                )
            self._spawn(chat.cancel, False)
