"""What a mentioned path leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_nvim.service import mentioned
from acp_nvim.service.mentioned import count_lines, look, secret


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".env", True),
        (".env.local", True),
        ("prod.env", True),
        (".env.example", False),
        ("server.PEM", True),
        ("id_rsa", True),
        ("id_rsa.pub", False),
        ("id_ed25519_sk", True),
        (".netrc", True),
        ("secrets.yaml", True),
        ("environment.py", False),
        ("key.py", False),
        ("monkey", False),
    ],
)
def test_names_of_secrets(name: str, expected: bool) -> None:
    assert secret(f"/x/{name}") == expected


@pytest.mark.parametrize(
    ("data", "count"),
    [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"x\n" * 70_000, 70_000)],
)
def test_lines(tmp_path: Path, data: bytes, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    assert count_lines(str(path)) == count
    monkeypatch.setattr(mentioned, "COUNT_BYTES", 3)
    assert count_lines(str(path)) == (count if len(data) <= 3 else None)
    assert count_lines(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.txt", b"text", "text"),
        ("empty.png", b"", "text"),
        ("not-a.png", b"text", "text"),
        ("any-name", b"\x89PNG\r\n\x1a\n\0", "image"),
        ("a.jpg", b"\xff\xd8\xff\xe0\0", "image"),
        ("a.gif", b"GIF89a\0", "image"),
        ("a.webp", b"RIFF\0\0\0\0WEBP", "image"),
        ("a.svg", b"<svg/>", "text"),
        ("a.mp3", b"ID3\0", "audio"),
        ("a.txt", b"ID3 is a tag", "text"),
        ("utf16.txt", b"\xff\xfea\0", "binary"),
        ("nul", b"a\0", "binary"),
        ("latin-1.txt", "grün\n".encode("latin-1"), "binary"),
        ("cut.txt", b"a" * 8191 + "ü".encode(), "text"),
    ],
)
def test_kinds(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    (tmp_path / name).write_bytes(data)
    found = look(str(tmp_path / name), [str(tmp_path)], "/none")
    assert (found.kind, found.size, found.why) == (kind, len(data), "")


def test_our_own_folder_is_not_outside(tmp_path: Path) -> None:
    (tmp_path / "pasted").mkdir()
    (tmp_path / "ws").mkdir()
    path = tmp_path / "pasted" / "a.png"
    path.write_bytes(b"x")
    assert look(str(path), [str(tmp_path / "ws")], str(tmp_path / "pasted")).why == ""
    assert look(str(path), [str(tmp_path / "ws")], "/none").why == "outside the project"


def test_no_path_at_all(tmp_path: Path) -> None:
    for path in ("/a\0b", "/\udc80", "/x" * 5000, str(tmp_path / "none")):
        assert look(path, [str(tmp_path)], "/none").kind == "missing"
