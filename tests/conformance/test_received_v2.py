"""Every message the schema of v2 allows an agent to send is decoded, and a broken part costs only itself."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.wire import jsonrpc
from acp_nvim.wire.acp_v1.codecs import CANCEL_REQUEST
from acp_nvim.wire.acp_v2 import codecs as w
from acp_nvim.wire.decode import Codec

from .definitions import STABLE_V2, UNSTABLE_V2
from .received import Received

RECEIVED: dict[str, Codec[Any]] = {
    # Results of our requests.
    "CancelTerminalResponse": w.DONE,
    "CancelToolCallResponse": w.DONE,
    "CloseSessionResponse": w.DONE,
    "DeleteSessionResponse": w.DONE,
    "InitializeResponse": w.INITIALIZED,
    "ListSessionsResponse": w.SESSIONS_LISTED,
    "LoginAuthResponse": w.DONE,
    "LogoutAuthResponse": w.DONE,
    "NewSessionResponse": w.SESSION_CREATED,
    "PromptResponse": w.PROMPTED,
    "ResumeSessionResponse": w.SESSION_RESUMED,
    "SetSessionConfigOptionResponse": w.OPTION_SET,
    "Error": jsonrpc.ERROR,
    # Requests of the agent.
    "CreateElicitationRequest": w.CREATE_ELICITATION,
    "RequestPermissionRequest": w.REQUEST_PERMISSION,
    # Notifications of the agent.
    "CancelRequestNotification": CANCEL_REQUEST,
    "CompleteElicitationNotification": w.ELICITATION_COMPLETE,
    "UpdateSessionNotification": w.SESSION_UPDATE,
}


def _aside(name: str, tree: Any) -> bool:
    """What we read although the schema of November refuses it, and what is refused whatever else it says."""
    match name:
        case "PromptResponse":  # the older text has no message id (V2-50)
            return True
        case "CancelRequestNotification":  # null is taken, and finds nothing
            return tree.get("requestId", 0) is None
        case "CreateElicitationRequest":
            return isinstance(tree.get("mode"), str) and tree["mode"] not in ("form", "url")
        case _:
            return False


V2 = Received(
    STABLE_V2,
    UNSTABLE_V2,
    RECEIVED,
    {
        "UpdateSessionNotification": 8,
        "RequestPermissionRequest": 3,
        "InitializeResponse": 3,
        "CreateElicitationRequest": 3,
    },
    _aside,
)
names = pytest.mark.parametrize("name", RECEIVED)


def test_all_that_an_agent_may_send_is_here() -> None:
    assert RECEIVED.keys() == V2.theirs()


@pytest.mark.req("V2-20", "V2-83", "V2-88", "V2-108", "V2-110", "V2-141")
@names
def test_valid_messages_are_decoded(name: str) -> None:
    V2.valid(name)


@pytest.mark.req("V2-150", "V2-154", "V2-156")
@pytest.mark.parametrize("name", V2.drafted())
def test_valid_messages_of_the_unstable_schema_are_decoded(name: str) -> None:
    V2.valid_draft(name)


@pytest.mark.req("V2-86", "V2-115", "V2-153")
@pytest.mark.parametrize("name", [name for name in RECEIVED if name != "Error"])  # its data is kept as sent
def test_a_broken_part_costs_only_itself(name: str) -> None:
    V2.broken_part(name)


@pytest.mark.req("V2-151", "V2-153")
@names
def test_what_the_schema_refuses_is_refused_and_nothing_else(name: str) -> None:
    V2.refused(name)


@names
def test_null_and_nothing_are_an_empty_object(name: str) -> None:
    V2.empty(name)
