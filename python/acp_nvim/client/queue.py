"""The prompts of a chat: they wait for their turn, go out one after the other, or come back to the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from acp_nvim.session.content import Block
from acp_nvim.session.entities import Note, Turn
from acp_nvim.session.events import TurnStarted
from acp_nvim.session.ports import Agent

from .prompt import Prompt

if TYPE_CHECKING:
    from .chat import Chat


#: Seconds after which a prompt that is being read is shown as one that waits.
PATIENCE = 0.3


class Queue:
    """Of one chat. What is sent while the agent starts, or a turn runs, waits here."""

    def __init__(self, chat: Chat) -> None:
        self.seen = 0  # number of the last send that was handled
        self.over = anyio.Event()  # set when the turn is over
        self._sending = False  # a prompt is out, and its turn has not ended
        self._reading = False  # what the next one mentions takes a while to read
        self._chat = chat
        self._prompts: list[Prompt] = []
        self._wake = anyio.Event()

    def __len__(self) -> int:
        return len(self._prompts)

    def send(self, prompt: Prompt, *, now: bool, seq: int) -> None:
        """Queue a prompt; it goes out when the session is ready and no turn runs (V1-70)."""
        chat = self._chat
        self.seen = max(self.seen, seq)
        if chat.failure is not None and not chat.starting and chat.held is None:
            self._prompts.append(prompt)
            if chat.failure.kind == "auth":
                chat.wiring.logins.again(chat)
                return
            self._not_sent()
            self.give_back()
            chat.push()
            return
        prompt.waited = chat.session.turn is not None
        self._prompts.insert(0, prompt) if now else self._prompts.append(prompt)
        self.show()
        self._wake.set()

    def go_on(self) -> None:
        """Have the questions put, first of all, that an old turn of the session was left with."""
        self._prompts.insert(0, Prompt("", goes_on=True))
        self._wake.set()

    def _not_sent(self) -> None:
        """Say why a prompt does not go out: once, however often the user tries."""
        chat = self._chat
        title = "not sent: the agent is not running. Your text is back in the prompt."
        last = chat.session.items[-1] if chat.session.items else None
        if not isinstance(last, Note) or last.title != title:
            chat.tell.note("error", title, [":AcpRestart"])

    def give_back(self, prompts: Sequence[Prompt] | None = None) -> None:
        """Return unsent prompts to the prompt buffer, in order: these, or all."""
        chat = self._chat
        back = [each for each in self._prompts if prompts is None or each in prompts]
        self._prompts[:] = [each for each in self._prompts if each not in back]
        self.show()
        back = [each for each in back if not each.goes_on]
        if text := "\n".join(prompt.text for prompt in back):
            ids = [prompt.id for prompt in back]
            chat.wiring.announcer.call(chat, "acp.chat.prompt", "restore", text, ids)

    def show(self) -> None:
        """Let Lua show what waits."""
        chat = self._chat
        idle = chat.session.turn is None and chat.agent is not None and chat.held is None
        wait = self._reading or not idle
        waiting = [
            {"id": prompt.id, "text": prompt.text, "steering": prompt.steering}
            for prompt in self._prompts
            if wait and not prompt.goes_on
        ]
        chat.wiring.announcer.call(chat, "acp.chat.prompt", "queue", waiting, self.seen)
        chat.push()

    def waiting(self, id_: int) -> Prompt | None:
        """The prompt of this send, if it has not gone out, and is not on its way."""
        found = (each for each in self._prompts if each.id == id_ and not each.goes_on)
        return next((each for each in found if not each.steering), None)

    def has(self, prompt: Prompt) -> bool:
        """Whether it waits, changeable or not."""
        return any(each is prompt for each in self._prompts)

    def forget(self, prompt: Prompt) -> None:
        """It does not wait any more, if it did."""
        self._prompts[:] = [each for each in self._prompts if each is not prompt]

    def move(self, prompt: Prompt, before: int) -> None:
        """Let it go out before the prompt of this id; if there is none (any more), as the last."""
        self._prompts.remove(prompt)
        places = (at for at, each in enumerate(self._prompts) if each.id == before and not each.goes_on)
        self._prompts.insert(next(places, len(self._prompts)), prompt)

    def first(self, prompt: Prompt) -> None:
        """Let it go out as the next."""
        self.forget(prompt)
        self._prompts.insert(0, prompt)

    def clear(self) -> None:
        """Forget the prompts: the user does not want them any more."""
        self._prompts.clear()

    def wake(self) -> None:
        """Something happened that the prompts may have waited for."""
        self._wake.set()

    async def work(self) -> None:
        """Send the queued prompts one after the other. Lives as long as the chat."""
        chat = self._chat
        while not chat.closed:
            await self._wake.wait()
            self._wake = anyio.Event()
            while self._prompts and chat.agent is not None and chat.held is None and not chat.closed:
                if chat.session.turn is not None:
                    break  # work of the agent's own: its end wakes us (V2-54)
                if self._prompts[0].steering:
                    break  # the agent is about to say whether it has it
                agent, prompt = chat.agent, self._prompts[0]
                # Meanwhile it can be changed or taken back, and the agent be lost.
                text, blocks = prompt.text, await self._read(prompt)
                if self._prompts[:1] != [prompt] or prompt.text != text or prompt.steering:
                    continue
                if chat.agent is agent and chat.session.turn is None and chat.held is None:
                    await self._turn(agent, self._prompts.pop(0), *blocks)

    async def _read(self, prompt: Prompt) -> tuple[list[Block], list[Block]]:
        """What goes out for a prompt, nothing if it is taken back. It is shown to wait if this takes long."""
        blocks: tuple[list[Block], list[Block]] = [], []

        async def tell() -> None:
            await anyio.sleep(PATIENCE)
            self._reading = True
            self.show()
            while self._prompts[:1] == [prompt]:  # noqa: ASYNC110 (it is only looked at while it is read)
                await anyio.sleep(PATIENCE)
            group.cancel_scope.cancel()

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(tell)
                blocks = await self._chat.wiring.mentions.compose(prompt, self._chat)
                group.cancel_scope.cancel()
        finally:
            self._reading = False
        return blocks

    def began(self) -> None:
        """The agent works without a prompt (V2-62), or goes on with an old turn because we asked it to."""
        if self._sending:
            return
        self.over = anyio.Event()
        self.show()

    def ended_own(self) -> bool:
        """A turn has ended: was it that of a prompt of ours?"""
        mine, self._sending = self._sending, False
        return mine

    async def ended(self, turn: Turn) -> None:
        """A turn has ended that no prompt had begun: what follows a turn follows it, too."""
        chat = self._chat
        self.over.set()
        await chat.wiring.announcer.check_files(chat, None)
        await chat.wiring.frames.settle(chat.n)
        self.show()
        chat.wiring.announcer.turn_ended(chat, turn)
        self._wake.set()

    async def _turn(self, agent: Agent, prompt: Prompt, blocks: list[Block], shown: list[Block]) -> None:
        chat = self._chat
        store, session = chat.wiring.store, chat.session
        over = self.over = anyio.Event()
        self._sending = True
        store.apply(session, TurnStarted(tuple(shown), tuple(blocks)))
        if not prompt.goes_on:
            chat.wiring.history.sent(session.cwd, prompt.text)
        turn = session.turns[-1]
        for each in self._prompts:
            each.waited = True
        self.show()
        async with anyio.create_task_group() as group:
            group.start_soon(chat.stall.watch)
            await agent.prompt(session, blocks)
            group.cancel_scope.cancel()
        over.set()
        # What was sent after its end was sent in the knowledge of how it ended: it goes out.
        failed = turn.outcome in ("error", "lost")
        asked = turn.stop != "lost"  # whether the agent still says what it made of a prompt
        unsent = [each for each in self._prompts if failed and each.waited and not (each.steering and asked)]
        if turn.stop == "lost" and chat.agent is agent:
            chat.agent, chat.failure = None, turn.error
        await chat.wiring.announcer.check_files(chat, None)
        await chat.wiring.frames.settle(chat.n)
        if turn.error is not None and (turn.error.kind == "auth" or turn.error.unsent):
            self._prompts.insert(0, prompt)
            unsent.insert(0, prompt)
            chat.hold(turn.error)
        elif not turn.error:
            chat.wants_login = False
        if unsent and chat.held is None:
            self.give_back(unsent)
        self.show()
        chat.wiring.announcer.turn_ended(chat, turn)

    async def turn_over(self) -> None:
        """Wait until no turn runs."""
        chat = self._chat
        while chat.session.turn is not None:
            await self.over.wait()
