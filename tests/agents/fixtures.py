"""The fixture ``agent``: scripted agents for tests (see scripted.py for what a script can say)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.outgoing import Outgoing
from tests.plugin.poll import PATIENCE, eventually

Json = dict[str, Any]
Actions = Sequence[Mapping[str, Any]]

PROGRAM = Path(__file__).with_name("scripted.py")
BAD = Path(__file__).with_name("bad")
"""Folder of agents that are bad in ways a script cannot say."""


@dataclass(frozen=True)
class ScriptedAgent:
    """A script on disk, and what its agent has written about its runs."""

    script: Path
    log_path: Path

    @property
    def command(self) -> list[str]:
        """The command line that starts it."""
        return [sys.executable, str(PROGRAM), str(self.script)]

    @property
    def settings(self) -> Json:
        """What ``setup({agents = {name = …}})`` takes."""
        return {"command": self.command}

    def rows(self) -> list[Json]:
        """The whole log: ``{t, msg}`` for messages, ``{t, raw}`` for other lines, ``{t, event, …}``.

        An answer has ``to``, too: the method it answers.
        """
        if not self.log_path.exists():
            return []
        lines = self.log_path.read_text(encoding="utf-8").split("\n")[:-1]  # the last one may be half written
        return [json.loads(line) for line in lines]

    def log(self, method: str | None = None) -> list[Json]:
        """The messages received so far, of all runs; or only those of one method."""
        messages = [row["msg"] for row in self.rows() if "msg" in row]
        return messages if method is None else [m for m in messages if m.get("method") == method]

    def events(self, name: str) -> list[Json]:
        """The events of one name: start, eof, fork, exit, broken pipe."""
        return [row for row in self.rows() if row.get("event") == name]

    def response(self, ident: Any, timeout: float = PATIENCE) -> Json:
        """Wait until the client answers the agent's request ``ident`` and return the answer."""

        def answer() -> Json | None:
            return next((m for m in self.log() if "method" not in m and m.get("id") == ident), None)

        return eventually(answer, timeout, lambda: f"request {ident!r} not answered: {self.log()}") or {}

    def responses(self, ident: Any) -> list[Json]:
        """All answers to the agent's request ``ident`` so far (there should be one)."""
        return [m for m in self.log() if "method" not in m and m.get("id") == ident]

    def problems(self) -> list[str]:
        """What was not ACP of all that its client has written."""
        found: list[str] = []
        checked = Outgoing()
        for row in self.rows():
            if row.get("event") == "start":
                checked = Outgoing()
            if row.get("event") == "speaks":
                checked.heard({"id": row["id"], "result": {"protocolVersion": row["version"]}})
            if "raw" in row:
                found.append(f"not JSON: {row['raw']}")
            if "msg" in row:
                if "to" in row:
                    checked.asked(row["msg"].get("id"), row["to"])
                checked.said(row["msg"])
                found += checked.problems
                checked.problems.clear()
        return found

    def wait(self, method: str, count: int = 1, timeout: float = PATIENCE) -> Json:
        """Wait until ``count`` messages of ``method`` have been received and return the last of them."""
        found = eventually(
            lambda: self.log(method)[count - 1 : count],
            timeout,
            lambda: f"{method} did not come {count} times: {self.log()}",
        )
        return found[0]


MakeAgent = Callable[..., ScriptedAgent]


@pytest.fixture
def _agents(tmp_path: Path) -> tuple[MakeAgent, list[ScriptedAgent]]:
    """The function below, and the agents it made.

    ``on``: method -> actions, or a list of plays for the 1st, 2nd, … message. The other keywords are the
    script's: ``start``, ``eof``, ``sigterm``. Nothing given: an agent that is correct and says nothing.
    """
    made: list[ScriptedAgent] = []

    def make(
        on: Mapping[str, Actions | Sequence[Actions]] | None = None,
        *,
        start: Actions = (),
        eof: Actions = ({"exit": 0},),
        sigterm: str | int = "default",
    ) -> ScriptedAgent:
        number = len(made)
        log = tmp_path / f"agent-{number}.log"
        plays = {method: _plays(actions) for method, actions in (on or {}).items()}
        script = tmp_path / f"agent-{number}.json"
        content = {"on": plays, "start": list(start), "eof": list(eof), "sigterm": sigterm, "log": str(log)}
        script.write_text(json.dumps(content), encoding="utf-8")
        made.append(ScriptedAgent(script, log))
        return made[-1]

    return make, made


@pytest.fixture
def agent(_agents: tuple[MakeAgent, list[ScriptedAgent]]) -> Iterator[MakeAgent]:
    """A function that writes a script and returns its agent. In the end, all its client wrote must be ACP."""
    make, made = _agents
    yield make
    assert [problem for each in made for problem in each.problems()] == []


@pytest.fixture
def unchecked_agent(_agents: tuple[MakeAgent, list[ScriptedAgent]]) -> MakeAgent:
    """The same, for tests that talk to it by hand."""
    return _agents[0]


def _plays(actions: Sequence[Any]) -> list[list[Any]]:
    """One list of actions is the play of every message."""
    if actions and not isinstance(actions[0], Mapping):
        return [list(play) for play in actions]
    return [list(actions)]
