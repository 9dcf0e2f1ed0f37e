"""What a change makes of a file, whichever part of it the agent sent, and when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plugin import examples

from acp_nvim.session.content import Change, Diff
from acp_nvim.view.outcome import Hints, Now, Outcome, outcome

PATH = "/ws/a.py"
OLD = "".join(f"line {n}\n" for n in range(1, 11))
NEW = OLD.replace("line 5\n", "line five\n")


def change(old: str | None, new: str | None, op: str = "modify", patch: str | None = None) -> Diff:
    return Diff((Change(op, PATH),), old, new, patch=patch)


def here(text: str | None, disk: str | None = None) -> Now:
    return Now(text, exists=text is not None, loaded=disk is not None, disk=disk)


PROPOSED = [
    pytest.param(here(OLD), [change(OLD, NEW)], Outcome("proposed", OLD, NEW), id="whole file"),
    pytest.param(
        here(OLD), [change("line 5\n", "line five\n")], Outcome("proposed", OLD, NEW), id="fragment"
    ),
    pytest.param(here(None), [change(None, NEW, "add")], Outcome("proposed", None, NEW), id="new"),
    pytest.param(here(None), [change("", NEW)], Outcome("proposed", None, NEW), id="new, empty old text"),
    pytest.param(
        here(OLD), [change(None, NEW)], Outcome("proposed", OLD, NEW, overwrite=True), id="overwrite"
    ),
    pytest.param(here(""), [change(None, NEW)], Outcome("proposed", "", NEW), id="into an empty file"),
    pytest.param(
        here("# mine\n" + OLD, disk=OLD),
        [change(OLD, NEW)],
        Outcome("proposed", "# mine\n" + OLD, NEW),
        id="the agent knows the disk only",
    ),
    pytest.param(
        here(OLD.replace("line 9", "line nine")),
        [change(OLD, NEW)],
        Outcome("proposed", OLD.replace("line 9", "line nine"), NEW, ("the agent has an older text",)),
        id="an older text",
    ),
    pytest.param(
        here(OLD), [change("x\ny\n", "x\nz\n")], Outcome("fragment", "x\ny\n", "x\nz\n"), id="not in the file"
    ),
    pytest.param(
        here("a\nb\na\n"), [change("a\n", "c\n")], Outcome("fragment", "a\n", "c\n", found=2), id="twice"
    ),
    pytest.param(
        here(None),
        [change("a\n", "b\n")],
        Outcome("proposed", "a\n", "b\n", ("there is no such file",)),
        id="no file",
    ),
    pytest.param(
        Now(None, exists=True, why="not a text file (UTF-8)"),
        [change("a\n", "b\n")],
        Outcome("proposed", "a\n", "b\n", ("not a text file (UTF-8)",)),
        id="cannot be read",
    ),
    pytest.param(
        here(OLD),
        [
            change("line 5\n", "line five\n"),
            change("line five\n", "line 5!\n"),
            change("line 9", "line nine"),
        ],
        Outcome("proposed", OLD, OLD.replace("line 5", "line 5!").replace("line 9", "line nine")),
        id="several, one after the other",
    ),
    pytest.param(
        here(OLD), [change("line 5\n", "line five\n"), change("x", "y")], None, id="one of several fails"
    ),
    pytest.param(here(NEW), [change(OLD, NEW)], Outcome("applied", OLD, NEW), id="the agent has not waited"),
    pytest.param(
        here(OLD),
        [change(None, None, patch="@@ -4,3 +4,3 @@\n line 4\n-line 5\n+line five\n line 6\n")],
        Outcome("proposed", OLD, NEW),
        id="patch",
    ),
    pytest.param(
        here("a\nb\n"),
        [change(None, None, patch="@@ -1,0 +2 @@\n+x\n")],
        Outcome("proposed", "a\nb\n", "a\nx\nb\n"),
        id="patch that only adds",
    ),
]


@pytest.mark.parametrize(("now", "diffs", "wanted"), PROPOSED)
@pytest.mark.req("V1-119")
def test_before_it_is_done(now: Now, diffs: list[Diff], wanted: Outcome | None) -> None:
    found = outcome(now, diffs, Hints(), done=False)
    if wanted is None:
        assert found.how == "fragment"
    else:
        assert found == wanted


DONE = [
    pytest.param(here(NEW), [change(OLD, NEW)], [], Outcome("applied", OLD, NEW), id="whole file"),
    pytest.param(
        here(NEW), [change("line 5\n", "line five\n")], [], Outcome("applied", OLD, NEW), id="fragment"
    ),
    pytest.param(here(NEW), [change(None, NEW, "add")], [], Outcome("applied", None, NEW), id="new"),
    pytest.param(
        here(NEW + "more\n"),
        [change(OLD, NEW)],
        [],
        Outcome("applied", OLD + "more\n", NEW + "more\n"),
        id="more came behind it",
    ),
    pytest.param(
        here(NEW.replace("line 9", "line nine")),
        [change(OLD, NEW)],
        [],
        Outcome("since", OLD, NEW, ("the file has changed since",)),
        id="changed since",
    ),
    pytest.param(
        here("".join(f"line {n}\n" for n in range(1, 11) if n != 5)),
        [change("line 5\n", "")],
        [change(OLD, OLD.replace("line 5\n", ""))],
        Outcome("applied", OLD, OLD.replace("line 5\n", "")),
        id="deleted: only the question had the whole file",
    ),
    pytest.param(
        here("x\n"), [change("line 5\n", "")], [], Outcome("fragment", "line 5\n", ""), id="deleted"
    ),
    pytest.param(
        here(None),
        [change(OLD, NEW)],
        [],
        Outcome("since", OLD, NEW, ("there is no such file",)),
        id="the file is gone",
    ),
    pytest.param(
        here(OLD), [change("line 5\n", "line five\n")], [], Outcome("proposed", OLD, NEW), id="taken back"
    ),
]


@pytest.mark.parametrize(("now", "diffs", "seen", "wanted"), DONE)
def test_when_it_is_done(now: Now, diffs: list[Diff], seen: list[Diff], wanted: Outcome) -> None:
    assert outcome(now, diffs, Hints(), done=True, seen=seen) == wanted


def test_hints_of_the_agent() -> None:
    now = here("a\nb\na\n")
    assert outcome(now, [change("a\n", "c\n")], Hints(3), done=False).new == "a\nb\nc\n"
    every = outcome(now, [change("a\n", "c\n")], Hints(every=True), done=False)
    assert (every.new, every.notes) == ("c\nb\nc\n", ("in 2 places",))


LINES = st.lists(st.sampled_from(["a", "b", "c d", "  e", ""]), min_size=1, max_size=10)


@given(before=LINES, old=LINES, new=LINES, after=LINES, whole=st.booleans(), done=st.booleans())
@examples(400)
def test_the_diff_applied_gives_the_agents_result(
    before: list[str], old: list[str], new: list[str], after: list[str], whole: bool, done: bool
) -> None:
    """Whole file or fragment, before or after the change: both texts are right, or it is said."""
    text, result = ("".join(f"{line}\n" for line in [*before, *part, *after]) for part in (old, new))
    if text == result:
        return
    part = (text, result) if whole else ("\n".join(old) + "\n", "\n".join(new) + "\n")
    found = outcome(here(result if done else text), [change(*part)], Hints(), done=done)
    if found.how == "fragment" or found.notes:
        return  # said on the screen
    assert whole or "".join(part).strip()
    if found.how == "applied":
        # What is shown leads to what the user has; and for a whole file it is the agent's.
        assert found.new == (result if done else text)
        assert not whole or (found.old, found.new) == (text, result)
    else:
        assert found.old == (result if done else text)
        assert done or found.new == result
