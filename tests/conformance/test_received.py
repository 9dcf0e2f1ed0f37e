"""Every message the schema of v1 allows an agent to send is decoded, and a broken part costs only itself."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.wire import acp_v1 as w
from acp_nvim.wire import jsonrpc
from acp_nvim.wire.decode import Codec

from .definitions import STABLE, UNSTABLE
from .received import Received

RECEIVED: dict[str, Codec[Any]] = {
    # Results of our requests.
    "AuthenticateResponse": w.DONE,
    "CloseSessionResponse": w.DONE,
    "DeleteSessionResponse": w.DONE,
    "InitializeResponse": w.INITIALIZED,
    "ListSessionsResponse": w.SESSIONS_LISTED,
    "LoadSessionResponse": w.SESSION_LOADED,
    "LogoutResponse": w.DONE,
    "NewSessionResponse": w.SESSION_CREATED,
    "PromptResponse": w.PROMPTED,
    "ResumeSessionResponse": w.SESSION_RESUMED,
    "SetSessionConfigOptionResponse": w.OPTION_SET,
    "SetSessionModeResponse": w.DONE,
    "Error": jsonrpc.ERROR,
    # Requests of the agent.
    "CreateElicitationRequest": w.CREATE_ELICITATION,
    "CreateTerminalRequest": w.CREATE_TERMINAL,
    "KillTerminalRequest": w.TERMINAL,
    "ReadTextFileRequest": w.READ_TEXT_FILE,
    "ReleaseTerminalRequest": w.TERMINAL,
    "RequestPermissionRequest": w.REQUEST_PERMISSION,
    "TerminalOutputRequest": w.TERMINAL,
    "WaitForTerminalExitRequest": w.TERMINAL,
    "WriteTextFileRequest": w.WRITE_TEXT_FILE,
    # Notifications of the agent.
    "CancelRequestNotification": w.CANCEL_REQUEST,
    "CompleteElicitationNotification": w.ELICITATION_COMPLETE,
    "SessionNotification": w.SESSION_UPDATE,
}


def _aside(name: str, tree: Any) -> bool:
    """Answered with -32602 whatever else it says (V1-198)."""
    return isinstance(tree.get("mode"), str) and tree["mode"] not in ("form", "url")


V1 = Received(
    STABLE,
    UNSTABLE,
    RECEIVED,
    {"SessionNotification": 12, "InitializeResponse": 3, "CreateElicitationRequest": 4},
    _aside,
)
names = pytest.mark.parametrize("name", RECEIVED)


def test_all_that_an_agent_may_send_is_here() -> None:
    assert RECEIVED.keys() == V1.theirs()


@pytest.mark.req("V1-88", "V1-95", "V1-209", "V1-213")
@names
def test_valid_messages_are_decoded(name: str) -> None:
    V1.valid(name)


@pytest.mark.req("V1-89", "V1-213")
@pytest.mark.parametrize("name", V1.drafted())
def test_valid_messages_of_the_unstable_schema_are_decoded(name: str) -> None:
    V1.valid_draft(name)


@pytest.mark.req("V1-31", "V1-35", "V1-56", "V1-114", "V1-140", "V1-214")
@names
def test_a_broken_part_costs_only_itself(name: str) -> None:
    V1.broken_part(name)


@pytest.mark.req("V1-214")
@names
def test_what_the_schema_refuses_is_refused_and_nothing_else(name: str) -> None:
    V1.refused(name)


@pytest.mark.req("V1-13", "V1-14")
@names
def test_null_and_nothing_are_an_empty_object(name: str) -> None:
    V1.empty(name)
