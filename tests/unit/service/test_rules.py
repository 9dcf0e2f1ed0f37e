"""What is answered by rule, and what is asked although a rule fits."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.service.helpers import Room

from acp_nvim.service.files import PROTECTED
from acp_nvim.service.questions import QuestionService
from acp_nvim.service.rules import Action, Decision, Rule, Rules
from acp_nvim.session.asked import (
    CommandSubject,
    LoginSubject,
    PathSubject,
    Permission,
    PermissionOption,
    Subject,
    ToolSubject,
    UnknownSubject,
)
from acp_nvim.session.content import Change, Diff, Location
from acp_nvim.session.entities import Session, ToolCall

pytestmark = pytest.mark.anyio

ONCE = PermissionOption("ok", "Allow", "allow_once")
ALWAYS = PermissionOption("ever", "Always", "allow_always")
NO = PermissionOption("no", "Reject", "reject_once")
OTHER = PermissionOption("x", "Allow once, really", "other")


def rule(action: Action, **given: object) -> Rule:
    return Rule(action, f"{action} it", **given)  # type: ignore[arg-type]


READ = rule("allow", kinds=("read", "search"))
EDIT_SRC = rule("allow", kinds=("edit",), paths=("src/**",))
TESTS = rule("allow", command=("npm", "test"))


@dataclass
class Desk:
    """A session in a folder, and rules."""

    ws: Path

    async def decide(
        self,
        rules: Sequence[Rule],
        subject: Subject,
        *,
        kind: str = "edit",
        paths: Sequence[str] = (),
        changes: Sequence[Change] = (),
        options: Sequence[PermissionOption] = (ONCE, ALWAYS, NO),
        client: bool = False,
    ) -> Decision | None:
        session = Session("s", "claude", str(self.ws), roots=(str(self.ws),))
        call = ToolCall("t", kind=kind, locations=[Location(str(self.ws / each)) for each in paths])
        if changes:
            call.content = [Diff(tuple(changes))]
        session.tool_calls["t"] = call
        question = Permission("q", list(options), subject=subject, tool_call_id="t")
        question.asked_by = "client" if client else "agent"
        return await Rules(lambda: rules, lambda: PROTECTED).decide(session, question)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    ws = tmp_path.resolve() / "ws"
    for folder in ("src/deep", "docs", ".git", "vendor/src"):
        (ws / folder).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (ws / "src/link").symlink_to(ws / "docs")
    (ws / "src/out").symlink_to(tmp_path / "elsewhere")
    (ws / "docs/in").symlink_to(ws / "src")
    return Desk(ws)


TOOL = ToolSubject("t")


@pytest.mark.parametrize(
    ("kind", "paths", "index"),
    [
        ("edit", ["src/a.py"], 1),
        ("edit", ["src/deep/a.py", "src/b.py"], 1),
        ("edit", ["docs/in/a.py"], 1),  # it is really there
        ("edit", [], None),  # where, nobody knows
        ("delete", ["src/a.py"], None),
        ("edit", ["src/a.py", "docs/b.md"], None),
        ("edit", ["src/link/b.md"], None),  # and that is really elsewhere
        ("edit", ["src/out/b.md"], None),
        ("edit", ["src/../docs/a.py"], None),
        ("edit", ["vendor/src/a.py"], None),  # the folder of the project is meant
        ("edit", ["SRC/a.py"], None),
        ("edit", ["src/.nvim.lua"], None),
        ("edit", ["src\0/a.py"], None),
    ],
)
async def test_a_kind_below_a_folder(desk: Desk, kind: str, paths: list[str], index: int | None) -> None:
    decision = await desk.decide([EDIT_SRC], TOOL, kind=kind, paths=paths)
    assert (decision.index if decision else None) == index


async def test_a_call_that_names_no_file_is_asked_about(desk: Desk) -> None:
    every = rule("allow", kinds=("edit", "read", "search", "fetch"))
    for kind, index in (("edit", None), ("read", None), ("search", 1), ("fetch", 1)):
        decision = await desk.decide([every], TOOL, kind=kind)
        assert decision is not None
        assert decision.index == index, kind


async def test_every_file_of_a_change_counts(desk: Desk) -> None:
    inside, outside = Change("modify", str(desk.ws / "src/a")), Change("modify", str(desk.ws / "docs/a"))
    moved = Change("move", str(desk.ws / "src/b"), old_path=str(desk.ws / "docs/b"))
    for changes, index in (([inside], 1), ([inside, outside], None), ([moved], None)):
        decision = await desk.decide([EDIT_SRC], TOOL, paths=["src/a"], changes=changes)
        assert (decision.index if decision else None) == index, changes


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("npm test", True),
        ("npm test ", False),
        ("npm  test", False),
        ("npm test; rm -rf /", False),
        ("npm test && curl x", False),
        ("npm test | sh", False),
        ("npm test > ~/.bashrc", False),
        ("npm test $(id)", False),
        ("npm test `id`", False),
        ("npm test\nid", False),
        ("npm test -- x", False),
        ("npm testing", False),
        ("'npm' test", False),
        ("npm test # safe", False),
        ("npm test &", False),
        ("NPM test", False),
        ("A=b npm test", False),
    ],
)
async def test_a_command_is_its_words_and_nothing_else(desk: Desk, line: str, fits: bool) -> None:
    decision = await desk.decide([TESTS], CommandSubject(line, str(desk.ws)), kind="execute")
    assert (decision.index if decision else None) == (1 if fits else None)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("git", "commit", "-m", "a; b"), "git commit -m a; b"),
        (("echo", "a;b"), "echo a;b"),
        (("echo", "a&b"), "echo a&b"),
        (("echo", "a|b"), "echo a|b"),
        (("echo", ">x"), "echo >x"),
        (("cat", "<(id)"), "cat <(id)"),
        (("echo", "$(id)"), "echo $(id)"),
        (("echo", "`id`"), "echo `id`"),
        (("echo", "$HOME"), "echo $HOME"),
        (("echo", "*"), "echo *"),
        (("ls", "~root"), "ls ~root"),
        (("echo", "a\\"), "echo a\\"),
        (("echo", "#"), "echo #"),
        (("echo", "!!"), "echo !!"),
        (("echo", "{a,b}"), "echo {a,b}"),
        (("$'rm'", "x"), "$'rm' x"),
    ],
)
async def test_words_that_need_quotes_are_quoted(desk: Desk, words: tuple[str, ...], line: str) -> None:
    for said, index in ((shlex.join(words), 1), (line, None)):
        decision = await desk.decide([rule("allow", command=words)], CommandSubject(said))
        assert (decision.index if decision else None) == index, said


async def test_no_rule_allows_several_lines(desk: Desk) -> None:
    words = ("printf", "a\nb")
    assert await desk.decide([rule("allow", command=words)], CommandSubject(shlex.join(words))) is None


@given(st.text(alphabet="npm test;|&$()<>`\n'\"\\#*~", max_size=20))
async def test_no_other_line_is_ever_that_command(line: str) -> None:
    session = Session("s", "claude", "/", roots=("/",))
    question = Permission("q", [ONCE, NO], subject=CommandSubject(line))
    decision = await Rules(lambda: [TESTS], lambda: ()).decide(session, question)
    assert (decision is not None) == (line == "npm test")


@pytest.mark.parametrize(
    ("cwd", "index"),
    [(None, 1), ("{ws}", 1), ("{ws}/src", 1), ("/", None), ("{ws}/src/out", None), ("src", None)],
)
async def test_a_command_stays_in_the_project(desk: Desk, cwd: str | None, index: int | None) -> None:
    where = cwd.format(ws=desk.ws) if cwd else None
    decision = await desk.decide([TESTS], CommandSubject("npm test", where))
    assert decision is not None
    assert decision.index == index


async def test_a_kind_does_not_allow_a_command(desk: Desk) -> None:
    for kind in ("read", "other", "execute"):
        everything = rule("allow", kinds=("read", "execute", "other"))
        assert await desk.decide([everything], CommandSubject("rm x"), kind=kind) is None


async def test_the_strictest_decides_in_whatever_order(desk: Desk) -> None:
    refuse, ask = rule("reject", paths=("secret*",)), rule("ask", paths=("src/**",))
    for rules in itertools.permutations([EDIT_SRC, refuse, ask]):
        for path, index in (("src/secret.py", 3), ("src/a.py", None)):
            decision = await desk.decide(rules, TOOL, paths=[path])
            assert decision is not None
            assert decision.index == index


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("rm -rf x", True),
        ("cd x && rm -rf y", True),
        ("sudo /bin/rm -rf y", True),
        ("$(rm -rf x)", True),
        ("bash -c 'rm -rf x'", True),
        ("rm -r x", False),
        ("farm -rf x", False),
    ],
)
async def test_a_refused_command_is_found_anywhere(desk: Desk, line: str, refused: bool) -> None:
    decision = await desk.decide([rule("reject", command=("rm", "-rf"))], CommandSubject(line))
    assert (decision is not None and decision.index == 3) == refused


async def test_one_file_is_enough_to_refuse_by_either_of_its_names(desk: Desk) -> None:
    refuse = rule("reject", paths=("docs/**",))
    for paths in (["src/a", "docs/b"], ["src/link/b"], ["docs/in/a"], ["DOCS/x"]):
        decision = await desk.decide([refuse], TOOL, paths=paths)
        assert decision is not None, paths
        assert decision.index == 3


@pytest.mark.parametrize(
    ("options", "allowed", "refused"),
    [
        ([ALWAYS, NO], None, 2),
        ([ONCE, ONCE, NO], None, 3),
        ([OTHER, NO], None, 2),
        ([ONCE], 1, 0),
        ([ONCE, NO, NO], 1, 0),
        ([], None, 0),
    ],
)
async def test_only_once_and_only_by_kind(
    desk: Desk, options: list[PermissionOption], allowed: int | None, refused: int
) -> None:
    """Never by an option's name, never for ever; a refusal without such an option is ``cancelled``."""
    yes = await desk.decide([EDIT_SRC], TOOL, paths=["src/a"], options=options)
    no = await desk.decide([rule("reject", kinds=("edit",))], TOOL, paths=["src/a"], options=options)
    assert yes is not None
    assert no is not None
    assert (yes.index, no.index) == (allowed, refused)


