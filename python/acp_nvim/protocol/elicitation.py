"""``elicitation/create`` and ``elicitation/complete``: forms and pages for the user (spec section 18)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeAlias

import anyio
from msgspec import UNSET, Raw

from acp_nvim.session.asked import Permission, PermissionOption
from acp_nvim.session.elicitation import (
    ACCEPT,
    DECLINE,
    Elicitation,
    Form,
    FormChoice,
    FormField,
    Reply,
)
from acp_nvim.session.entities import Note, Session
from acp_nvim.session.events import ElicitationFinished, NoteShown, TurnCancelling
from acp_nvim.session.ports import Questions, RequestError, Sink
from acp_nvim.text.sanitise import one_line
from acp_nvim.text.url import BadUrlError, inspect
from acp_nvim.wire.acp_v1 import elicitation as wire
from acp_nvim.wire.acp_v1.codecs import ELICITATION_COMPLETE
from acp_nvim.wire.base import RequestId, UnknownType
from acp_nvim.wire.decode import Report
from acp_nvim.wire.jsonrpc import INVALID_PARAMS

from .failures import NOT_FOUND
from .links import L, Links

#: Whose chat waits for a request of ours, and what is set at the end of the request.
Waiting: TypeAlias = Callable[[RequestId], tuple[Session, anyio.Event] | None]
Answer: TypeAlias = wire.ElicitationAccept | wire.ElicitationDecline | wire.ElicitationCancel

#: Pages whose end may still be told; of more, the oldest are forgotten.
MOST_PAGES = 256
#: Cells of an address in a note about it.
URL_CELLS = 300


class Elicitations(Generic[L]):
    """Those of one connection. ``flush`` ends the running message, ``note`` is for the trace.

    ``read`` decodes a request as the connection's version has it.
    """

    def __init__(
        self,
        links: Links[L],
        sink: Sink,
        questions: Questions,
        flush: Callable[[L], None],
        note: Callable[[str], None],
        waiting: Waiting,
        read: Callable[[Raw, Report], wire.CreateElicitationRequest],
    ) -> None:
        self._read = read
        self._links = links
        self._sink = sink
        self._questions = questions
        self._flush = flush
        self._note = note
        self._waiting = waiting
        # By the agent's id: pages the user was sent to, or is being asked about, with what ends that.
        self._pages: dict[str, tuple[Session, Elicitation, anyio.CancelScope]] = {}

    async def create(self, params: Raw) -> Answer:
        """Ask the user (V1-197..205). Withdrawn by ``$/cancel_request``: answered with -32800 (V1-85).

        Raises RequestError: a mode we do not offer, a request of ours that is not open, a bad address.
        """
        request = self._read(params, self._note)
        if isinstance(request, wire.UnknownElicitation):
            raise RequestError(INVALID_PARAMS, "this mode is not supported", {"mode": request.kind})
        session, over = self._scope(request)
        elicitation = _elicitation(request)
        if elicitation.url is not None:
            self._check_url(session, elicitation.url)
        link = self._links.of(session)
        if link is not None:
            self._flush(link)
            if link.cancelling:
                self._sink.apply(session, TurnCancelling())
                return wire.ElicitationCancel()
        reply = Reply("cancel")
        async with anyio.create_task_group() as group:
            if over is not None:
                group.start_soon(_cancel_after, over, group.cancel_scope)
            if elicitation.remote_id is not None:
                self._remember(elicitation.remote_id, session, elicitation, group.cancel_scope)
            reply = await self._questions.elicit(session, _question(elicitation))
            group.cancel_scope.cancel()
        if reply.action != "accept" and elicitation.remote_id is not None:
            self._forget(elicitation.remote_id, elicitation)
        return _answer(reply, elicitation)

    def complete(self, params: Raw) -> None:
        """A page is done with (V1-207). If the user was not even there yet, they need not go any more."""
        told = ELICITATION_COMPLETE.decode(params, self._note)
        page = self._pages.pop(told.elicitation_id, None)
        if page is None:
            self._note("no page of this elicitationId is open: ignored")
            return
        session, elicitation, asking = page
        still_asked = elicitation.state == "open"
        self._sink.apply(session, ElicitationFinished(elicitation))
        if still_asked:
            asking.cancel()

    def _scope(
        self, request: wire.ElicitationForm | wire.ElicitationUrl
    ) -> tuple[Session, anyio.Event | None]:
        """The session in whose chat it is asked, and what ends it besides (V1-197). Raises RequestError."""
        if request.session_id is not None:
            link = self._links.known(request.session_id)
            if link is None:
                raise RequestError(NOT_FOUND, "unknown session", {"sessionId": request.session_id})
            return link.session, None
        found = self._waiting(request.request_id) if request.request_id is not UNSET else None
        if found is None:
            raise RequestError(INVALID_PARAMS, "no request of this requestId waits for an answer")
        return found

    def _check_url(self, session: Session, url: str) -> None:
        """Raises RequestError for an address that is not to be opened, after telling the user."""
        try:
            inspect(url)
        except BadUrlError as error:
            shown = one_line(url, URL_CELLS)
            note = Note(
                f"acp-{session.arrival + 1}",
                "warning",
                f"{one_line(session.agent)} wanted to send you to an address that was refused: {error}",
                [shown],
            )
            self._sink.apply(session, NoteShown(note))
            raise RequestError(INVALID_PARAMS, f"the url was refused: {error}") from error

    def _remember(
        self, remote_id: str, session: Session, elicitation: Elicitation, asking: anyio.CancelScope
    ) -> None:
        self._pages.pop(remote_id, None)
        self._pages[remote_id] = (session, elicitation, asking)
        if len(self._pages) > MOST_PAGES:
            del self._pages[next(iter(self._pages))]

    def _forget(self, remote_id: str, elicitation: Elicitation) -> None:
        if remote_id in self._pages and self._pages[remote_id][1] is elicitation:
            del self._pages[remote_id]


async def _cancel_after(over: anyio.Event, scope: anyio.CancelScope) -> None:
    """The request it was asked for is over: nobody needs the answer (V1-208)."""
    await over.wait()
    scope.cancel()


def _answer(reply: Reply, elicitation: Elicitation) -> Answer:
    match reply.action:
        case "accept":
            content = dict(reply.content or {}) if elicitation.form is not None else None
            return wire.ElicitationAccept(content=content)
        case "decline":
            return wire.ElicitationDecline()
        case _:
            return wire.ElicitationCancel()


def _question(elicitation: Elicitation) -> Permission:
    decline = PermissionOption(DECLINE, "Decline", "other")
    if elicitation.url is not None:
        options = [PermissionOption(ACCEPT, f"Open {inspect(elicitation.url).host}", "other"), decline]
    elif elicitation.form is not None and elicitation.form.impossible:
        options = [decline]
    else:
        options = [PermissionOption(ACCEPT, "Answer" if elicitation.asks else "Accept", "other"), decline]
    return Permission(
        id="",  # given by the queue of questions
        options=options,
        title=elicitation.message,
        subject=elicitation,
        tool_call_id=elicitation.tool_call_id,
    )


def _elicitation(request: wire.ElicitationForm | wire.ElicitationUrl) -> Elicitation:
    # A tool call is one of a session; the empty id names none.
    call = (request.tool_call_id or None) if request.session_id is not None else None
    if isinstance(request, wire.ElicitationUrl):
        return Elicitation(
            request.message, url=request.url, remote_id=request.elicitation_id, tool_call_id=call
        )
    return Elicitation(request.message, form=form(request.requested_schema), tool_call_id=call)


def form(schema: wire.ElicitationSchema) -> Form:
    """The fields in the agent's order; what is required but not described is a field we cannot offer."""
    required = set(schema.required or ())
    fields = [_field(key, each, key in required) for key, each in schema.properties.items()]
    fields += [
        FormField(key, "unknown", required=True)
        for key in dict.fromkeys(schema.required or ())
        if key not in schema.properties
    ]
    return Form(tuple(fields), schema.title, schema.description)


