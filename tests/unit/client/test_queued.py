"""Whatever is done to the queue, each prompt is in it once, as the user wanted it, until it is dropped."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.client.payloads import ChangeQueued
from acp_nvim.client.prompt import Prompt
from acp_nvim.client.queue import Queue
from acp_nvim.client.queued import Queued
from acp_nvim.session.entities import Session

IDS = st.integers(1, 8)
CHANGES = st.fixed_dictionaries(
    {"id": IDS},
    optional={
        "text": st.sampled_from(["", " \n", "new", "other\nlines"]),
        "before": st.integers(0, 8),
        "now": st.booleans(),
    },
)


class Bench:
    def __init__(self) -> None:
        self.shown: list[tuple[int, str]] = []
        self.seen = 0
        self.missed: list[str] = []
        announcer: Any = SimpleNamespace(call=self._call)
        chat: Any = SimpleNamespace(
            session=Session("s", "x", "/ws"),
            agent=None,  # it starts: nothing goes out
            failure=None,
            held=None,
            starting=True,
            push=lambda: None,
            wiring=SimpleNamespace(announcer=announcer),
        )
        self.queue = chat.queue = Queue(chat)
        registry: Any = SimpleNamespace(get=lambda n: chat)
        self.queued = Queued(registry, announcer, lambda *args: None)

    def _call(self, chat: Any, module: str, name: str, *args: Any) -> None:
        if name == "queue":
            self.shown = [(row["id"], row["text"]) for row in args[0]]
            self.seen = args[1]
        elif name == "missed":
            self.missed.append(args[0])


@given(count=st.integers(0, 5), changes=st.lists(CHANGES, max_size=20))
def test_each_prompt_is_there_once_as_it_was_wanted(count: int, changes: list[dict[str, Any]]) -> None:
    bench = Bench()
    model = [(n, f"prompt {n}") for n in range(1, count + 1)]
    for n, text in model:
        bench.queue.send(Prompt(text, id=n), now=False, seq=n)
    missed: list[str] = []
    for seq, change in enumerate(changes, count + 1):
        bench.queued.change(ChangeQueued(chat=1, seq=seq, **change))
        place = next((at for at, each in enumerate(model) if each[0] == change["id"]), None)
        if place is None:
            missed.append(change.get("text", ""))
        else:
            n, text = model.pop(place)
            new = change.get("text", text)
            if new.strip():
                if "before" in change:
                    ids = [each[0] for each in model]
                    place = ids.index(change["before"]) if change["before"] in ids else len(model)
                model.insert(0 if change.get("now") else place, (n, new))
        assert bench.shown == model
        assert (bench.seen, bench.missed) == (seq, missed)
