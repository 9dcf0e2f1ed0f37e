"""A decoder for everything we receive, made once."""

from __future__ import annotations

from msgspec import Raw

from ..decode import Codec
from .connection import Empty, InitializeResponse, Versioned
from .elicitation import CompleteElicitationNotification, CreateElicitationRequest
from .session import (
    ListSessionsResponse,
    NewSessionResponse,
    PromptResponse,
    ResumeSessionResponse,
    SetSessionConfigOptionResponse,
)
from .tools import RequestPermissionRequest
from .updates import UpdateSessionNotification

# Results of our requests.
ANY = Codec[Raw](Raw)
VERSION = Codec[Versioned](Versioned)
INITIALIZED = Codec[InitializeResponse](InitializeResponse)
SESSION_CREATED = Codec[NewSessionResponse](NewSessionResponse)
SESSION_RESUMED = Codec[ResumeSessionResponse](ResumeSessionResponse)
SESSIONS_LISTED = Codec[ListSessionsResponse](ListSessionsResponse)
OPTION_SET = Codec[SetSessionConfigOptionResponse](SetSessionConfigOptionResponse)
PROMPTED = Codec[PromptResponse](PromptResponse)
DONE = Codec[Empty](Empty)

# Requests of the agent.
REQUEST_PERMISSION = Codec[RequestPermissionRequest](RequestPermissionRequest)
CREATE_ELICITATION = Codec[CreateElicitationRequest](CreateElicitationRequest)

# Notifications of the agent.
SESSION_UPDATE = Codec[UpdateSessionNotification](UpdateSessionNotification)
ELICITATION_COMPLETE = Codec[CompleteElicitationNotification](CompleteElicitationNotification)
