"""The boundary: where a path really leads, and whether that is inside."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_nvim.service.files import PROTECTED
from acp_nvim.service.roots import MOST_PATH, inside, matches, real_path, resolve
from acp_nvim.session.ports import RequestError


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    base = tmp_path.resolve()
    for folder in ("ws/src", "ws-evil", "other", "ws/.git/hooks"):
        (base / folder).mkdir(parents=True)
    (base / "ws/a.txt").write_text("a\n")
    (base / "ws-evil/secret.txt").write_text("s\n")
    (base / "ws/out").symlink_to(base / "other")
    (base / "ws/dangling").symlink_to(base / "other/new.txt")
    (base / "ws/loop").symlink_to(base / "ws/loop")
    (base / "ws/config").symlink_to(base / "ws/.git/hooks")
    (base / "ws/.vscode").symlink_to(base / "ws/src")
    (base / "link").symlink_to(base / "ws")
    return base / "ws"


CASES = [
    ("ws/a.txt", "ws/a.txt", None),
    ("ws/new/deep/b.txt", "ws/new/deep/b.txt", None),
    ("ws/src/../a.txt", "ws/a.txt", None),
    ("link/a.txt", "ws/a.txt", None),
    ("ws", "ws", None),
    ("ws-evil/secret.txt", "ws-evil/secret.txt", "outside"),
    ("ws/../ws-evil/secret.txt", "ws-evil/secret.txt", "outside"),
    ("ws/nothing/../../other/x", "other/x", "outside"),
    ("ws/out/x.txt", "other/x.txt", "outside"),
    ("ws/out/../ws/a.txt", "ws/a.txt", None),
    ("ws/dangling", "other/new.txt", "outside"),
    ("ws/.git/config", "ws/.git/config", "protected"),
    ("ws/.git", "ws/.git", "protected"),
    ("ws/.GIT/config", "ws/.GIT/config", "protected"),
    ("ws/sub/.git/hooks/pre-commit", "ws/sub/.git/hooks/pre-commit", "protected"),
    ("ws/config/pre-commit", "ws/.git/hooks/pre-commit", "protected"),
    ("ws/.vscode/tasks.json", "ws/src/tasks.json", "protected"),
    ("ws/src/.nvim.lua", "ws/src/.nvim.lua", "protected"),
    ("ws/.gitignore", "ws/.gitignore", None),
    ("ws/x.nvim.lua", "ws/x.nvim.lua", None),
    ("ws/src/git/x", "ws/src/git/x", None),
]


@pytest.mark.req("V1-173")
@pytest.mark.parametrize(("path", "real", "why"), CASES)
def test_places(ws: Path, path: str, real: str, why: str | None) -> None:
    place = resolve(str(ws.parent / path), [str(ws)], PROTECTED)
    assert (place.real, place.why) == (str(ws.parent / real), why)


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="a system without /proc")
@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/environ",
        str(Path("/proc/self", "root", "etc/passwd")),
        "/proc/self/mem",
        "/dev/fd/0",
        "/dev/tty",
        "/proc/self/cwd/../x",
        "/dev/shm/x",
    ],
)
def test_what_the_system_makes_up_is_outside(ws: Path, path: str) -> None:
    for spelled in (path, f"{ws}/..{'/..' * 20}{path}"):
        assert resolve(spelled, [str(ws)], ()).why == "outside"


def test_a_folder_of_another_disk_may_have_the_same_number() -> None:
    """The first folder of several file systems has the inode 1."""
    assert not inside("/proc/version", "/sys")
    assert not inside("/dev/shm/x", "/proc")


def test_a_link_that_may_not_be_read_is_an_answer(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> str:
        raise PermissionError(13, "Permission denied", path)

    assert real_path("/\0") is None
    monkeypatch.setattr("os.path.realpath", refuse)  # as for links of other users' processes below /proc
    assert real_path("/locked") is None
    with pytest.raises(RequestError) as caught:
        resolve("/locked/x", [str(ws)], ())
    assert (caught.value.code, caught.value.message) == (-32603, "/locked/x: Permission denied")


def test_roots_may_be_links_and_many(ws: Path) -> None:
    base = ws.parent
    roots = [str(base / "link"), str(base / "other") + "/"]
    assert resolve(str(base / "other/x"), roots, ()).why is None
    assert resolve(str(ws / "a.txt"), roots, ()).why is None
    assert resolve(str(base / "ws-evil"), roots, ()).why == "outside"
    assert resolve("/etc/passwd", ["/"], ()).why is None


@pytest.mark.req("V1-172")
@pytest.mark.parametrize(
    "path", ["relative.txt", "", "./a", "~/x", "file:///ws/a", "a\0b", "/a\0b", "/\ud800"]
)
def test_paths_that_are_none(ws: Path, path: str) -> None:
    with pytest.raises(RequestError) as caught:
        resolve(path, [str(ws)], ())
    assert caught.value.code == -32602


def test_a_loop_of_links_is_no_error_here(ws: Path) -> None:
    assert resolve(str(ws / "loop"), [str(ws)], ()).real == str(ws / "loop")


def test_the_same_folder_under_another_name(ws: Path) -> None:
    # What a bind mount or a disk that ignores case looks like: another name, the same device and inode.
    assert inside(str(ws / "src/x"), str(ws / "src/../src"))
    assert not inside(str(ws / "src/x"), str(ws.parent / "gone"))


@pytest.mark.parametrize(
    ("name", "glob", "expected"),
    [
        ("a/b/c.py", "*.py", True),
        ("c.py", "/*.py", True),
        ("a/c.py", "/*.py", False),
        ("a/b/c", "a/*/c", True),
        ("a/b/d/c", "a/*/c", False),
        ("a/b/d/c", "a/**/c", True),
        ("a/c", "a/**/c", True),
        ("secrets", "secrets/**", True),
        ("secrets2/x", "secrets/**", False),
        ("x1", "x[0-9]", True),
        ("xa", "x[!0-9]", True),
        ("a+b", "a+b", True),
        ("aab", "a+b", False),
        (".env", ".env?", False),
        (".envs", ".env?", True),
        ("[", "[", True),
        ("new\nline", "new*", True),
        ("a!b", "a[!]b", False),
        ("a[!]b", "a[!]b", True),
        ("a!", "a[b!]", True),
        ("a^", "a[b!]", False),
        ("x[z-a]", "x[z-a]", True),
        ("a&", "[a&&b]&", True),
        ("a/b", "a[!x]b", False),
        ("a-", "[--a]-", True),
        ("a/b", "a[+-9]b", False),
        ("x/a/y/b", "a/**/b", True),
        ("aXb/cXb", "a*b", False),
        ("a/b/a/c", "a/*/a/*", True),
        ("ab/ab/ac", "**/a*/ac", True),
    ],
)
def test_globs(name: str, glob: str, expected: bool) -> None:
    assert matches(name, [glob]) is expected


@given(st.text("ab/*?[]!-^\\&", max_size=12), st.text("ab/*?[]!-^\\&\n", max_size=12))
def test_any_glob(glob: str, name: str) -> None:
    """No glob is an error, and a name without signs is its own glob."""
    assert matches(name, [glob]) in (True, False)
    if not set(name) & set("*?[]/"):
        assert matches(name, [name])
        assert matches(f"x/{name}", [name])
        assert matches(f"x/{name}/y", [f"{name}/**"])
    if matches(name, [glob], exact=True):
        assert matches(name, [glob])


@given(
    st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?", "[ab]", "[!a]", "/**"]), max_size=7),
    st.text("ab/", max_size=10),
)
def test_a_glob_finds_what_trying_everything_finds(parts: list[str], name: str) -> None:
    """Its pattern takes the first place of each piece: none of the others would have done."""
    glob = "".join(parts)
    assert matches(name, [glob]) == (plain(glob).fullmatch(name) is not None)


def plain(glob: str) -> re.Pattern[str]:
    """The same pattern, but one that goes back to try all ways."""
    anchored, rest, tail = glob.startswith("/"), glob.lstrip("/"), ""
    if rest.endswith("/**"):
        rest, tail = rest[:-3], "(?:/.*)?"
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!a]": "[^a/]"}
    found = re.split(r"((?<![^/])\*\*/|\*\*|\*|\?|\[!?[^\]/]+\])", rest)
    body = "".join(words.get(part) or re.escape(part) for part in found)
    return re.compile(("" if anchored else "(?:.*/)?") + body + tail, re.DOTALL | re.IGNORECASE)


@pytest.mark.parametrize(
    ("glob", "name"),
    [
        ("*a" * 8 + "b", "a" * 200),
        ("**/" * 6 + "b", "a/" * 500),
        ("**a*" * 5 + "c", "ab/" * 300),
        ("*[ab]*[ab]*[ab]*[ab]*c", "ab" * 200),
        ("**/*?*?*?*?*?b", "a" * 200),
    ],
)
def test_no_glob_takes_forever(glob: str, name: str) -> None:
    """These took hours."""
    assert not matches(name, [glob])


@pytest.mark.req("V1-172")
def test_a_path_no_system_opens_is_refused(ws: Path) -> None:
    with pytest.raises(RequestError, match="too long"):
        resolve("/a" * MOST_PATH, [str(ws)], ())


parts = st.sampled_from(
    ["..", ".", "src", "out", "config", "link", "ws", "ws-evil", "new", "dangling", "", "a.txt"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(parts, max_size=7))
def test_inside_is_what_the_system_finds_there(ws: Path, names: list[str]) -> None:
    """Whatever the path: if a file is there, the boundary judges the file the system would open."""
    path = str(ws) + "/" + "/".join(names)
    place = resolve(path, [str(ws)], ())
    try:
        found = Path(path).resolve(strict=True)
    except (OSError, RuntimeError):
        return
    assert Path(place.real).samefile(found)
    assert (place.why is None) == (os.path.commonpath([str(found), str(ws)]) == str(ws))


@pytest.fixture
def caseless(ws: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder as on a disk that ignores case: any spelling is the same device and inode."""
    real_stat = Path.stat
    base = str(ws.parent)

    def stat(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        name = str(self)
        if name.lower().startswith(base.lower()):
            self = Path(base + name[len(base) :].lower())
        return real_stat(self, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", stat)
    return ws


def test_a_disk_that_ignores_case(caseless: Path) -> None:
    ws = caseless
    other = str(ws.parent / "WS")
    assert resolve(f"{other}/A.TXT", [str(ws)], ()).why is None
    assert resolve(f"{other}-EVIL/secret.txt", [str(ws)], ()).why == "outside"
    for path in (f"{other}/.GIT/config", f"{other}/SRC/.Nvim.lua"):
        assert resolve(path, [str(ws)], PROTECTED).why == "protected"
    # Anchored at the root: only below it, whatever its spelling.
    assert resolve(f"{other}/A.TXT", [str(ws)], ("/a.txt",)).why == "protected"
    assert resolve(f"{other}/SRC/a.txt", [str(ws)], ("/a.txt",)).why is None


def test_all_spellings_of_a_file_wait_in_one_line(caseless: Path) -> None:
    ws = caseless
    roots = [str(ws)]
    keys = {
        resolve(str(path), roots, ()).key for path in (ws / "a.txt", ws / "A.TXT", ws.parent / "WS/a.TXT")
    }
    assert len(keys) == 1
    assert resolve(str(ws / "src/a.txt"), roots, ()).key not in keys
    before = resolve(str(ws / "new.txt"), roots, ()).key
    (ws / "new.txt").write_text("x")
    (ws / "other.txt").write_text("y")
    (ws / "other.txt").replace(ws / "new.txt")
    assert resolve(str(ws / "new.txt"), roots, ()).key == before
