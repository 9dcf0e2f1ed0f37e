"""All tools, by name: what the agent is told of them, and how a call of one is served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from acp_nvim.editor import NvimError, valid
from acp_nvim.process.spawn import Spawner
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Session
from acp_nvim.session.events import Event, StateSet
from acp_nvim.session.ports import Questions, RequestError, Sink
from acp_nvim.session.tools import ClientCall, ClientTool

from ..files import Buffers, FileService
from ..terminals import TerminalService
from . import commands, finding, given, looking, texts
from .consent import Consent
from .git import Git
from .kit import Done, Job, Kit


@dataclass(frozen=True, slots=True)
class _Tool:
    about: ClientTool
    takes: type[given.Given]
    run: Callable[[Job, Any], Awaitable[Done]]


def _tool(
    run: Callable[[Job, Any], Awaitable[Done]], takes: type[given.Given], kind: str, title: str, about: str
) -> _Tool:
    name = run.__name__
    return _Tool(ClientTool(name, title, about, kind, given.schema(takes)), takes, run)


_ALL = (
    _tool(
        texts.read_file,
        given.ReadFile,
        "read",
        "Read a file",
        "Reads lines of a text file of the user's project, with edits that are not saved yet.",
    ),
    _tool(
        texts.write_file,
        given.WriteFile,
        "edit",
        "Write a file",
        "Writes the whole text of a file, new or not. The user sees the change and is asked.",
    ),
    _tool(
        texts.edit_file,
        given.EditFile,
        "edit",
        "Edit a file",
        "Replaces a piece of a file by another text. The user sees the change and is asked.",
    ),
    _tool(
        finding.list_files,
        given.ListFiles,
        "search",
        "List files",
        "Lists the files of the user's project, or of a folder of it, without those that git ignores.",
    ),
    _tool(
        finding.search_files,
        given.SearchFiles,
        "search",
        "Search files",
        "Finds lines with a text in the user's project; gives file, line number and line.",
    ),
    _tool(
        commands.run_command,
        given.RunCommand,
        "execute",
        "Run a command",
        "Runs a program on the user's machine. The user is asked. Gives its exit code and its output.",
    ),
    _tool(
        looking.open_buffers,
        given.Given,
        "read",
        "Open buffers",
        "Lists the project's files that are open in the user's editor.",
    ),
    _tool(
        looking.diagnostics,
        given.Diagnostics,
        "read",
        "Diagnostics",
        "Gives what language servers and linters say of open files.",
    ),
    _tool(
        looking.selection,
        given.Given,
        "read",
        "Selection",
        "Gives the place of the user's cursor in the code, and what they last selected there.",
    ),
)
TOOLS = {tool.about.name: tool for tool in _ALL}


class ToolBox:
    """Implements ``ports.ClientTools``, for all sessions. ``report`` is told of faults of ours."""

    def __init__(
        self,
        editor: Buffers,
        files: FileService,
        terminals: TerminalService,
        questions: Questions,
        sink: Sink,
        spawner: Spawner,
        report: Callable[[Exception], None],
    ) -> None:
        self._report = report
        self._consent = Consent(questions)
        self._kit = Kit(editor, files, terminals, self._consent, Git(spawner), sink)

    def named(self, name: str) -> ClientTool | None:
        """What there is to say of a tool; None: there is none of this name."""
        return TOOLS[name].about if name in TOOLS else None

    async def run(self, session: Session, call: ClientCall) -> str:
        """Serve a call; what goes wrong is told in words, to the agent and in the row (AAP-29)."""
        job = Job(self._kit, session, call)
        job.show(status="in_progress")
        try:
            tool = TOOLS[call.tool]
            done = await tool.run(job, given.take(tool.takes, call.input))
        except RequestError as error:
            return self._failed(job, error.message)
        except (NvimError, OSError) as error:
            return self._failed(job, str(error))
        except Exception as error:  # a fault of ours ends no turn, and the agent must have its answer
            self._report(error)
            return self._failed(job, "the tool is broken")
        content = done.content if done.content is not None else [Block.of_text(done.said)]
        fields = {"raw_output": done.raw} if done.raw is not None else {}
        job.show(status="completed", content=content, **fields)
        return str(valid(done.said))

    def on_event(self, session: Session, event: Event, _touched: object) -> None:
        """Called by the store after each event: what was allowed for a session ends with it."""
        if isinstance(event, StateSet) and event.state in ("closed", "lost"):
            self._consent.forget(session)

    @staticmethod
    def _failed(job: Job, why: str) -> str:
        call = job.session.tool_calls.get(job.call.row)
        kept = list(call.content) if call is not None else []
        job.show(status="failed", content=[*kept, Block.of_text(why)])
        return str(valid(f"It failed: {why}"))
