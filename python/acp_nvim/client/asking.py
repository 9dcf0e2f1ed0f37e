"""Questions on their way to the user's eyes, and answers on their way back."""

from __future__ import annotations

from collections.abc import Callable

from acp_nvim.editor import Editor
from acp_nvim.service.questions import QuestionService
from acp_nvim.session.asked import Permission
from acp_nvim.session.entities import Session
from acp_nvim.view.frames import Frames
from acp_nvim.view.icons import Icons
from acp_nvim.view.questions import describe

from . import payloads
from .announce import Announcer
from .overwrites import Overwrites
from .registry import Registry


class Asking:
    """What QuestionService shows and hides. ``closed`` is told of each question that is over."""

    def __init__(
        self,
        editor: Editor,
        registry: Registry,
        frames: Frames,
        announcer: Announcer,
        overwrites: Overwrites,
        icons: Icons,
        spawn: Callable[..., None],
        closed: Callable[[Permission], None],
    ) -> None:
        self._editor = editor
        self._registry = registry
        self._frames = frames
        self._announcer = announcer
        self._overwrites = overwrites
        self._icons = icons
        self._spawn = spawn
        self._closed = closed

    def answer(self, questions: QuestionService, request: payloads.Answer) -> None:
        """A task, as cancelling is: an answer that comes after a cancel must not be given before it."""
        self._spawn(self._answer, questions, request)

    async def _answer(self, questions: QuestionService, request: payloads.Answer) -> None:
        questions.answer(request.id, request.index, request.by)

    def show(self, session: Session, permission: Permission) -> None:
        """Put a question on the screen."""
        if self._overwrites.busy(session, permission.tool_call_id or ""):
            self._spawn(self._show_soon, session, permission)
        else:
            self._show_now(session, permission)

    async def _show_soon(self, session: Session, permission: Permission) -> None:
        """What it says is only known in a moment, and must not change under the user's eyes."""
        await self._overwrites.settled(session, permission.tool_call_id or "")
        if permission.state == "open":
            self._show_now(session, permission)

    def _show_now(self, session: Session, permission: Permission) -> None:
        chat = self._registry.of(session)
        if chat is None:
            return
        call = session.tool_calls.get(permission.tool_call_id or "")
        question = describe(permission, call, session, self._icons, session.agent)
        self._editor.notify("acp.question", "open", question.payload(chat.n))
        self._announcer.asked(chat, permission)
        self._frames.wake()

    def hide(self, permission: Permission, outcome: str) -> None:
        """Take a question that is over off the screen."""
        self._editor.notify("acp.question", "close", permission.id, outcome)
        self._closed(permission)