@pytest.mark.parametrize(
    "subject",
    [None, UnknownSubject("new", {}), LoginSubject("login"), LoginSubject("logout")],
)
async def test_what_is_no_tool_call_is_asked(desk: Desk, subject: Subject) -> None:
    every = [READ, EDIT_SRC, TESTS, rule("allow", kinds=("edit", "search", "fetch"))]
    assert await desk.decide(every, subject, paths=["src/a"]) is None


async def test_questions_of_the_editor_are_never_allowed(desk: Desk) -> None:
    unsaved = PathSubject("write", str(desk.ws / "src/a"), str(desk.ws / "src/a"), "modified")
    outside = CommandSubject("npm test", "/", "/", "outside")
    wanted = CommandSubject("npm test", str(desk.ws), str(desk.ws), "asked")
    for subject, index in ((unsaved, None), (outside, None), (wanted, 1)):
        decision = await desk.decide([EDIT_SRC, TESTS], subject, client=True)
        assert decision is not None
        assert decision.index == index
    refused = await desk.decide([rule("reject", paths=("src/**",))], unsaved, client=True)
    assert refused is not None
    assert refused.index == 3


async def test_a_command_with_variables_of_the_agents_is_another_command(desk: Desk) -> None:
    """``PATH``, ``LD_PRELOAD``, ``GIT_SSH_COMMAND``, …: what runs then is not what the rule names."""
    ws = str(desk.ws)
    subject = CommandSubject("npm test", ws, ws, "asked", (("PATH", f"{ws}/bin"),))
    decision = await desk.decide([TESTS], subject, client=True)
    assert decision is not None
    assert (decision.index, decision.why) == (None, "it sets variables of its own: PATH")
    refused = await desk.decide([rule("reject", command=("npm",))], subject, client=True)
    assert refused is not None
    assert refused.index == 3


