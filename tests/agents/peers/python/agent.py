"""An agent made with the official Python SDK. A prompt "do NAME" makes it do what acts.py has by that name.

PEER_LOG    file for every message that passes the SDK, one JSON value a line
PEER_LACKS  capabilities it does without, with blanks between: load list resume fork
PEER_LOCKED set: a login is needed
PEER_MODES  set: sessions have modes, no options

Runs in an environment of its own, with the SDK and without the plugin's packages.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import acts
from acp import (
    PROTOCOL_VERSION,
    RequestError,
    run_agent,
    update_agent_message_text,
    update_agent_thought_text,
)
from acp import schema as s
from acp.connection import StreamDirection, StreamEvent
from acp.helpers import start_tool_call, update_available_commands, update_user_message_text

LACKS = os.environ.get("PEER_LACKS", "").split()
LOG = Path(os.environ["PEER_LOG"])


def log(**row: Any) -> None:
    with LOG.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


class Complaints(logging.Handler):
    """What the SDK complains of goes into the log, where the test sees it."""

    def emit(self, record: logging.LogRecord) -> None:
        log(complaint=self.format(record))


class Watch:
    """Writes every message into the log, with the method that an answer answers."""

    def __init__(self) -> None:
        self._asked: dict[StreamDirection, dict[Any, str]] = {each: {} for each in StreamDirection}

    def __call__(self, event: StreamEvent) -> None:
        message, here = event.message, event.direction
        there = next(each for each in StreamDirection if each is not here)
        to = None
        if "method" not in message:
            to = self._asked[there].get(message.get("id"))
        elif "id" in message:
            self._asked[here][message["id"]] = message["method"]
        key = "msg" if here is StreamDirection.INCOMING else "said"
        log(**{key: message}, **({"to": to} if to else {}))


@dataclass
class Session:
    """What the agent knows of one session."""

    cwd: str
    title: str | None = None
    values: dict[str, Any] = field(default_factory=dict)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    def setup(self) -> dict[str, Any]:
        """The fields of an answer that tells what can be set."""
        if "PEER_MODES" in os.environ:
            return {"modes": acts.modes(self.values.get("mode", "ask"))}
        return {"config_options": acts.options(**self.values)}


class Peer:
    """The agent. The SDK has checked what arrives here."""

    def __init__(self) -> None:
        here = str(Path.cwd())
        self.client: Any = None
        self.sessions = {
            "old-1": Session(here, "The first of old"),
            "old-2": Session(here, "The second of old"),
        }
        self.made = 0
        self.locked = "PEER_LOCKED" in os.environ

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    def known(self, session_id: str) -> Session:
        if session_id not in self.sessions:
            raise RequestError.resource_not_found(session_id)
        return self.sessions[session_id]

    async def initialize(self, protocol_version: int, **_: Any) -> s.InitializeResponse:
        def able(name: str, kind: type) -> Any:
            return None if name in LACKS else kind()

        session = s.SessionCapabilities(
            list=able("list", s.SessionListCapabilities),
            resume=able("resume", s.SessionResumeCapabilities),
            fork=able("fork", s.SessionForkCapabilities),
            close=s.SessionCloseCapabilities(),
            additional_directories=s.SessionAdditionalDirectoriesCapabilities(),
        )
        return s.InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_info=s.Implementation(name="python-peer", title="Python peer", version="1.0.0"),
            agent_capabilities=s.AgentCapabilities(
                load_session="load" not in LACKS,
                prompt_capabilities=s.PromptCapabilities(embedded_context=True),
                mcp_capabilities=s.McpCapabilities(http=True),
                session_capabilities=session,
            ),
            auth_methods=[s.AuthMethodAgent(id="own", name="By itself", description="needs nothing")],
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        self.locked = method_id != "own"

    async def new_session(self, cwd: str, **_: Any) -> s.NewSessionResponse:
        if self.locked:
            raise RequestError.auth_required()
        self.made += 1
        session_id = f"new-{self.made}"
        self.sessions[session_id] = session = Session(cwd)
        await self.client.session_update(session_id, update_available_commands(acts.COMMANDS))
        return s.NewSessionResponse(session_id=session_id, **session.setup())

    async def load_session(self, session_id: str, **_: Any) -> s.LoadSessionResponse:
        session = self.known(session_id)
        past = start_tool_call("past", "Look back", kind="search", status="completed")
        for update in (
            update_user_message_text("What did we say?"),
            update_agent_thought_text("It was long ago."),
            past,
            update_agent_message_text("We said *this*."),
            s.SessionInfoUpdate(session_update="session_info_update", title=session.title),
        ):
            await self.client.session_update(session_id, update)
        return s.LoadSessionResponse(**session.setup())

    async def resume_session(self, session_id: str, **_: Any) -> s.ResumeSessionResponse:
        return s.ResumeSessionResponse(**self.known(session_id).setup())

    async def fork_session(self, session_id: str, cwd: str, **_: Any) -> s.ForkSessionResponse:
        self.known(session_id)
        forked = f"fork of {session_id}"
        self.sessions[forked] = session = Session(cwd)
        return s.ForkSessionResponse(session_id=forked, **session.setup())

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> s.ListSessionsResponse:
        found = [(ident, each) for ident, each in self.sessions.items() if cwd in (None, each.cwd)]
        at = int(cursor or 0)
        page = [
            s.SessionInfo(session_id=ident, cwd=each.cwd, title=each.title, updated_at="2026-01-02T03:04:05Z")
            for ident, each in found[at : at + 1]
        ]
        return s.ListSessionsResponse(sessions=page, next_cursor=str(at + 1) if at + 1 < len(found) else None)

    async def close_session(self, session_id: str, **_: Any) -> None:
        self.known(session_id)

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> None:
        self.known(session_id).values = {"mode": mode_id}

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> s.SetSessionConfigOptionResponse:
        session = self.known(session_id)
        session.values[config_id] = value
        return s.SetSessionConfigOptionResponse(config_options=acts.options(**session.values))

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> s.PromptResponse:
        session = self.known(session_id)
        session.cancelled.clear()
        turn = acts.Turn(self.client, session_id, session.cwd, prompt, session.cancelled)
        return s.PromptResponse(stop_reason=await turn.act() or "end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        self.known(session_id).cancelled.set()


async def main() -> None:
    logging.basicConfig(level=logging.WARNING, handlers=[Complaints()])
    log(event="start", pid=os.getpid(), argv=sys.argv)
    await run_agent(Peer(), use_unstable_protocol=True, observers=[Watch()])


if __name__ == "__main__":
    asyncio.run(main())
