"""Every scenario with opencode and gemini: its file open, open with unsaved edits, not open; followed or not.

What always must hold: nothing happens before the answer; what the user has typed is in the buffer, or one
undo away from it; a file that the agent leaves alone is not touched; nothing is said outside the chat, and
the user is in the prompt when it is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.agents.conftest import StartChat
from tests.agents.real import FILES, Chat

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

GREETING = FILES["greeting.txt"]
TODO = "# todo\n- one\n"
OTHER = "README.md"
"""What is open when the file of the scenario is not."""

MINE = "my words"
"""What the user has typed at the end of the file, and not saved."""


@dataclass(frozen=True)
class Case:
    """A scenario, and what is to be seen of it.

    ``file`` had the text ``before`` (None: did not exist) and gets ``theirs`` (None: is left alone). ``row``
    and ``said`` must be found in the transcript. ``at``: the line that follow goes to (0: the file is opened
    if it is not), None if it does not go there.
    """

    scenario: str
    row: str = ""
    said: str = ""
    file: str = "greeting.txt"
    before: str | None = GREETING
    theirs: str | None = None
    asks: bool = True
    at: int | None = None
    by_command: bool = False
    answer: str = "allow_once"
    cancel: str = ""
    name: str = ""

    @property
    def change(self) -> tuple[str, str] | None:
        """The replacement that the agent makes, if that is what it does."""
        if self.theirs is None or self.file != "greeting.txt":
            return None
        return "hello world", self.theirs.splitlines()[1]


def greeting(word: str) -> str:
    return GREETING.replace("hello world", f"hello {word}")


EDITED = r"✓ edit +greeting\.txt +\+1 -1"
ENDED = r"^── "
EDITED_AND_SAID = r"^· think(?s:.*)Done: line 2 of `greeting\.txt` now says \*\*hello ACP\*\*\."
WRITTEN = r"✓ edit +notes/todo\.md"
NOTE = "notes/todo.md"
OUTPUT = "shell-was-here.txt"

FILES_TOUCHED = (
    Case("edit", EDITED, EDITED_AND_SAID, theirs=greeting("ACP"), at=2),
    Case("editslow", EDITED, "slow60", theirs=greeting("ACP"), at=2),
    Case("multi", EDITED, "All done\\.", theirs=greeting("many")),
    Case("write", WRITTEN, "Created", NOTE, None, TODO, at=1),
    Case("write", WRITTEN, "Created", NOTE, "# old\n- one\n", TODO, at=1, name="over"),
    Case("shell", r"✓ run ", "The command ran\\.", OUTPUT, "old\n", "ran\n", by_command=True),
)
FILES_LEFT_ALONE = (
    Case("reject", r"⊘ edit .*rejected by you", ENDED, at=2, answer="reject_once"),
    # What an agent says of the call after the cancel replaces our own "cancelled" (V1-82).
    Case(
        "cancelperm", r"(– edit .*cancelled|✗ edit .*failed)$", "── cancelled by you", at=2, cancel="question"
    ),
    Case("shellfail", r"[✓✗] run ", "Both failed, as expected\\.", at=0),
    Case("cancelshell", "[✓✗–] run ", "── cancelled by you", cancel="● run "),
)
TEXT_ONLY = (
    Case("long", said="word2000", asks=False),
    Case("error", said="^✗ error: ", asks=False),
    Case("markdown", said="naïve 日本語 🎉", asks=False),
    Case("plan", said="The plan is under way\\.", asks=False),
    Case("cancel", said="── cancelled by you", asks=False, cancel="slow10 "),
)


def combinations() -> Iterator[object]:
    """Follow makes no difference where no file is named."""
    for follow, cases in (
        (True, FILES_TOUCHED + FILES_LEFT_ALONE + TEXT_ONLY),
        (False, FILES_TOUCHED + FILES_LEFT_ALONE[:1]),
    ):
        for case in cases:
            for state in ("closed", "open", "modified"):
                ident = "-".join((case.scenario + case.name, state, "follow" if follow else "still"))
                yield pytest.param(case, state, follow, id=ident)


@dataclass
class File:
    """The file of the scenario, as the user had it before the turn."""

    chat: Chat
    case: Case
    state: str
    buffer: int = 0
    lines: tuple[str, ...] = ()
    tick: int = 0
    line: int = 1

    def __post_init__(self) -> None:
        if self.state == "closed":
            return
        screen = self.chat.screen
        self.buffer = self.chat.buffer(self.case.file)
        if self.state == "modified":
            last = [MINE] if self.case.before is None else [*screen.lines(self.buffer)[-1:], MINE]
            screen.api.buf_set_lines(self.buffer, -2, -1, True, last)
        self.lines = tuple(screen.lines(self.buffer))
        self.line = len(self.lines)
        screen.api.win_set_cursor(self.chat.code, (self.line, 0))
        self.tick = self._tick()

    def _tick(self) -> int:
        return int(self.chat.screen.api.buf_get_changedtick(self.buffer))

    @property
    def path(self) -> Path:
        return self.chat.workspace / self.case.file

    def disk(self) -> str | None:
        return self.path.read_text("utf-8") if self.path.exists() else None

    def loaded(self) -> int:
        """The buffer of the file, 0 if there is none."""
        number = int(self.chat.screen.funcs.bufnr(str(self.path)))
        return max(number, 0)

    def is_untouched(self) -> None:
        """On disk and in the buffer, which nobody has even written the same text to."""
        assert self.disk() == self.case.before
        if self.state == "closed":
            if number := self.loaded():
                assert self.chat.screen.lines(number) == (self.case.before or "").splitlines()
                assert not self.chat.modified(number)
            return
        assert tuple(self.chat.screen.lines(self.buffer)) == self.lines
        assert self.chat.modified(self.buffer) == (self.state == "modified")
        assert self._tick() == self.tick

    def is_kept(self, theirs: str) -> None:
        """The agent's text is on disk only, the user's in the buffer only, and the user is told."""
        assert self.disk() == theirs
        chat = self.chat
        chat.until(lambda: "changed on disk under your unsaved edits" in chat.text(), "the chat says so")
        assert ":w! keeps yours" in chat.screen.text()
        assert tuple(chat.screen.lines(self.buffer)) == self.lines
        assert chat.modified(self.buffer)
        assert self._tick() == self.tick

    def has(self, text: str) -> None:
        """Disk and buffer have this text; one undo away is what the user had."""
        lines, chat = text.splitlines(), self.chat
        buffer = int(chat.until(lambda: self.buffer or self.loaded(), "the file is open"))
        chat.until(lambda: chat.screen.lines(buffer) == lines, f"the buffer has {lines}")
        chat.until(lambda: self.disk() == text, f"the disk has {text!r}")
        assert not chat.modified(buffer)
        shown = chat.screen.text()
        assert all(line in shown for line in lines), shown
        if self.state != "closed":
            assert chat.undo(buffer) == list(self.lines)

    def is_closed(self, text: str) -> None:
        """The file is changed but not open, and the user still has the other one before them."""
        self.chat.until(lambda: self.disk() == text, f"the disk has {text!r}")
        assert not self.loaded()
        assert self.chat.place() == (OTHER, 1)


def merged(case: Case, file: File) -> str:
    """What the agent makes of the user's unsaved text, when it has read that from us."""
    assert case.theirs is not None
    if case.change is None:
        return case.theirs
    return "".join(line.replace(*case.change) + "\n" for line in file.lines)


