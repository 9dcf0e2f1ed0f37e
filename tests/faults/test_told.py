"""What the user is told of a loss: once, whatever else happens at that moment."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.faults.world import world

from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import Failure, Session
from acp_nvim.session.events import Event, FileWritten, TurnEnded, TurnStarted

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("version", [1, 2])
async def test_a_loss_is_told_once_when_a_file_is_written_at_that_moment(
    tmp_path: Path, version: int
) -> None:
    async with world(tmp_path, 1, version) as made:
        made.plan(rate=0, calm=False, acts=["wait"])

        def write(session: Session, event: Event, _touched: object) -> None:
            if isinstance(event, TurnEnded):
                change = Diff((Change("modify", str(made.workspace / "plain.txt")),), "plain\n", "new\n")
                made.app._store.apply(session, FileWritten(change, ()))

        made.app._store.subscribe(write)
        made.open()
        made.send()
        await made.until(lambda: made.rows.prompts() and made.lua.status.get("state") == "running", "a turn")
        for _ in range(2):
            told = made.lua.text.count("ended by SIGKILL")
            made.kill()
            await made.until(lambda: made.lua.status.get("state") == "failed", "the loss")
            await made.until(lambda: made.lua.text.count("ended by SIGKILL") > told, "it is told")  # noqa: B023
            made.restart()
            await made.until(lambda: made.lua.status.get("state") == "idle", "it is back")
        assert made.lua.text.count("ended by SIGKILL") == 2, "one while it worked, one while it was idle"
        await made.close()
    assert not made.extra


@pytest.mark.parametrize("version", [1, 2])
async def test_a_loss_is_told_once_when_a_prompt_goes_out_at_that_moment(
    tmp_path: Path, version: int
) -> None:
    async with world(tmp_path, 1, version) as made:
        made.plan(rate=0, calm=False, acts=["wait"])
        made.open()
        await made.until(lambda: made.lua.status.get("state") == "idle", "a session")
        (connection,) = made.app._registry.connections.values()
        (chat,) = made.app._registry
        tell = connection.on_lost
        assert tell is not None

        running: list[bool] = []
        began = anyio.Event()

        def begun(_session: Session, event: Event, _touched: object) -> None:
            if isinstance(event, TurnStarted):
                began.set()

        made.app._store.subscribe(begun)

        async def late(failure: Failure) -> None:
            made.send()
            await began.wait()
            running.append(chat.session.turn is not None)
            await tell(failure)

        connection.on_lost = late
        made.kill()
        await made.until(lambda: made.lua.status.get("state") == "failed", "the loss")
        await made.until(lambda: chat.session.turn is None, "the end of the turn")
        await made.until(lambda: "ended by SIGKILL" in made.lua.text, "it is told")
        connection.on_lost = tell
        made.restart()
        await made.until(lambda: made.lua.status.get("state") == "idle", "it is back")
        assert running == [True]
        assert made.lua.text.count("ended by SIGKILL") == 1
        await made.close()
    assert not made.extra
