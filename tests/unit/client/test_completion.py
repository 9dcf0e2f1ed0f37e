"""What is answered to a prompt in which a mention is typed."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.lowlevel
import pytest

from acp_nvim.client import completion as module
from acp_nvim.client.chat import Chat
from acp_nvim.client.completion import Completion
from acp_nvim.client.payloads import Complete
from acp_nvim.client.registry import Registry
from acp_nvim.editor import Editor
from acp_nvim.process.spawn import Spawner
from acp_nvim.service import listing
from acp_nvim.session.entities import Session
from acp_nvim.text.fuzzy import Paths, Search

pytestmark = pytest.mark.anyio


@dataclass
class Desk:
    """An editor that notes what it is told, and the chats of a host."""

    completion: Completion
    registry: Registry
    answers: list[tuple[int, list[str], bool, dict[str, Any]]] = field(default_factory=list)
    scans: list[str] = field(default_factory=list)
    count: int = 0

    def notify(self, function: str, number: int, rows: list[tuple[str, str]], *rest: Any) -> None:
        assert function == "answer"
        self.answers.append((number, [row[0] for row in rows], *rest))

    def chat(self, n: int, *roots: Path) -> Chat:
        @dataclass
        class Stub:
            n: int
            session: Session

        session = Session(f"chat-{n}", "agent", str(roots[0]), roots=tuple(map(str, roots)))
        made = cast("Chat", Stub(n, session))
        self.registry.chats[n] = made
        return made

    def ask(self, typed: str, *recent: Path, chat: int = 1, begins: bool = False) -> int:
        self.count += 1
        where = [str(path) for path in recent] if recent or begins else None
        self.completion.ask(Complete(chat, self.count, typed, where))
        return self.count

    async def find(self, typed: str, *recent: Path, chat: int = 1, begins: bool = False) -> list[str]:
        """Ask, and wait for the last answer."""
        number = self.ask(typed, *recent, chat=chat, begins=begins)
        with anyio.fail_after(20):
            while not (ended := self.last(number)):  # noqa: ASYNC110 (an answer wakes nobody)
                await anyio.sleep(0.002)
        return ended[0]

    def last(self, number: int) -> list[list[str]]:
        """The last answer to a question, if it has come."""
        return [rows for n, rows, last, _ in self.answers if n == number and last]


@asynccontextmanager
async def desk(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    spawner, registry = Spawner(), Registry()
    try:
        async with anyio.create_task_group() as group:

            class Told:
                def notify(self, _module: str, function: str, *args: Any) -> None:
                    made.notify(function, *args)

            def spawn(function: Callable[..., Any], *args: Any) -> None:
                group.start_soon(function, *args)

            completion = Completion(cast("Editor", Told()), registry, spawner, spawn)
            made = Desk(completion, registry)
            fill = listing.fill

            async def counted(one: listing.Listing, spawner: Spawner, grown: Callable[[], None]) -> None:
                made.scans.append(one.root)
                await fill(one, spawner, grown)

            monkeypatch.setattr(module, "fill", counted)
            yield made
            group.cancel_scope.cancel()
    finally:
        spawner.reaper.close()


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


async def test_one_scan_for_all_keys_and_chats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "src/app.py", "src/apply.py", "README.md")
    async with desk(monkeypatch) as made:
        made.chat(1, tmp_path)
        made.chat(2, tmp_path)
        assert await made.find("", begins=True) == ["@src/", "@README.md"]
        for typed in ("a", "ap", "app", "appl"):
            assert "@src/apply.py" in await made.find(typed)
        assert await made.find("src/", begins=True, chat=2) == ["@src/", "@src/app.py", "@src/apply.py"]
        assert made.scans == [str(tmp_path)]


async def test_only_the_newest_of_a_chat_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, *(f"{number}-file.py" for number in range(60)))
    async with desk(monkeypatch) as made:
        made.chat(1, tmp_path)
        made.chat(2, tmp_path)
        await made.find("f", begins=True)
        del made.answers[:]
        early, other = [made.ask(typed) for typed in ("f", "fi", "fil")], made.ask("x", chat=2)
        last = await made.find("file")
        assert len(last) == module.MOST
        numbers = {number for number, *_ in made.answers}
        assert numbers.isdisjoint(early)
        with anyio.fail_after(20):
            while not made.last(other):  # noqa: ASYNC110
                await anyio.sleep(0.002)
        assert made.ask("f", chat=9) not in {number for number, *_ in made.answers}


async def test_what_is_gone_or_cannot_be_written_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        tmp_path,
        "a file.py",
        "gone.py",
        "tab\t.py",
        'quo"te.py',
        "bidi\u202e.py",
        "line\nbreak.py",
        "ok.py",
        "buffer",
    )
    async with desk(monkeypatch) as made:
        made.chat(1, tmp_path)
        names = await made.find("", begins=True)
        assert set(names) == {'@"a file.py"', "@gone.py", "@ok.py", "@./buffer"}
        (tmp_path / "gone.py").unlink()
        assert await made.find("py") == ["@ok.py", '@"a file.py"']


async def test_more_folders_are_absolute_and_recent_files_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main, more = tmp_path / "main", tmp_path / "more"
    write(main, "app.py", "appendix.py", "lib/x.py")
    write(more, "app.rs")
    monkeypatch.setenv("HOME", str(tmp_path))
    async with desk(monkeypatch) as made:
        made.chat(1, main, more)
        outside = tmp_path / "other.py"
        assert await made.find("app", outside, main / "appendix.py") == [
            "@appendix.py", "@app.py", f"@{more}/app.rs",
        ]  # fmt: skip
        assert await made.find(f"{more}/a") == [f"@{more}/app.rs"]
        assert await made.find("~/more/a") == [f"@{more}/app.rs"]
        assert await made.find("./lib/") == ["@lib/", "@lib/x.py"]
        assert made.scans == [str(main), str(more)]


async def test_a_chat_that_ends_takes_its_listing_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.py")
    async with desk(monkeypatch) as made:
        one, two = made.chat(1, tmp_path), made.chat(2, tmp_path)
        await made.find("a", begins=True)
        del made.registry.chats[1]
        made.completion.forget(one)
        await made.find("a", begins=True, chat=2)
        assert len(made.scans) == 1
        del made.registry.chats[2]
        made.completion.forget(two)
        made.chat(3, tmp_path)
        await made.find("a", begins=True, chat=3)
        assert len(made.scans) == 2


async def test_a_new_file_is_there_at_the_next_mention(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.py", ".gitignore")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)  # noqa: ASYNC221
    async with desk(monkeypatch) as made:
        made.chat(1, tmp_path)
        monkeypatch.setattr("acp_nvim.service.projects.CHECK_S", 0.0)
        assert await made.find("new", begins=True) == []
        write(tmp_path, "new.py")
        assert await made.find("new", begins=True) == ["@new.py"]


async def test_a_project_that_is_too_large_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST", 5)
    write(tmp_path, *(f"f{number}.py" for number in range(9)))
    async with desk(monkeypatch) as made:
        made.chat(1, tmp_path)
        assert len(await made.find("f", begins=True)) == 5
        assert made.answers[-1][-1] == {"most": 5, "cut": str(tmp_path)}


async def test_while_a_project_is_listed_the_answers_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"f{number}.py" for number in range(500)]
    write(tmp_path, *names)

    async def growing(one: listing.Listing, _spawner: Spawner, grown: Callable[[], None]) -> None:
        for name in names:
            one.add([name])
            grown()
            await anyio.lowlevel.checkpoint()
        one.end()
        grown()

    async with desk(monkeypatch) as made:
        monkeypatch.setattr(module, "fill", growing)
        monkeypatch.setattr(module, "PAUSE_S", 1000.0)
        searches: list[int] = []
        look = Search.look

        def counted(search: Search, paths: Paths, start: int, stop: int) -> None:
            searches.append(len(paths))
            look(search, paths, start, stop)

        monkeypatch.setattr(Search, "look", counted)
        made.chat(1, tmp_path)
        assert len(await made.find("f", begins=True)) == module.MOST
        assert len(made.answers) <= 3  # none, some, all
        assert len(searches) <= 3
