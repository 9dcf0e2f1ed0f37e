"""A decoder for everything we receive, made once."""

from __future__ import annotations

from ..decode import Codec
from .client import CreateTerminalRequest, ReadTextFileRequest, TerminalRequest, WriteTextFileRequest
from .connection import CancelRequestNotification, Empty, InitializeResponse
from .elicitation import CompleteElicitationNotification, CreateElicitationRequest
from .session import (
    ListSessionsResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptResponse,
    ResumeSessionResponse,
    SetSessionConfigOptionResponse,
    SteerResponse,
)
from .tools import RequestPermissionRequest
from .updates import SessionNotification

# Results of our requests.
INITIALIZED = Codec[InitializeResponse](InitializeResponse)
SESSION_CREATED = Codec[NewSessionResponse](NewSessionResponse)
SESSION_LOADED = Codec[LoadSessionResponse](LoadSessionResponse)
SESSION_RESUMED = Codec[ResumeSessionResponse](ResumeSessionResponse)
SESSIONS_LISTED = Codec[ListSessionsResponse](ListSessionsResponse)
OPTION_SET = Codec[SetSessionConfigOptionResponse](SetSessionConfigOptionResponse)
PROMPTED = Codec[PromptResponse](PromptResponse)
STEERED = Codec[SteerResponse](SteerResponse)
DONE = Codec[Empty](Empty)

# Requests of the agent.
READ_TEXT_FILE = Codec[ReadTextFileRequest](ReadTextFileRequest)
WRITE_TEXT_FILE = Codec[WriteTextFileRequest](WriteTextFileRequest)
REQUEST_PERMISSION = Codec[RequestPermissionRequest](RequestPermissionRequest)
CREATE_TERMINAL = Codec[CreateTerminalRequest](CreateTerminalRequest)
TERMINAL = Codec[TerminalRequest](TerminalRequest)
CREATE_ELICITATION = Codec[CreateElicitationRequest](CreateElicitationRequest)

# Notifications of the agent.
SESSION_UPDATE = Codec[SessionNotification](SessionNotification)
ELICITATION_COMPLETE = Codec[CompleteElicitationNotification](CompleteElicitationNotification)
CANCEL_REQUEST = Codec[CancelRequestNotification](CancelRequestNotification)
