"""Which paths a few typed characters mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.text.fuzzy import Paths, Search, recent_ranks

PROJECT = [
    "README.md",
    "src/",
    "src/app.py",
    "src/apps/",
    "src/apps/web/",
    "src/apps/web/index.ts",
    "src/client/",
    "src/client/happy.py",
    "src/client/parseApp.ts",
    "src/client/web_app.py",
    "docs/",
    "docs/app-guide.md",
    "docs/MAP.md",
    "docs/İstanbul.md",
]


def paths(names: list[str]) -> Paths:
    made = Paths()
    for name in names:
        made.add(name)
    return made


def find(
    typed: str, names: list[str], recent: tuple[str, ...] = (), most: int = 50, step: int = 4
) -> list[str]:
    search, made = Search(typed, recent_ranks(recent), most), paths(names)
    for start in range(0, len(made), step):
        search.look(made, start, start + step)
    return search.paths


CLIENT = ["src/client/happy.py", "src/client/web_app.py", "src/client/parseApp.ts"]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        # The name begins with it, a word of the name does, the name holds it, the path does, scattered.
        (
            "app",
            [
                *("src/apps/", "src/app.py", "docs/app-guide.md", "src/client/web_app.py"),
                *("src/client/parseApp.ts", "src/client/happy.py", "src/apps/web/", "src/apps/web/index.ts"),
            ],
        ),
        ("App", ["src/client/parseApp.ts"]),  # as with 'smartcase'
        ("map", ["docs/MAP.md"]),
        ("wapp", ["src/client/web_app.py"]),
        ("sweb", ["src/client/web_app.py", "src/apps/web/", "src/apps/web/index.ts"]),
        ("client/", ["src/client/", *CLIENT]),
        ("src/client/", ["src/client/", *CLIENT]),
        ("src/ap", ["src/apps/", "src/app.py", "src/apps/web/", "src/apps/web/index.ts"]),
        ("src/app.py", ["src/app.py"]),
        ("İstan", ["docs/İstanbul.md"]),
        ("istan", []),  # İ has no small letter of one character
        ("zzz", []),
        ("readme.md", ["README.md"]),
    ],
)
def test_what_fits_best_is_first(typed: str, expected: list[str]) -> None:
    assert find(typed, PROJECT)[: max(len(expected), 1)] == expected


def test_with_nothing_typed_the_top_and_the_recent() -> None:
    assert find("", PROJECT) == ["docs/", "src/", "README.md"]
    assert find("", PROJECT, ("src/app.py", "README.md", "gone.py")) == [
        "src/app.py", "README.md", "docs/", "src/",
    ]  # fmt: skip


def test_the_recent_are_first_among_equals() -> None:
    assert find("app", PROJECT, ("src/client/happy.py", "docs/app-guide.md"))[:3] == [
        "docs/app-guide.md", "src/apps/", "src/app.py",
    ]  # fmt: skip


def test_a_hostile_path_costs_no_more_than_others() -> None:
    names = ["a" * 4000 + "/" + "a" * 4000]
    assert find("a" * 60 + "b", names) == []
    assert find("aab", names) == []


NAMES = st.lists(st.text("abA/_.", min_size=1, max_size=8), max_size=30, unique=True)


@given(names=NAMES, typed=st.text("abA/", max_size=4), step=st.integers(1, 7), most=st.integers(1, 5))
def test_slices_change_nothing_and_all_that_is_found_fits(
    names: list[str], typed: str, step: int, most: int
) -> None:
    found = find(typed, names, most=most, step=step)
    assert found == find(typed, names, most=1000, step=1000)[:most]
    for name in found:
        rest = iter(name if typed != typed.lower() else name.lower())
        assert all(char in rest for char in typed)
    if typed:
        scattered = [name for name in names if _fits(typed, name)]
        assert len(found) == min(most, len(scattered))


def _fits(typed: str, name: str) -> bool:
    rest = iter(name if typed != typed.lower() else name.lower())
    return all(char in rest for char in typed)
