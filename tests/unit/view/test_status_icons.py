"""Status patches, and the icon tables."""

from __future__ import annotations

import math

import pytest
from tests.unit.view.helpers import Chat

from acp_nvim.session.entities import Cost, Failure, Plan, PlanEntry, Usage
from acp_nvim.session.events import (
    InfoPatch,
    OptionsSet,
    PlanSet,
    StateSet,
    TurnCancelling,
    UsageSet,
)
from acp_nvim.session.options import Choice, Option
from acp_nvim.view.icons import ASCII, UNICODE, icons_named
from acp_nvim.view.status import Status, status_of


def test_only_what_changed_is_sent() -> None:
    chat, status = Chat(), Status()
    first = status.patch(chat.session)
    assert first["state"] == "idle"
    assert first["agent"] == first["label"] == "claude"
    assert first["session"] == "remote"
    assert "usage" not in first
    assert status.patch(chat.session) == {}
    chat.apply(UsageSet(Usage(53_000, 200_000)))
    assert status.patch(chat.session) == {"usage": {"used": 53_000, "size": 200_000}}
    chat.apply(UsageSet(Usage(53_000, 200_000, Cost(0.421, "USD"))))
    assert status.patch(chat.session) == {"usage": {"used": 53_000, "size": 200_000, "cost": "$0.42"}}
    chat.apply(InfoPatch(title="Fix it\x07\x1b]52;c;x\x07"))
    assert status.patch(chat.session) == {"title": "Fix it^G^[]52;c;x^G"}
    chat.apply(InfoPatch(title=None))
    assert status.patch(chat.session) == {"title": None}


def test_a_turn() -> None:
    chat, status = Chat(), Status()
    status.patch(chat.session)
    chat.prompt("go")
    assert status.patch(chat.session, queued=2) == {
        "state": "running",
        "queued": 2,
        "started_ms": 1_000_000,
        "active_ms": 1_000_000,
        "topic": "go",
    }
    chat.tool("t", "x", "execute")
    chat.ask("t")
    assert status.patch(chat.session, queued=2) == {"state": "waiting", "pending": 1}
    chat.answer("q1", "once")
    assert status.patch(chat.session, queued=2) == {"state": "running", "pending": 0}
    chat.apply(TurnCancelling())
    assert status.patch(chat.session, queued=2) == {"cancelling": True}
    chat.end("cancelled")
    assert status.patch(chat.session) == {
        "state": "idle",
        "stop_reason": "cancelled",
        "queued": 0,
        "started_ms": None,
        "cancelling": False,
    }
    chat.prompt("go")
    chat.end(None)
    assert status.patch(chat.session)["stop_reason"] == "none"


def test_states() -> None:
    chat = Chat()
    assert status_of(chat.session, starting=True)["state"] == "starting"
    failed = status_of(chat.session, failure=Failure("ended\nwith 1"))
    assert (failed["state"], failed["error"]) == ("failed", "ended with 1")
    chat.apply(StateSet("lost"))
    assert status_of(chat.session)["state"] == "failed"
    chat.apply(StateSet("closed"))
    assert status_of(chat.session)["state"] == "none"
    assert status_of(chat.session, pending_all=3, silent=75, label="Claude Code") | {} == {
        **status_of(chat.session),
        "pending_all": 3,
        "silent": 75,
        "label": "Claude Code",
    }


def test_options_and_plan() -> None:
    chat = Chat()
    mode = Option("m", "Mode", "select", "plan", [Choice("plan", "plan mode")], category="mode")
    model = Option("x", "Model", "select", "opus-9", category="model")
    chat.apply(OptionsSet((mode, model)))
    chat.prompt("go")
    entries = [PlanEntry("a", status="completed"), PlanEntry("b")]
    chat.apply(PlanSet(Plan("default", entries=entries)))
    status = status_of(chat.session)
    assert (status["mode"], status["model"], status["plan"]) == (
        "plan mode",
        "opus-9",
        {"done": 1, "total": 2},
    )
    chat.apply(PlanSet(Plan("default", entries=entries[:1])))
    assert status_of(chat.session)["plan"] == {"done": 1, "total": 1}
    chat.end()
    assert status_of(chat.session)["plan"] is None
    chat.prompt("something else")
    assert status_of(chat.session)["plan"] is None  # that plan was of the last turn


@pytest.mark.parametrize(
    ("amount", "unit", "shown"),
    [
        (1.5, "XAU\n", "1.50 XAU"),
        (0.421, "USD", "$0.42"),
        (0, "EUR", "€0.00"),
        (0.0004, "USD", "<$0.01"),
        (-2, "USD", "-$2.00"),
        (12, "credits", "12 credits"),
        (12.5, "credits", "12.5 credits"),
        (0.001, "credits", "<0.01 credits"),
        (1_234_567, "credits", "1.2M credits"),
        (1e300, "USD", "$1.0e+300"),
        (3, "", "3"),
        (1, "\x1b]52;c;" + "x" * 50, "1 ^[]52;c;xxx…"),
        (math.inf, "USD", None),
        (math.nan, "USD", None),
    ],
)
@pytest.mark.req("V1-157")
def test_costs(amount: float, unit: str, shown: str | None) -> None:
    chat = Chat()
    chat.apply(UsageSet(Usage(1, 2, Cost(amount, unit))))
    assert status_of(chat.session)["usage"].get("cost") == shown


@pytest.mark.req("V1-157", "V1-158")
def test_usage_of_any_size_keeps_its_cost() -> None:
    chat = Chat()
    chat.apply(UsageSet(Usage(2**64 - 1, 0, Cost(1, "USD"))))
    chat.apply(UsageSet(Usage(2**64 - 1, 2**64 - 1)))
    assert status_of(chat.session)["usage"] == {"used": 2**53, "size": 2**53, "cost": "$1.00"}


def test_icons() -> None:
    assert icons_named() is UNICODE
    assert icons_named("ascii") is ASCII
    mine = icons_named({"done": "D", "nothing": "x", "failed": 3})
    assert (mine.done, mine.failed) == ("D", UNICODE.failed)
