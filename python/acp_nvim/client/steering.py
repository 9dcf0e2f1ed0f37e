"""A prompt goes into the turn that runs, where the agent can take it there; else it stays in the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from acp_nvim.session.ports import Agent, AgentError, Steered
from acp_nvim.text.sanitise import one_line

from .prompt import Prompt

if TYPE_CHECKING:
    from .chat import Chat

#: Seconds after the end of the turn in which the agent may still say whether it has taken the prompt.
PATIENCE = 10.0
#: Cells of the agent's reason.
REASON = 200


async def steer(chat: Chat, agent: Agent, prompt: Prompt) -> None:
    """Offer the agent a prompt of the queue, which is marked as ``steering``. Nothing of it is lost.

    The reducer has put it into the transcript when the agent says that it has it.
    """
    chat.queue.show()
    outcome, why = await _offer(chat, agent, prompt)
    prompt.steering = False
    queue, name = chat.queue, chat.session.agent
    if outcome in ("taken", "turn"):
        queue.forget(prompt)
        chat.wiring.history.sent(chat.session.cwd, prompt.text)
        if outcome == "turn":
            chat.tell.note("info", f"{name} works at this by itself: it does not say when it is done")
    elif queue.waiting(prompt.id) is prompt:
        turns = chat.session.turns
        if outcome is None:
            queue.give_back([prompt])
            lines = ["Your text is back in the prompt."]
            chat.tell.note("warning", f"{name} has not said whether it took your prompt", lines)
        elif why is None:
            pass  # with its agent all prompts come back
        elif turns and turns[-1].outcome == "error":
            queue.give_back([prompt])
        elif chat.session.turn is not None and not chat.session.turn.cancelling:
            reason = f": {why}" if why else ""
            chat.tell.note("warning", f"{name} did not take your prompt into this turn{reason}", [QUEUED])
    queue.show()
    queue.wake()


QUEUED = "It is the next in the queue. :AcpCancel ends the turn and sends it."


async def _offer(chat: Chat, agent: Agent, prompt: Prompt) -> tuple[Steered | None, str | None]:
    """What the agent made of it, None: it has not said so, and the turn is over. Why, None: it is gone."""
    outcome: Steered | None = None
    why: str | None = ""
    async with anyio.create_task_group() as group:

        async def limit() -> None:
            await chat.queue.turn_over()
            await anyio.sleep(PATIENCE)
            group.cancel_scope.cancel()

        group.start_soon(limit)
        try:
            blocks, shown = await chat.wiring.mentions.compose(prompt, chat)
            # While its mentions were read the turn may have ended, or the queue have been emptied.
            if chat.session.turn is None or not chat.queue.has(prompt):
                outcome = "refused"
            else:
                outcome = await agent.steer(chat.session, blocks, shown)
        except AgentError as error:
            gone = error.failure.ends_all
            outcome, why = "refused", None if gone else one_line(error.failure.message, REASON)
        group.cancel_scope.cancel()
    return outcome, why
