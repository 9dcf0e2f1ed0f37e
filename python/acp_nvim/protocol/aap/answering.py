"""What is said to the calls that wait for us: results of our tools, and permissions (spec section 8)."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from acp_nvim.session.events import ToolPatch
from acp_nvim.session.ports import ClientTools, Questions, Sink
from acp_nvim.session.rejection import CANCELLED
from acp_nvim.session.tools import ClientCall
from acp_nvim.wire.aap.messages import ToolMessage, ToolPermissionMessage
from acp_nvim.wire.aap.requests import TurnMessage

from . import permission
from .links import Call, Link
from .reading import announced

#: What the model is told of a tool that another application has declared, and we do not have (AAP-29).
NOT_HERE = "This tool is not available in this application."
#: The same of one of ours that was ended in the middle.
ENDED = "The user cancelled the turn while this tool was at work: what it had begun may have been done."


class Answering:
    """``tools`` None: there are none of ours. ``host``: of the server, for people."""

    def __init__(self, questions: Questions, sink: Sink, tools: ClientTools | None, host: str) -> None:
        self._questions = questions
        self._sink = sink
        self._tools = tools
        self._host = host

    async def answers(self, link: Link, calls: Sequence[Call]) -> list[TurnMessage]:
        """The answers to all open calls, to be sent together and in their order (AAP-55).

        Our own tools run one after the other: a model that edits and then runs the tests in one message
        means them in this order. Meanwhile the user is asked about the server's.
        """
        for call in calls:
            if call.row not in link.session.tool_calls:
                self._sink.apply(link.session, announced(link, call))
        left = [call for call in calls if call.id not in link.answers]
        if link.cancelled:
            link.answers.update({call.id: self._refused(link, call) for call in left})
        else:
            async with anyio.create_task_group() as group:
                group.start_soon(self._run_all, link, [call for call in left if link.ours(call.name)])
                for call in left:
                    if not link.ours(call.name):
                        group.start_soon(self._permit, link, call)
        return [link.answers[call.id] for call in calls]

    async def _permit(self, link: Link, call: Call) -> None:
        link.answers[call.id] = await permission.ask(call, link, self._questions, self._sink)

    async def _run_all(self, link: Link, calls: Sequence[Call]) -> None:
        for call in calls:
            link.answers[call.id] = ToolMessage(call.id, await self._run(link, call))

    async def _run(self, link: Link, call: Call) -> str:
        tool = link.own.get(call.name)
        if tool is None or self._tools is None:
            self._sink.apply(link.session, ToolPatch(call.row, status="failed"))
            return NOT_HERE
        own = ClientCall(call.row, tool.name, call.input, self._host)
        try:
            said = await self._tools.run(link.session, own)
        except anyio.get_cancelled_exc_class():
            link.answers[call.id] = ToolMessage(call.id, ENDED)
            raise
        link.done.add(call.row)
        return said

    @staticmethod
    def _refused(link: Link, call: Call) -> TurnMessage:
        """To a call that was open when the user cancelled (AAP-62)."""
        if not link.ours(call.name):
            return ToolPermissionMessage(call.id, granted=False, reason=CANCELLED)
        return ToolMessage(call.id, CANCELLED if call.name in link.own else NOT_HERE)