@pytest.mark.parametrize(("case", "state", "follow"), list(combinations()))
def test_matrix(start_chat: StartChat, tmp_path: Path, case: Case, state: str, follow: bool) -> None:
    path = tmp_path / "ws" / case.file
    if case.before is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(case.before, "utf-8")
    chat = start_chat(OTHER if state == "closed" else case.file, follow=follow)
    file = File(chat, case, state)
    run(chat, file)
    after(chat, file, follow)


def run(chat: Chat, file: File) -> None:
    """The turn, up to its end; nothing happens to the file before the answer."""
    case = file.case
    chat.send(case.scenario)
    if case.asks:
        chat.question()
        file.is_untouched()
    if case.asks and case.cancel != "question":
        chat.answer(case.answer)
    if case.cancel:
        if case.cancel != "question":
            chat.until(lambda: case.cancel in chat.text(), "it is under way")
        chat.screen.command("AcpCancel")
        chat.wait_home()
    text = chat.finish(case.answer, ours="reject_once")
    assert re.search(case.said, text, re.MULTILINE), text
    assert re.search(rf"^{case.row}", text, re.MULTILINE), text
    assert len(chat.answered()) == len(chat.asked())


def after(chat: Chat, file: File, follow: bool) -> None:
    """All that the user has when the turn is over."""
    case, state = file.case, file.state
    chat.wait_home()
    if case.scenario != "multi" or not follow:  # which of several calls at once comes last is open
        is_at(chat, file, follow)
    # opencode knows the text of the disk, not the user's: the answer to its question was not about theirs.
    on_disk_only = case.by_command or (chat.name == "opencode" and case.before is not None)
    if case.theirs is None:
        file.is_untouched()
    elif state == "closed" and (case.by_command or not follow):
        file.is_closed(case.theirs)
    elif state == "modified" and on_disk_only:
        file.is_kept(case.theirs)
    else:
        file.has(merged(case, file) if state == "modified" else case.theirs)
    assert chat.state() == "idle"
    assert chat.screen.lua("return require('acp').status().pending_all") == 0
    assert chat.screen.messages().strip() == ""


def is_at(chat: Chat, file: File, follow: bool) -> None:
    """The code window is where the agent was if it is followed, else at the text where the user was."""
    case, name = file.case, Path(file.case.file).name
    if follow and case.at:
        chat.wait_place(name, case.at)
    elif file.state == "closed":
        assert chat.place() == ((name, 1) if follow and case.at == 0 else (OTHER, 1))
    elif case.theirs is None or file.lines[file.line - 1] in case.theirs.splitlines():
        assert chat.place() == (name, file.line)
    else:
        assert chat.place()[0] == name
