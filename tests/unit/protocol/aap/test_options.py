"""New sessions, and what goes with their turns: options, tools, secrets."""

from __future__ import annotations

import pytest
from tests.agents.aap_faults import answers
from tests.agents.aap_script import text
from tests.unit.protocol.aap.bench import Bench, opened

from acp_nvim.session.options import Option

pytestmark = pytest.mark.anyio


def option(bench: Bench, ident: str) -> Option:
    return next(each for each in bench.session.options if each.id == ident)


async def set_option(bench: Bench, ident: str, value: str) -> None:
    await bench.adapter.set_option(bench.session, option(bench, ident), value)


# -- connecting


@pytest.mark.req("AAP-11", "AAP-12", "AAP-20", "AAP-21", "AAP-05")
async def test_a_new_session_has_the_tools_but_trusts_none() -> None:
    async with opened() as bench:
        assert bench.server.requests[-1].body == {
            "agent": {"name": "helper", "tools": [{"name": "search"}, {"name": "clock"}]}
        }
        assert (bench.session.remote_id, bench.session.state) == ("s/1 é", "idle")
        assert bench.session.info is not None
        assert bench.session.info.protocol == "aap"


@pytest.mark.req("AAP-18", "AAP-20", "AAP-21", "AAP-24", "AAP-04")
async def test_a_new_session_is_made_with_what_the_settings_say() -> None:
    """Some servers choose a model, and log in to it, when a session is made."""
    settings = {
        "model": "large",
        "style": "bold",
        "token": "hush-hush",
        "tool:clock": "off",
        "tool:search": "trust",
        "mood": "good",
        "tool:nothing": "trust",
    }
    async with opened([[text("a")]], settings=settings) as bench:
        assert bench.server.requests[-1].body["agent"] == {
            "name": "helper",
            "tools": [{"name": "search", "trust": True}],
            "options": {"model": "large", "style": "bold", "token": "hush-hush"},
        }
        assert bench.hidden == [("token", "hush-hush")]
        shown = {each.id: each.value for each in bench.session.options}
        assert shown == {
            "model": "large",
            "style": "bold",
            "token": "•••",
            "tool:search": "trust",
            "tool:clock": "off",
        }
        await set_option(bench, "token", "hush-hush")  # as the settings are applied
        await bench.prompt()
        assert "agent" not in bench.server.turns[0]
        await set_option(bench, "token", "other-one")
        await set_option(bench, "token", "hush-hush")
        await bench.prompt()
        assert bench.server.turns[1]["agent"] == {"options": {"token": "hush-hush"}}
    async with opened(settings={"model": "none of them", "style": True, "tool:clock": "maybe"}) as bench:
        assert "options" not in bench.server.requests[-1].body["agent"]
        assert len(bench.server.requests[-1].body["agent"]["tools"]) == 2


@pytest.mark.req("AAP-10")
async def test_ids_are_encoded_in_paths() -> None:
    async with opened([[text("a")]]) as bench:
        assert (await bench.prompt()).stop == "end_turn"
        assert bench.server.requests[-1].path == "/v1/sessions/s/1 é/turns"


@pytest.mark.req("AAP-18", "AAP-20", "AAP-21")
async def test_options_and_tools_are_options_of_the_session() -> None:
    async with opened() as bench:
        shown = [(o.id, o.type, o.value, [c.value for c in o.choices]) for o in bench.session.options]
        assert shown == [
            ("model", "select", "small", ["small", "large"]),
            ("style", "text", "plain", []),
            ("token", "secret", "", []),
            ("tool:search", "select", "ask", ["off", "ask", "trust"]),
            ("tool:clock", "select", "ask", ["off", "ask", "trust"]),
        ]
        assert option(bench, "model").category == "model"
        assert option(bench, "style").description == "how it writes"


@pytest.mark.req("AAP-13", "AAP-19", "AAP-20", "AAP-24")
async def test_changes_go_with_the_next_turn_once() -> None:
    async with opened([[text("a")]] * 4) as bench:
        await bench.prompt()
        await set_option(bench, "model", "large")
        await set_option(bench, "style", "bold")
        await set_option(bench, "tool:clock", "off")
        assert [option(bench, each).value for each in ("model", "style", "tool:clock")] == [
            "large",
            "bold",
            "off",
        ]
        await bench.prompt()
        await bench.prompt()
        await set_option(bench, "model", "small")
        await bench.prompt()
        assert [turn.get("agent") for turn in bench.server.turns] == [
            None,
            {"tools": [{"name": "search"}], "options": {"model": "large", "style": "bold"}},
            None,
            {"options": {"model": "small"}},
        ]
        assert bench.server.kept.options == {"model": "small", "style": "bold"}


@pytest.mark.req("AAP-20")
async def test_all_tools_may_be_off() -> None:
    async with opened([[text("a")]]) as bench:
        await set_option(bench, "tool:clock", "off")
        await set_option(bench, "tool:search", "off")
        await bench.prompt()
        assert bench.server.turns[0]["agent"] == {"tools": []}


@pytest.mark.req("AAP-19", "AAP-24")
async def test_a_change_that_did_not_arrive_goes_with_the_turn_after() -> None:
    async with opened([[text("a")]]) as bench:
        await set_option(bench, "model", "large")
        bench.server.fail("POST turns", answers(503))
        await bench.prompt()
        await bench.prompt()
        assert bench.server.turns[1]["agent"] == {"options": {"model": "large"}}


@pytest.mark.req("AAP-18", "AAP-16", "AAP-04")
async def test_a_secret_is_sent_once_and_shown_never() -> None:
    async with opened([[text("a")]] * 2) as bench:
        await set_option(bench, "token", "hush-hush")
        assert bench.hidden == [("token", "hush-hush")]
        assert option(bench, "token").value == "•••"
        await bench.prompt()
        assert bench.server.turns[0]["agent"] == {"options": {"token": "hush-hush"}}
        other = bench.new_session("other")
        await bench.adapter.load_session(other, bench.server.kept.id)
        secret = next(each for each in other.options if each.id == "token")
        assert secret.value == "•••"
        bench.session = other
        await bench.prompt("more")
        assert "agent" not in bench.server.turns[-1]  # the placeholder does not go back


# -- sessions the server has
