"""Commands that go on while the session does something else, or nothing (version 2 of the protocol)."""

from __future__ import annotations

from . import foreground, owned, running
from .project import DemoError
from .turn import Call, Turn


async def run(turn: Turn, command: str) -> None:
    """Ask, then let it go on by itself. Its end is said in a turn of the demo's own (V2-62)."""
    if not turn.session.speech.own_terminals:
        why = "Only version 2 of the protocol has work in the background."
        raise DemoError(f"{why} `protocol = 'auto'` in the settings of this agent asks for it.")
    async with running.asked(turn, command) as call:
        if call is None:
            return
        call.ended = True  # as far as this turn is concerned
        turn.session.jobs[call.id] = turn.peer.spawn(_go_on(turn, call, command))
        await turn.state("running")
    await turn.say(f"`{command}` goes on by itself. `x` on its row ends it, `:AcpCancel` does not.")


async def _go_on(turn: Turn, call: Call, command: str) -> None:
    session = turn.session
    apart = Turn(turn.peer, session, turn.speed)
    call.turn = apart
    try:
        ended = await owned.run(apart, call, command)
        said = running.told(command, ended)
    except DemoError as error:
        await call.update("failed")
        said = str(error)
    finally:
        del session.jobs[call.id]
    if session.closed:
        return
    await apart.state(session.state)
    async with foreground.taken(session):
        if not session.closed:
            await apart.state("running")
            await foreground.work(apart, apart.say(f"In the background: {said}"))
