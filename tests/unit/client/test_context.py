"""What mentions stand for: what is said of them, and what goes to agents that take one thing or another."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import anyio
import pytest
from msgspec import structs

from acp_nvim.client.context import Sources
from acp_nvim.client.payloads import Context, Spot
from acp_nvim.client.prompt import Prompt
from acp_nvim.client.seen import ALL_TEXT_BYTES, MEDIA_BYTES, TEXT_BYTES
from acp_nvim.editor import Editor, NvimError
from acp_nvim.process.spawn import Spawner
from acp_nvim.service import mentioned
from acp_nvim.session.agent import AgentInfo
from acp_nvim.session.content import Block
from acp_nvim.session.entities import Session

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 83_992
WAV = b"RIFF\0\0\0\0WAVE" + b"\0" * 100
ALL = AgentInfo("p", embedded_context=True, image=True, audio=True)
LINKS = AgentInfo("p")
WORDS = AgentInfo("p", links=False)


class FakeEditor:
    """The functions that are called, over buffers with unsaved edits and the answers to words."""

    def __init__(self) -> None:
        self.unsaved: dict[str, str] = {}
        self.words: dict[str, dict[str, Any]] = {}
        self.asked: list[dict[str, Any]] = []
        self.told: list[tuple[Any, ...]] = []
        self.broken = False

    async def call(self, module: str, function: str, *args: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        if self.broken:
            raise NvimError("E5108")
        if (module, function) == ("acp.context", "unsaved"):
            texts = [self.unsaved.get(path) for path in args[0]]
            return [t is not None and {"lines": t.count("\n"), "bytes": len(t.encode())} for t in texts]
        if (module, function) == ("acp.context", "of"):
            self.asked.append(args[0])
            return self.words.get(args[0]["word"], {"none": "nothing selected"})
        assert (module, function) == ("acp.buffers", "read")
        text = self.unsaved.get(args[0])
        return {"loaded": text is not None, "text": text, "modified": True}

    def notify(self, *args: Any) -> None:
        self.told.append(args)


class Desk:
    """A project with files, and somebody who mentions them."""

    def __init__(self, folder: Path, spawner: Spawner) -> None:
        self.folder = folder
        self.editor = FakeEditor()
        self.session = Session("s", "agent", str(folder), roots=(str(folder),))
        self.sources = Sources(cast("Editor", self.editor), spawner, str(folder.parent / "pasted"))

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    async def notes(self, text: str, info: AgentInfo | None = ALL) -> list[str]:
        return [
            each.note for each in await self.sources.see(text, self.session, info, None) if not each.quiet
        ]

    async def send(self, text: str, info: AgentInfo = ALL, **more: Any) -> tuple[list[Block], list[Block]]:
        return await self.sources.compose(Prompt(text, **more), self.session, info, 1)


@asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[Desk]:
    spawner = Spawner()
    made = Desk(folder / "ws", spawner)
    made.folder.mkdir()
    try:
        yield made
    finally:
        await anyio.to_thread.run_sync(spawner.reaper.close)


def lines(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


async def test_what_is_said(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.put("src/date.py", lines(300))
        here.put("one.txt", "no newline")
        here.put("shot.png", PNG)
        here.put("ring.wav", WAV)
        here.put("blob", b"\0\1" * 1700)
        here.put("latin.txt", "grün\n".encode("latin-1"))
        here.put("big.log", "x" * (TEXT_BYTES + 1))
        here.put(".env", "KEY=1\n")
        here.put(".env.example", "KEY=\n")
        here.put("a b/ü#%.md", "text\n")
        here.put("buffer", "a file\n")
        (tmp_path / "out.txt").write_text("out\n")
        (tmp_path / "id_rsa").write_text("secret\n")
        (here.folder / "link").symlink_to(tmp_path / "out.txt")
        (here.folder / "pipe").unlink(missing_ok=True)
        os.mkfifo(here.folder / "pipe")
        table = {
            "@src/date.py:7-13": "7 lines",
            "@src/date.py:7": "1 line",
            "@src/date.py:299-400": "2 lines",
            "@src/date.py:301": "only 300 lines: sent as text",
            "@src/date.py": "2.6 kB",
            "@src/date.py.": "2.6 kB",
            "@one.txt:1": "1 line",
            "@shot.png": "image, 84 kB",
            "@ring.wav": "audio, 112 B",
            "@blob:1": "binary, 3.4 kB: sent as a link",
            "@latin.txt": "not UTF-8, 5 B: sent as a link",
            "@big.log": "262 kB: sent as a link",
            "@src/": "folder: sent as a link",
            "@src/nothere.py": "no such file: sent as text",
            "@src/nothere.py:3": "no such file: sent as text",
            "@pipe": "cannot be read: sent as text",
            "@.env": "6 B, may hold secrets",
            "@.env.example": "5 B",
            '@"a b/ü#%.md"': "5 B",
            "@./buffer": "7 B",
            "@../out.txt": "4 B, outside the project",
            "@link": "4 B, outside the project",
            f"@{tmp_path}/id_rsa": "7 B, outside the project, may hold secrets",
            "@alice and @property": None,
            "@" + "\udc80" * 3 + ".x": "no such file: sent as text",
        }
        for text, note in table.items():
            assert (text, await here.notes(text)) == (text, [note] if note else [])
        assert await here.notes("@src/date.py:2 and @nothere.py", None) == [
            "1 line",
            "no such file: sent as text",
        ]
        for info, image, text, folder in (
            (LINKS, "image, 84 kB: sent as a link", "2.6 kB: sent as a link", "folder: sent as a link"),
            (WORDS, "image, 84 kB: sent as text", "2.6 kB", "folder: sent as text"),
        ):
            assert await here.notes("@shot.png @src/date.py @src", info) == [image, text, folder]


@pytest.mark.req("V1-68", "V1-69", "V1-100")
async def test_each_agent_gets_what_it_takes(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        code = here.put("src/da te#%ü.py", lines(20))
        here.put("shot.png", PNG)
        here.put("ring.wav", WAV)
        text = 'see @"src/da te#%ü.py":7-8, @shot.png, @ring.wav and @src/ @nothere.py'
        uri = code.as_uri() + "#L7-L8"
        assert unquote(urlsplit(uri).path) == str(code)

        sent, shown = await here.send(text)
        assert [each.type for each in sent] == ["resource", "image", "audio", "link", "text"]
        assert (str(sent[0].text), sent[0].uri) == ("line 7\nline 8", uri)
        assert base64.b64decode(sent[1].data or "") == PNG
        assert (sent[1].mime, sent[2].mime) == ("image/png", "audio/x-wav")
        assert (sent[3].uri, sent[3].name) == ((here.folder / "src").as_uri(), "src")
        assert str(sent[4].text) == text
        assert shown == sent
        assert [each.name for each in shown[:3]] == ['@"src/da te#%ü.py":7-8', "@shot.png", "@ring.wav"]

        sent, shown = await here.send(text, LINKS)
        assert [(each.type, each.uri) for each in sent[:4]] == [
            ("link", uri),
            ("link", (here.folder / "shot.png").as_uri()),
            ("link", (here.folder / "ring.wav").as_uri()),
            ("link", (here.folder / "src").as_uri()),
        ]

        sent, shown = await here.send(text, WORDS)
        assert [each.type for each in sent] == ["text", "text"]
        assert str(sent[0].text) == f"{code}:7-8\n```\nline 7\nline 8\n```\n"
        assert [each.type for each in shown] == ["resource", "text"]
        assert (str(shown[0].text), shown[0].uri) == ("line 7\nline 8", uri)

        sent, _ = await here.send(f"/review {text}")
        assert sent[0].type == "text"


async def test_unsaved_edits_go_as_text(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        path = here.put("a.py", "old\n")
        new = here.folder / "new.py"
        here.editor.unsaved = {str(path): "one\ntwo\n```\n", str(new): "fresh\n"}
        assert await here.notes("@a.py @a.py:2-9 @new.py") == [
            "12 B, unsaved",
            "2 lines, unsaved",
            "6 B, unsaved",
        ]
        for info in (ALL, LINKS, WORDS):
            sent, shown = await here.send("@a.py @new.py", info)
            texts = [str(each.text) for each in shown]
            assert texts == ["one\ntwo\n```\n", "fresh\n", "@a.py @new.py"]
            embedded = info is ALL
            assert [each.type for each in sent] == (["resource"] * 2 if embedded else ["text"] * 2) + ["text"]
            if not embedded:
                assert str(sent[0].text) == f"{path}\n````\none\ntwo\n```\n\n````\n"
                assert sent[0].audience == ("assistant",)


async def test_words(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        path = here.put("a.py", "x\n")
        spot = Spot(buf=3, first=1, last=2, mark=7)
        here.editor.words = {
            "buffer": {
                "path": str(path),
                "name": "a.py",
                "lines": 3,
                "bytes": 2100,
                "unsaved": True,
                "text": "b",
            },
            "selection": {
                "path": str(path),
                "name": "a.py:1-2",
                "first": 1,
                "last": 2,
                "lines": 2,
                "bytes": 4,
                "text": "s\nt",
            },
            "diagnostics": {"name": "Diagnostics", "count": 3, "bytes": 9, "text": "a.py:1:1: error: no"},
            "quickfix": {"name": "Quickfix list: x", "count": 1, "bytes": 3, "text": "row", "cut": True},
        }
        text = "@buffer @selection @diagnostics:all @quickfix"
        assert await here.notes(text) == [
            "a.py, 2.1 kB, unsaved",
            "a.py:1-2, 2 lines",
            "3 diagnostics",
            "1 entry, cut",
        ]
        assert not any(asked["whole"] or "spot" in asked for asked in here.editor.asked)
        sent, shown = await here.send(text, spot=spot)
        assert here.editor.asked[-4]["spot"] == {"buf": 3, "first": 1, "last": 2, "mark": 7}
        assert [asked["all"] for asked in here.editor.asked[-4:]] == [False, False, True, False]
        assert [(each.type, each.uri, each.name) for each in shown[:4]] == [
            ("resource", path.as_uri(), None),
            ("resource", path.as_uri() + "#L1-L2", None),
            ("resource", None, "@diagnostics:all"),
            ("resource", None, "@quickfix"),
        ]
        assert [each.type for each in sent] == ["resource", "resource", "text", "text", "text"]
        assert str(sent[2].text) == "Diagnostics\n```\na.py:1:1: error: no\n```\n"
        out = {"path": str(tmp_path / ".env"), "name": ".env", "lines": 1, "bytes": 5, "text": "x"}
        here.editor.words = {"buffer": out}
        assert await here.notes("@buffer") == [".env, 5 B, outside the project, may hold secrets"]
        here.editor.words = {}
        assert await here.notes("@selection") == ["nothing selected: sent as text"]
        assert [each.type for each in (await here.send("@selection"))[0]] == ["text"]


async def test_the_difference_to_the_last_commit(tmp_path: Path) -> None:
    def git(*args: str) -> None:
        subprocess.run(
            ["git", "-c", "user.email=a@b", "-c", "user.name=a", *args],
            cwd=here.folder,
            check=True,
            capture_output=True,
        )

    async with desk(tmp_path) as here:
        path = here.put("a.py", "one\n")
        assert await here.notes("@diff") == ["no git history here: sent as text"]
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "one")
        sent, _ = await here.send("@diff")
        assert [str(each.text) for each in sent] == ["@diff"]
        path.write_text("two\n")
        # A pager, a driver or a program of the repository is not run.
        git("config", "diff.external", f"touch {tmp_path}/ran")
        git("config", "core.fsmonitor", f"touch {tmp_path}/ran")
        git("config", "filter.a=b c.clean", f"touch {tmp_path}/ran")
        git("config", "filter.other.process", f"touch {tmp_path}/ran")
        git("config", "filter.other.required", "true")
        (here.folder / ".git/info/attributes").write_text('*.py filter="a=b c"\n*.txt filter=other\n')
        (here.folder / ".gitattributes").write_text("*.py filter=other\n")
        sent, shown = await here.send("@diff and @diff")
        assert [each.name for each in shown[:-1]] == ["@diff"]
        assert "-one\n+two\n" in str(sent[0].text)
        assert str(sent[0].text).startswith("git diff HEAD\n```\ndiff --git")
        assert not (tmp_path / "ran").exists()
        (note,) = await here.notes("@diff")
        assert note.endswith(" B")
        path.write_text("y" * (TEXT_BYTES + 10))
        (note,) = await here.notes("@diff")
        assert note.endswith(" B")  # not asked again so soon
        sent, _ = await here.send("@diff")
        assert len(str(sent[0].text)) < TEXT_BYTES + 100


def changed_repository(folder: Path) -> None:
    """One with a commit, and a change after it, whose lines say which repository it is."""
    who = ["-c", "user.email=a@b", "-c", "user.name=a"]
    (folder / "a.py").write_text(f"{folder.name} one\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", *who, *words], cwd=folder, check=True)
    (folder / "a.py").write_text(f"{folder.name} two\n")


async def test_the_difference_is_that_of_the_sessions_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Neovim that git has started, to edit a message, has git's variables of another repository."""
    other = tmp_path / "other"
    other.mkdir()
    changed_repository(other)
    async with desk(tmp_path) as here:
        changed_repository(here.folder)
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(other))
        sent, _ = await here.send("@diff")
        assert f"+{here.folder.name} two" in str(sent[0].text)


