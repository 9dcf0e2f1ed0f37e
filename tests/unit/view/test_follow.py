"""Which places the host tells Neovim to show: newest first, never too many, only of the present."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.service.roots import inside
from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.asked import Permission, PermissionOption
from acp_nvim.session.content import Block, Change, Diff, Location
from acp_nvim.session.entities import Session
from acp_nvim.session.events import (
    MessageAppend,
    PermissionClosed,
    PermissionOpened,
    ReplayEnded,
    ReplayStarted,
    SessionOpened,
    ToolPatch,
    TurnEnded,
    TurnStarted,
)
from acp_nvim.session.store import Store
from acp_nvim.view.follow import MOST_WAITING, PACE, Follow

pytestmark = pytest.mark.anyio


class Editor:
    """What Neovim was told. ``block``: calls of ``visit`` wait for it."""

    def __init__(self) -> None:
        self.visits: list[dict[str, Any]] = []
        self.skips: list[dict[str, Any]] = []
        self.unsaved: dict[str, str] = {}
        self.block: anyio.Event | None = None
        self.asked = 0

    def notify(self, module: str, function: str, /, *args: Any) -> None:
        assert (module, function) == ("acp.follow", "skip")
        self.skips.append(args[0])

    async def call(self, module: str, function: str, /, *args: Any) -> Any:
        assert module == "acp.follow"
        if function == "unsaved":
            self.asked += 1
            text = self.unsaved.get(args[0])
            return {} if text is None else {"text": text}
        assert function == "visit"
        if self.block is not None:
            await self.block.wait()
        self.visits.append(args[0])
        return None

    @property
    def places(self) -> list[tuple[str, int | None]]:
        return [(Path(visit["path"]).name, visit.get("line")) for visit in self.visits]

    @property
    def reasons(self) -> list[tuple[str, str]]:
        return [(Path(skip["path"]).name, skip["why"]) for skip in self.skips]


class Bench:
    """A store that is followed, in a folder. Pauses between jumps are counted, not slept."""

    def __init__(self, folder: Path, group: anyio.abc.TaskGroup) -> None:
        self.folder = folder
        self.editor = Editor()
        self.sleeps: list[float] = []
        self.running = 0
        self.group = group
        self.follow = Follow(self.editor, self.spawn, inside, self.sleep)
        self.session = Session("chat-1", "claude", str(folder), roots=(str(folder),))
        self.store = Store(lambda: 0.0)
        self.store.add(self.session)
        self.store.subscribe(self.follow.on_event)
        self.apply(SessionOpened("r", AgentInfo("acp-v1")))
        self.apply(TurnStarted((Block.of_text("go"),)))
        self.follow.switch(1, self.session, True)

    def spawn(self, function: Callable[..., Any], *args: Any) -> None:
        async def run() -> None:
            self.running += 1
            try:
                await function(*args)
            finally:
                self.running -= 1

        self.group.start_soon(run)

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await anyio.lowlevel.checkpoint()

    def apply(self, *events: Any) -> None:
        for event in events:
            self.store.apply(self.session, event)

    def file(self, name: str, text: str = "x\n") -> str:
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def call(self, ident: str, name: str, line: int | None = None, kind: str = "read", **more: Any) -> None:
        self.apply(ToolPatch(ident, kind=kind, locations=[Location(str(self.folder / name), line)], **more))

    async def rest(self) -> None:
        """Wait until no task runs."""
        with anyio.fail_after(5):
            await anyio.lowlevel.checkpoint()
            while self.running:
                await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def bench(folder: Path) -> AsyncIterator[Bench]:
    async with anyio.create_task_group() as group:
        yield Bench(folder, group)


def edit(path: str, old: str, new: str) -> Diff:
    return Diff((Change("modify", path),), old, new)


async def test_a_read_is_a_visit(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        path = b.file("a.py")
        b.call("t", "a.py", 7)
        await b.rest()
        assert b.editor.visits == [{"chat": 1, "path": path, "line": 7, "verb": "read", "label": "claude"}]
        b.call("u", "a.py")
        await b.rest()
        assert "line" not in b.editor.visits[1], "what nobody knows is not sent"


async def test_newest_wins_while_neovim_is_busy(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.file("a.py")
        b.editor.block = anyio.Event()
        b.call("t0", "a.py", 1)
        await anyio.sleep(0.05)  # it waits for Neovim
        for n in range(2, 100):
            b.call(f"t{n}", "a.py", n)
        b.editor.block.set()
        await b.rest()
        assert b.editor.places == [("a.py", 1), ("a.py", 99)]


async def test_ten_a_second_and_no_timer_when_idle(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.file("a.py")
        for n in range(1, 4):
            b.call(f"t{n}", "a.py", n)
            await b.rest()
        assert b.sleeps == [PACE] * 3
        assert b.running == 0
        b.apply(MessageAppend("agent", None, Block.of_text("word")))
        assert b.running == 0


async def test_an_update_that_says_nothing_new_is_no_visit(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        path = b.file("a.py", "one\ntwo\nthree\n")
        b.call("t", "a.py", kind="edit", content=[edit(path, "two\n", "2\n")])
        await b.rest()
        b.call("u", "a.py", 1)
        await b.rest()
        b.apply(ToolPatch("t", status="in_progress"))
        b.apply(ToolPatch("t", content=[edit(path, "two\n", "2\n")]))
        b.apply(ToolPatch("t", status="completed"))
        await b.rest()
        assert b.editor.places == [("a.py", 2), ("a.py", 1)]
        b.apply(ToolPatch("t", content=[edit(path, "three\n", "3\n")]))
        await b.rest()
        assert b.editor.places[-1] == ("a.py", 3)


async def test_the_users_unsaved_text_counts(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        path = b.file("a.py", "one\ntwo\n")
        b.editor.unsaved[path] = "mine\nmine\none\ntwo\n"
        b.call("t", "a.py", kind="edit", content=[edit(path, "two\n", "2\n")])
        await b.rest()
        assert b.editor.places == [("a.py", 4)]
        b.call("u", "a.py", 9)
        await b.rest()
        assert b.editor.asked == 1, "only where it tells the line"


async def test_what_was_found_once_tells_one_place_from_another(tmp_path: Path) -> None:
    """When the change is made its new text stands in two places; where it was to be made, in one only."""
    async with bench(tmp_path) as b:
        path = b.file("a", "return 0\n\nreturn 1\n")
        b.apply(ToolPatch("t1", kind="edit", content=[edit(path, "return 1\n", "return 0\n")]))
        await b.rest()
        b.file("a", "return 0\n\nreturn 0\n")
        made = edit(path, "return 1", "return 0")
        b.apply(ToolPatch("t1", status="completed", content=[made]))
        await b.rest()
        assert b.editor.places == [("a", 3), ("a", 3)]


@pytest.mark.parametrize("how", ["completed", "written"])
async def test_a_new_file_is_visited_when_it_appears(how: str, tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        path = str(tmp_path / "new.py")
        new = Diff((Change("add", path),), "", "one\ntwo\n")
        b.apply(ToolPatch("t", kind="edit", content=[new], status="in_progress"))
        await b.rest()
        assert (b.editor.visits, b.editor.skips) == ([], [])
        b.file("new.py", "one\ntwo\n")
        if how == "written":
            b.follow.wrote(b.session, path)
            await b.rest()
            assert b.editor.places == [("new.py", 1)]
        b.apply(ToolPatch("t", status="completed"))
        await b.rest()
        assert b.editor.places == [("new.py", 1)]


async def test_a_file_that_never_appears_is_a_note(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.call("t", "never.py", status="in_progress")
        await b.rest()
        b.call("u", "failed.py", kind="edit", status="in_progress")
        await b.rest()
        assert b.editor.skips == []
        b.apply(ToolPatch("u", status="failed"))
        b.apply(TurnEnded("end_turn"))
        await b.rest()
        assert ("never.py", "no such file") in b.editor.reasons
        assert b.editor.visits == []
        b.call("v", "late.py", status="completed")
        await b.rest()
        assert b.editor.reasons[-1] == ("late.py", "no such file")


async def test_a_rejected_new_file_is_not_worth_a_note(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        path = str(tmp_path / "new.py")
        b.apply(ToolPatch("t", kind="edit", content=[Diff((Change("add", path),), "", "x\n")]))
        options = [PermissionOption("no", "No", "reject_once")]
        b.apply(PermissionOpened(Permission("q", options, tool_call_id="t")))
        await b.rest()
        b.apply(PermissionClosed("q", "selected", "no", "user"))
        await b.rest()
        assert (b.editor.visits, b.editor.skips) == ([], [])


async def test_waiting_is_bounded(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        for n in range(MOST_WAITING + 3):
            b.call(f"t{n}", f"f{n}.py", status="in_progress")
            await b.rest()
        assert [name for name, _ in b.editor.reasons] == ["f0.py", "f1.py", "f2.py"]


async def test_a_buffer_without_a_file_is_there(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.editor.unsaved[str(tmp_path / "mine.py")] = "x\n"
        b.call("t", "mine.py", 3)
        await b.rest()
        assert b.editor.places == [("mine.py", 3)]


@pytest.mark.req("V2-95")
async def test_what_is_not_opened_has_a_reason(tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    (ws / "src").mkdir(parents=True)
    (tmp_path / "ws-evil").mkdir()
    (tmp_path / "ws-evil" / "secret.txt").write_text("x")
    (ws / "b.bin").write_bytes(b"\0")
    async with bench(ws) as b:
        for n, name in enumerate(("../ws-evil/secret.txt", "src", "b.bin")):
            b.call(f"t{n}", name)
            await b.rest()
        assert b.editor.reasons == [
            ("secret.txt", "outside the project"),
            ("src", "a folder"),
            ("b.bin", "binary"),
        ]
        assert b.editor.visits == []
        assert b.sleeps == [PACE] * 3, "looking is paced as well"


async def test_a_replay_is_no_work(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.file("a.py")
        b.apply(ReplayStarted())
        b.call("t", "a.py", 3)
        b.apply(ReplayEnded())
        b.apply(ToolPatch("t", title="other"))
        await b.rest()
        assert b.editor.visits == []
        b.call("u", "a.py", 4)
        await b.rest()
        assert b.editor.places == [("a.py", 4)]


async def test_failed_and_rejected_calls_are_not_visited(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.file("a.py")
        b.call("t", "a.py", 3, status="failed")
        await b.rest()
        assert (b.editor.visits, b.editor.skips) == ([], [])


async def test_off_is_off_and_on_begins_where_the_agent_is(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.file("a.py")
        b.follow.switch(1, b.session, False)
        b.call("t", "a.py", 3)
        b.call("u", "a.py", 4)
        await b.rest()
        assert b.editor.visits == []
        b.follow.switch(1, b.session, True)
        b.follow.switch(1, b.session, True)
        await b.rest()
        assert b.editor.places == [("a.py", 4)]
        b.apply(ToolPatch("t", status="completed"))
        await b.rest()
        assert len(b.editor.visits) == 1, "what was seen is not news"
        b.follow.switch(1, b.session, False)
        b.apply(TurnEnded("end_turn"))
        b.follow.switch(1, b.session, True)
        await b.rest()
        assert len(b.editor.visits) == 1, "no turn runs: the agent is nowhere"


async def test_off_while_a_visit_is_under_way(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.file("a.py")
        b.editor.block = anyio.Event()
        b.call("t", "a.py", 1)
        await anyio.sleep(0.05)
        b.call("u", "a.py", 2)
        b.follow.remove(b.session)
        b.editor.block.set()
        await b.rest()
        assert b.editor.places == [("a.py", 1)]
        b.follow.wrote(b.session, str(tmp_path / "a.py"))  # nobody is followed: nothing happens
        await b.rest()


async def test_each_session_by_itself(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.file("a.py")
        other = Session("chat-2", "codex\n\x1b[31m", str(tmp_path), roots=(str(tmp_path),))
        b.store.add(other)
        b.store.apply(other, SessionOpened("r2", AgentInfo("acp-v1")))
        place = [Location(str(tmp_path / "a.py"), 5)]
        b.store.apply(other, ToolPatch("t", kind="read", locations=place))
        await b.rest()
        assert b.editor.visits == []
        b.follow.switch(2, other, True)
        b.store.apply(other, ToolPatch("u", kind="read", locations=place))
        b.call("t", "a.py", 1)
        await b.rest()
        assert sorted((visit["chat"], visit["line"]) for visit in b.editor.visits) == [(1, 1), (2, 5)]
        labels = {visit["chat"]: visit["label"] for visit in b.editor.visits}
        assert "\n" not in labels[2] and "\x1b" not in labels[2]


async def test_a_fault_does_not_end_it(tmp_path: Path) -> None:
    faults: list[Exception] = []
    async with anyio.create_task_group() as group:
        b = Bench(tmp_path, group)
        spawn = b.spawn

        def guarded(function: Callable[..., Any], *args: Any) -> None:
            async def run() -> None:
                try:
                    await function(*args)
                except RuntimeError as error:
                    faults.append(error)

            spawn(run)

        b.follow._spawn = guarded
        b.file("a.py")
        call = b.editor.call

        async def fails(module: str, function: str, /, *args: Any) -> Any:
            raise RuntimeError("Lua")

        b.editor.call = fails  # type: ignore[method-assign]
        b.call("t", "a.py", 1)
        await b.rest()
        b.editor.call = call  # type: ignore[method-assign]
        b.call("u", "a.py", 2)
        await b.rest()
        assert len(faults) == 1
        assert b.editor.places == [("a.py", 2)]
