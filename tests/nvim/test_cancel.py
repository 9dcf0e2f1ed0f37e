"""What the user sees of a turn they cancel, however the agent ends it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import PASSIVE, WATCH, Chat, Stage, update
from tests.nvim.same_kit import NEW, OLD, V1, V2
from tests.plugin import StartScreen


def opened(start_screen: StartScreen, agent: MakeAgent, speaks: V1, folder: Path, *plays: list[Json]) -> Chat:
    """A chat with an agent that plays these turns."""
    hello = {"initialize": [speaks.hello]} if speaks.hello else {}
    scripted = agent(on={**hello, "session/prompt": list(plays)})
    screen = start_screen(size=(120, 40), init=WATCH, cwd=folder)
    screen.setup({**PASSIVE, "agents": {"x": {**scripted.settings, "protocol": speaks.protocol}}})
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    return chat


def ends(speaks: V1, stop: str | None) -> Json:
    if isinstance(speaks, V2):
        return update("state_update", state="idle", **({"stopReason": stop} if stop else {}))
    return {"reply": {"stopReason": stop} if stop else {}}


@pytest.mark.req("V1-79", "V1-82", "V1-83", "V2-69", "V2-72")
@pytest.mark.parametrize("kind", [V1, V2])
@pytest.mark.parametrize("stop", ["end_turn", None])
def test_an_agent_that_ends_a_cancelled_turn_as_any_other(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, kind: type[V1], stop: str | None
) -> None:
    """As opencode does while it tries a model again. What it says and has done meanwhile is shown."""
    speaks = kind()
    file = str(tmp_path / "a.txt")
    shown = {"title": "Edit", "kind": "edit", "content": [speaks.edit(file, OLD, NEW)]}
    begins = speaks.begins() if isinstance(speaks, V2) else []
    turn = [
        *begins,
        speaks.say("Let me see."),
        speaks.call("e", status="in_progress", **shown),
        speaks.call("r", title="make", kind="execute", status="in_progress"),
        {"wait": "session/cancel"},
        speaks.patch("e", status="completed"),
        speaks.say("That much is done."),
        ends(speaks, stop),
    ]
    chat = opened(start_screen, agent, speaks, tmp_path, turn, speaks.turn(speaks.say("Next.")))
    chat.send("go")
    chat.wait("● run    make")
    chat.cancel()
    assert chat.wait_turn()["stop_reason"] == "cancelled"
    text = chat.wait("That much is done.")
    end = next(line for line in text.split("\n") if line.startswith("──"))
    assert end.startswith("── cancelled by you after "), text
    assert ("; x calls it done · 1 file +1 -1" in end) is (stop == "end_turn"), text
    assert "✓ edit   a.txt  +1 -1" in text
    assert "– run    make  cancelled" in text
    assert chat.status()["stop_reason"] == "cancelled"
    chat.send("and now?")
    chat.wait("Next.")
    chat.wait("── done")
    assert chat.wait_turn(2)["stop_reason"] == "end_turn"


@pytest.mark.req("V2-54")
@pytest.mark.parametrize("kind", [V1, V2])
def test_what_is_sent_at_once_to_an_agent_that_cannot_be_steered(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, kind: type[V1]
) -> None:
    """The turn is cancelled for it, which is said once. Version 2 promises nothing of a prompt in a turn."""
    speaks = kind()

    def held() -> list[Json]:
        begins = speaks.begins() if isinstance(speaks, V2) else []
        return [*begins, speaks.say("Wait."), {"wait": "session/cancel"}, ends(speaks, "cancelled")]

    turns = (held(), held(), speaks.turn(speaks.say("Third.")))
    chat = opened(start_screen, agent, speaks, tmp_path, *turns)
    chat.send("one")
    chat.wait("Wait.")
    for n, words in enumerate(("two", "three"), 1):
        chat.go()
        chat.screen.command(f"AcpSend! {words}")
        assert chat.wait_turn(n)["stop_reason"] == "cancelled"
        chat.wait(f"❯ {words}")
    chat.wait("Third.")
    assert chat.wait_turn(3)["stop_reason"] == "end_turn"
    text = chat.text()
    assert text.count("── x takes no prompt into a running turn: it is cancelled for yours") == 1, text
    assert text.index("it is cancelled for yours") < text.index("── cancelled by you") < text.index("❯ two")