async def test_what_is_too_much_is_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(tmp_path) as here:
        here.put("big.txt", ("x" * 99 + "\n") * 4000)
        here.put("huge.png", PNG + b"\0" * (MEDIA_BYTES - len(PNG) + 1))
        for number in range(6):
            here.put(f"{number}.txt", "y" * (TEXT_BYTES - 100))
        sent, _ = await here.send("@big.txt:1-3999 @big.txt:5 @huge.png")
        assert [each.type for each in sent] == ["link", "resource", "link", "text"]
        assert (sent[0].uri or "").endswith("big.txt#L1-L3999")
        monkeypatch.setattr(mentioned, "COUNT_BYTES", 1000)
        sent, _ = await here.send("@big.txt:5-6 and @big.txt:7")
        assert [(each.type, (each.uri or "").rpartition("#")[2]) for each in sent[:2]] == [
            ("link", "L5-L6"),
            ("link", "L7-L7"),
        ]
        sent, _ = await here.send(" ".join(f"@{number}.txt" for number in range(6)))
        kinds = [each.type for each in sent]
        assert kinds == ["resource"] * (ALL_TEXT_BYTES // (TEXT_BYTES - 100)) + ["link"] * 2 + ["text"]


async def test_each_thing_goes_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.put("a.py", lines(9))
        sent, _ = await here.send("@a.py and @./a.py, @a.py:1-2 (@a.py)")
        assert [each.uri and each.uri.rpartition("/")[2] for each in sent] == ["a.py", "a.py#L1-L2", None]


async def test_a_fault_of_ours_keeps_no_prompt_back(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        here.put("a.py", "x\n")
        here.editor.broken = True
        sent, _ = await here.send("@a.py")
        assert [str(each.text) for each in sent] == ["@a.py"]
        assert here.editor.told[0][:3] == ("acp.host", "failed", "mentions")


async def test_what_was_given_with_the_text(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        given = [Context("/x/a b.py", "two", 2, 2), Context("notes", "n")]
        sent, shown = await here.send("look", context=given)
        assert [(each.type, each.uri) for each in sent] == [
            ("resource", "file:///x/a%20b.py#L2-L2"),
            ("text", None),
            ("text", None),
        ]
        assert str(sent[1].text) == "notes\n```\nn\n```\n"
        assert [each.type for each in shown] == ["resource", "resource", "text"]
        sent, _ = await here.send("look", structs.replace(ALL, embedded_context=False), context=given)
        assert str(sent[0].text) == "/x/a b.py:2\n```\ntwo\n```\n"