def _field(key: str, said: wire.ElicitationProperty, required: bool) -> FormField:
    match said:
        case wire.StringProperty():
            options = _choices(said.one_of, said.enum)
            return FormField(
                key,
                "text" if options is None else "choice",
                said.title,
                said.description,
                required,
                said.default,
                said.min_length,
                said.max_length,
                said.pattern,
                said.format,
                options or (),
            )
        case wire.NumberProperty() | wire.IntegerProperty():
            kind = "number" if isinstance(said, wire.NumberProperty) else "integer"
            return FormField(
                key,
                "integer" if kind == "integer" else "number",
                said.title,
                said.description,
                required,
                said.default,
                said.minimum,
                said.maximum,
            )
        case wire.BooleanProperty():
            return FormField(key, "boolean", said.title, said.description, required, said.default)
        case wire.MultiSelectProperty():
            options = _choices(said.items.any_of, said.items.enum)
            return FormField(
                key,
                "choices" if options is not None else "unknown",
                said.title,
                said.description,
                required,
                said.default,
                said.min_items,
                said.max_items,
                choices=options or (),
                raw=said,
            )
        case UnknownType():
            title = said.raw.get("title")
            return FormField(
                key, "unknown", title if isinstance(title, str) else None, required=required, raw=said.raw
            )


def _choices(titled: list[wire.EnumOption] | None, plain: list[str] | None) -> tuple[FormChoice, ...] | None:
    if titled is not None:
        return tuple(FormChoice(each.const, each.title, each.description) for each in titled)
    if plain is not None:
        return tuple(FormChoice(each, each) for each in plain)
    return None
