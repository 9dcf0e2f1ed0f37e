"""What the user is told of a loss: once, whatever else happens at that moment."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.faults.world import world

from acp_nvim.client import chat as chats
from acp_nvim.client.chat import Chat
from acp_nvim.client.opening import open_session
from acp_nvim.session.content import Change, Diff
from acp_nvim.session.entities import Failure, Session
from acp_nvim.session.events import Event, FileWritten, TurnEnded, TurnStarted
from acp_nvim.session.ports import Agent

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


@pytest.mark.parametrize("version", [1, 2])
async def test_a_restart_at_the_moment_at_which_a_start_is_over(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt waits for the agent that comes; it does not go to the one that is gone."""
    begun, go_on = [anyio.Event(), anyio.Event()], [anyio.Event(), anyio.Event()]
    count = 0

    async def slowly(chat: Chat, agent: Agent) -> str:
        nonlocal count
        how = await open_session(chat, agent)
        if count < 2:
            count += 1
            begun[count - 1].set()
            await go_on[count - 1].wait()
        return how

    async with world(tmp_path, 1, version) as made:
        made.plan(rate=0, calm=True)
        made.open()
        await made.until(lambda: made.lua.status.get("state") == "idle", "a session")
        (connection,) = made.app._registry.connections.values()
        monkeypatch.setattr(chats, "open_session", slowly)
        made.restart()
        await begun[0].wait()
        made.restart()
        await made.until(lambda: connection.state == "lost", "the second restart")
        go_on[0].set()
        await begun[1].wait()
        text = made.send()
        await anyio.wait_all_tasks_blocked()
        go_on[1].set()
        await made.until(lambda: f"calm: {text}" in made.lua.text, "an answer")
        await made.until(lambda: made.lua.status.get("state") == "idle", "it is well")
        await made.close()
    assert not made.extra


@pytest.mark.parametrize("version", [1, 2])
async def test_an_agent_that_ends_at_the_moment_at_which_a_start_is_over(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, and not that the agent is ready."""
    begun, go_on = anyio.Event(), anyio.Event()

    async def slowly(chat: Chat, agent: Agent) -> str:
        how = await open_session(chat, agent)
        begun.set()
        await go_on.wait()
        return how

    async with world(tmp_path, 1, version) as made:
        made.plan(rate=0, calm=True)
        monkeypatch.setattr(chats, "open_session", slowly)
        made.open()
        await begun.wait()
        (connection,) = made.app._registry.connections.values()
        made.kill()
        await made.until(lambda: connection.state == "lost", "the loss")
        go_on.set()
        await made.until(lambda: made.lua.status.get("state") == "failed", "the chat knows it")
        await made.until(lambda: made.lua.text.count("ended by SIGKILL") == 1, "it is told")
        made.restart()
        await made.until(lambda: made.lua.status.get("state") == "idle", "it is back")
        text = made.send()
        await made.until(lambda: f"calm: {text}" in made.lua.text, "an answer")
        await made.close()
    assert not made.extra
