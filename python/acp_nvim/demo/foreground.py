"""What a session of version 2 of the protocol does before the user's eyes: from running to idle."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from .peer import INTERNAL_ERROR, Json
from .session import Session
from .turn import Turn


async def take(session: Session) -> None:
    """Wait for what is at work in the session; the caller releases the line. Can be cancelled."""
    await session.line.acquire()
    session.cancelled = False


@asynccontextmanager
async def taken(session: Session) -> AsyncIterator[None]:
    await take(session)
    try:
        yield
    finally:
        session.line.release()


async def work(turn: Turn, act: Coroutine[Any, Any, None]) -> None:
    """Do it and tell how it ended (V2-58, V2-59). The caller has the line."""
    session = turn.session
    ending: Json = {"stopReason": "end_turn"}
    session.turn = asyncio.create_task(act)
    try:
        if session.cancelled:  # it came before there was anything to cancel
            session.turn.cancel()
        await session.turn
    except asyncio.CancelledError:
        if not session.cancelled:
            raise
        ending = {"stopReason": "cancelled"}
    except ConnectionError:
        raise
    except Exception as error:
        traceback.print_exc()
        failure = {"code": INTERNAL_ERROR, "message": f"The demo agent failed: {error!r}"}
        ending = {"stopReason": "error", "error": failure}
    finally:
        session.turn = session.added = None
    await turn.usage()
    await turn.state("idle", **ending)
