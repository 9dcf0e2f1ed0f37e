"""The modes: changed by the demo when the user says so, and honoured before anything is changed."""

from __future__ import annotations

from .project import DemoError
from .settings import MODES
from .turn import Turn, content


async def change(turn: Turn, mode: str) -> None:
    """Go to another mode."""
    turn.session.settings.set("mode", mode)
    await tell(turn)


async def tell(turn: Turn) -> None:
    """Tell the client the mode in both ways (V1-144, V1-153)."""
    mode = turn.session.settings.mode
    options = turn.session.settings.options(turn.speed, turn.session.client.booleans)
    await turn.send({"sessionUpdate": "config_option_update", "configOptions": options})
    await turn.send({"sessionUpdate": "current_mode_update", "currentModeId": mode})


async def go(turn: Turn, mode: str) -> None:
    """The user asks for a mode in words."""
    name, about = next((name, about) for ident, name, about in MODES if ident == mode)
    if mode == turn.session.settings.mode:
        await turn.say(f"The mode is “{name}” already.")
        return
    await change(turn, mode)
    await turn.say(f"The mode is “{name}” now: {about}.")


async def may_change(turn: Turn, what: str) -> None:
    """Before anything is changed or run: in the mode that only reads, ask to leave it.

    Raises DemoError when the user wants to stay.
    """
    if turn.session.settings.mode != "read":
        return
    title = "Leave the mode “Read only”"
    plan = [content(f"In this mode I change nothing. What I would do:\n\n- {what}")]
    options = [
        {"optionId": "ask", "name": "Go on, ask before each change", "kind": "allow_once"},
        {"optionId": "edit", "name": "Go on, edit at once", "kind": "allow_always"},
        {"optionId": "stay", "name": "Stay in this mode", "kind": "reject_once"},
    ]
    async with turn.call("switch_mode", title, "pending", content=plan) as call:
        chosen = await turn.choose(call, options, title=title, kind="switch_mode", content=plan)
        if chosen not in ("ask", "edit"):
            await call.update("failed")
            raise DemoError("All right, I only read. `go to ask mode` changes that.")
        await change(turn, chosen)
