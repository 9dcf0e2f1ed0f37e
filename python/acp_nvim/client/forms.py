"""Forms and pages of agents, between Lua and the queue of questions (spec section 18)."""

from __future__ import annotations

from collections.abc import Callable

from acp_nvim.editor import Editor
from acp_nvim.service.forms import check
from acp_nvim.service.questions import QuestionService
from acp_nvim.session.asked import Permission
from acp_nvim.session.elicitation import ACCEPT, Content, Elicitation, Form
from acp_nvim.text.sanitise import one_line

from . import payloads
from .registry import Registry
from .secrets import Secrets

#: Cells of what the system says of a page that did not open.
WHY_CELLS = 400


class Forms:
    """Answers the messages ``form`` and ``page_failed`` of Lua. ``spawn`` starts an owned task."""

    def __init__(
        self,
        registry: Registry,
        editor: Editor,
        questions: QuestionService,
        secrets: Secrets,
        spawn: Callable[..., None],
    ) -> None:
        self._registry = registry
        self._editor = editor
        self._questions = questions
        self._secrets = secrets
        self._spawn = spawn

    def form(self, request: payloads.FillForm) -> None:
        """Look at what was typed; if it is all right and is to be sent, it is the answer."""
        self._spawn(self._form, request)

    async def _form(self, request: payloads.FillForm) -> None:
        permission = self._questions.find(request.id)
        subject = permission.subject if permission is not None else None
        if not isinstance(subject, Elicitation) or subject.form is None:
            return
        typed = request.values if isinstance(request.values, dict) else {}
        content, wrong = await check(subject.form, typed, None if request.send else request.only)
        if request.send and not wrong:
            self._hide_secrets(subject.form, content)
            self._questions.fill(request.id, content)
            return
        self._editor.notify("acp.question.form", "checked", request.id, request.seq, wrong)

    def _hide_secrets(self, form: Form, content: Content) -> None:
        """Before anything of it is written down: the trace keeps what is sent (C41)."""
        for field in form.fields:
            value = content.get(field.key)
            if field.secret and isinstance(value, str):
                self._secrets.add([value])
            if field.secret and isinstance(value, str | int | float) and not isinstance(value, bool):
                self._secrets.add_member(field.key, value)

    def closed(self, permission: Permission) -> None:
        """The user agreed to visit a page: open exactly what they were shown (V1-204)."""
        subject = permission.subject
        if isinstance(subject, Elicitation) and subject.url is not None and permission.answer == ACCEPT:
            self._editor.notify("acp.browser", "page", subject.url, permission.id)

    def page_failed(self, request: payloads.PageFailed) -> None:
        """No program took the address. The message of it goes with the next one; the chat keeps it."""
        for chat in self._registry:
            if request.id in chat.session.permissions:
                lines = [one_line(request.why, WHY_CELLS), "Copy the address from its row."]
                chat.tell.note("warning", "no browser could be opened", lines)
