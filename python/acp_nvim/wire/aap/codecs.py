"""A decoder for everything we receive, made once."""

from __future__ import annotations

from ..decode import Codec
from .events import EventData
from .messages import HistoryResponse, TurnResponse
from .meta import ErrorBody, Meta, SessionCreated, SessionInfo, SessionPage

META = Codec[Meta](Meta)
SESSION_CREATED = Codec[SessionCreated](SessionCreated)
SESSION = Codec[SessionInfo](SessionInfo)
SESSIONS = Codec[SessionPage](SessionPage)
HISTORY = Codec[HistoryResponse](HistoryResponse)
TURN = Codec[TurnResponse](TurnResponse)
EVENT = Codec[EventData](EventData)
ERROR = Codec[ErrorBody](ErrorBody)