async def test_of_another_agent(desk: Desk) -> None:
    assert await desk.decide([rule("allow", kinds=("edit",), agent="codex")], TOOL, paths=["src/a"]) is None
    decision = await desk.decide([rule("allow", kinds=("edit",), agent="claude")], TOOL, paths=["src/a"])
    assert decision is not None
    assert decision.index == 1


async def test_it_is_answered_and_never_shown() -> None:
    room, session = Room(), Session("s1", "agent", "/ws", roots=("/ws",))
    room.store.add(session)

    async def decide(_session: Session, _permission: Permission) -> Decision | None:
        await anyio.lowlevel.checkpoint()
        return Decision(2, READ, "allowed")

    questions = QuestionService(room.store, room._show, room._hide, decide)
    question = Permission("", [NO, ONCE], tool_call_id="t1")
    assert await questions.ask(session, question) == "ok"
    assert (room.shown, room.closings()) == ([], [("q1", "selected", "ok", "rule")])
    assert (question.rule, question.by) == (READ.words, "rule")


@pytest.mark.parametrize("how", ["cancelled", "withdrawn"])
async def test_it_ends_while_rules_are_looked_at(how: str) -> None:
    room, session = Room(), Session("s1", "agent", "/ws", roots=("/ws",))
    room.store.add(session)
    looking, go_on = anyio.Event(), anyio.Event()

    async def decide(_session: Session, _permission: Permission) -> Decision | None:
        looking.set()
        await go_on.wait()
        return Decision(1, READ, "allowed")

    questions = QuestionService(room.store, room._show, room._hide, decide)
    question, answers = Permission("", [ONCE, NO], tool_call_id="t1"), list[str | None]()

    async def ask() -> None:
        answers.append(await questions.ask(session, question))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await looking.wait()
        if how == "withdrawn":
            group.cancel_scope.cancel()
        else:
            questions.cancel_all(session, "cancel")
            go_on.set()
    assert answers == ([None] if how == "cancelled" else [])
    assert (room.shown, room.openings(), room.hidden) == ([], [], [])
    assert question.by == ("cancel" if how == "cancelled" else "agent")
    assert questions.open() == []
