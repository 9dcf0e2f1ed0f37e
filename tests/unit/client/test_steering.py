"""A prompt for the running turn: what becomes of it in the queue, whatever the agent answers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from acp_nvim.client import steering
from acp_nvim.client.prompt import Prompt
from acp_nvim.client.queue import Queue
from acp_nvim.client.steering import steer
from acp_nvim.session.entities import Failure, Session, Turn
from acp_nvim.session.ports import AgentError

pytestmark = pytest.mark.anyio


class Bench:
    """A chat whose turn runs and whose queue holds the prompt; ``told`` is what Lua and the user hear of."""

    def __init__(self, answer: Callable[[Bench], Any]) -> None:
        self.told: list[Any] = []
        self.session = Session("s", "x", "/ws")
        self.session.turns.append(Turn(1))
        self.prompt = Prompt("left", id=3, waited=True, steering=True)
        self._answer = answer
        compose = self._compose
        call = lambda chat, module, name, *args: self.told.append((name, *args))  # noqa: E731
        chat: Any = SimpleNamespace(
            session=self.session,
            agent=self,
            failure=None,
            held=None,
            starting=False,
            push=lambda: None,
            tell=SimpleNamespace(note=lambda *args: self.told.append(("note", *args))),
            wiring=SimpleNamespace(
                announcer=SimpleNamespace(call=call),
                mentions=SimpleNamespace(compose=compose),
                history=SimpleNamespace(sent=lambda cwd, text: self.told.append(("sent", text))),
            ),
        )
        self.chat = chat
        self.queue = chat.queue = Queue(chat)
        self.queue._prompts.append(self.prompt)
        self.offered = 0

    async def _compose(self, prompt: Prompt, chat: Any) -> tuple[list[Any], list[Any]]:
        return [], []

    async def steer(self, session: Session, blocks: Any, shown: Any) -> Any:
        self.offered += 1
        answer = self._answer(self)
        return await answer if hasattr(answer, "__await__") else answer

    def end_turn(self, stop: str = "end_turn") -> None:
        turn = self.session.turns[-1]
        turn.stop, turn.ended = stop, 1.0
        self.queue.over.set()

    async def run(self) -> None:
        with anyio.fail_after(20):
            await steer(self.chat, self, self.prompt)  # type: ignore[arg-type]

    def heard(self, what: str) -> list[Any]:
        return [each for each in self.told if each[0] == what]


def refuse(message: str, kind: str = "generic") -> Callable[[Bench], Any]:
    def answer(bench: Bench) -> Any:
        raise AgentError(Failure(message, kind=kind))

    return answer


def ends(outcome: Any, stop: str = "end_turn") -> Callable[[Bench], Any]:
    """The turn ends first."""

    def answer(bench: Bench) -> Any:
        bench.end_turn(stop)
        return outcome

    return answer


async def test_what_was_taken_waits_no_more() -> None:
    bench = Bench(lambda bench: "taken")
    await bench.run()
    assert (len(bench.queue), bench.heard("note"), bench.heard("sent")) == (0, [], [("sent", "left")])


async def test_a_turn_of_its_own_is_told() -> None:
    bench = Bench(ends("turn"))
    await bench.run()
    assert len(bench.queue) == 0
    assert "by itself" in bench.heard("note")[0][2]


REFUSALS: dict[str, tuple[Callable[[Bench], Any], int, int]] = {
    "by an answer": (lambda bench: "refused", 1, 1),
    "by an error": (refuse("no such method"), 1, 1),
    "as its agent is gone": (refuse("gone", "transport"), 1, 0),
    "as the turn is over": (ends("refused"), 1, 0),
}


@pytest.mark.parametrize("kind", REFUSALS)
async def test_what_was_refused_waits(kind: str) -> None:
    answer, waits, notes = REFUSALS[kind]
    bench = Bench(answer)
    await bench.run()
    assert (len(bench.queue), len(bench.heard("note"))) == (waits, notes)
    assert bench.queue.waiting(3) is bench.prompt
    assert not bench.heard("restore") and not bench.heard("sent")


async def test_after_a_failed_turn_it_comes_back() -> None:
    bench = Bench(ends("refused", "error"))
    await bench.run()
    assert (len(bench.queue), bench.heard("restore")) == (0, [("restore", "left", [3])])


async def test_without_an_answer_it_comes_back_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "PATIENCE", 0.0)

    def silent(bench: Bench) -> Any:
        bench.end_turn()
        return anyio.sleep_forever()

    bench = Bench(silent)
    await bench.run()
    assert (len(bench.queue), bench.heard("restore")) == (0, [("restore", "left", [3])])
    assert "has not said whether" in bench.heard("note")[0][2]


async def test_what_the_user_took_out_meanwhile_is_not_offered() -> None:
    bench = Bench(lambda bench: "taken")
    bench.queue.clear()
    await bench.run()
    assert (bench.offered, bench.heard("sent"), bench.heard("note")) == (0, [], [])


async def test_what_the_user_took_out_too_late_is_gone_all_the_same() -> None:
    def clears(bench: Bench) -> Any:
        bench.queue.clear()
        return "refused"

    bench = Bench(clears)
    await bench.run()
    assert (bench.offered, len(bench.queue), bench.heard("restore"), bench.heard("note")) == (1, 0, [], [])
