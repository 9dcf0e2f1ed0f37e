"""What binary content is: the declared type and the beginning of the data have to agree."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.text.media import decoded, media_of


@pytest.mark.parametrize(
    ("mime", "data", "suffix"),
    [
        ("image/png", b"\x89PNG\r\n\x1a\nrest", ".png"),
        ("IMAGE/PNG; charset=binary", b"\x89PNG\r\n\x1a\n", ".png"),
        ("image/jpg", b"\xff\xd8\xff\xe0", ".jpg"),
        ("image/webp", b"RIFF\n\0\0\0WEBPVP8 ", ".webp"),
        ("audio/x-wav", b"RIFF\n\0\0\0WAVEfmt ", ".wav"),
        ("audio/mpeg", b"ID3\x04", ".mp3"),
        ("audio/mpeg", b"\xff\xfb\x90", ".mp3"),
        ("audio/mp4", b"\0\0\0\x20ftypM4A ", ".m4a"),
        ("application/pdf", b"%PDF-1.7", ".pdf"),
    ],
)
def test_known_types(mime: str, data: bytes, suffix: str) -> None:
    media = media_of(mime)
    assert media is not None
    assert media.suffix == suffix
    assert media.starts.match(data)


@pytest.mark.parametrize(
    ("mime", "data"),
    [
        ("image/png", b"<html><script>"),
        ("image/png", b"\x89PNG"),
        ("image/png", b"x\x89PNG\r\n\x1a\n"),
        ("image/gif", b"\x89PNG\r\n\x1a\n"),
        ("image/webp", b"RIFF\n\0\0\0WAVE"),
        ("application/pdf", b"#!/bin/sh\n%PDF-"),
        ("image/jpeg", b""),
    ],
)
def test_data_that_is_not_what_it_says(mime: str, data: bytes) -> None:
    media = media_of(mime)
    assert media is not None
    assert not media.starts.match(data)


@pytest.mark.parametrize(
    "mime", [None, "", "image/svg+xml", "text/html", "application/x-sh", "image/../x", "*"]
)
def test_types_that_are_never_opened(mime: str | None) -> None:
    assert media_of(mime) is None


@given(st.binary(), st.integers(1, 80))
def test_base64_with_line_breaks_and_without_padding(data: bytes, width: int) -> None:
    text = base64.b64encode(data).decode()
    rows = "\r\n".join(text[i : i + width] for i in range(0, len(text), width))
    assert decoded(text) == decoded(rows) == decoded(text.rstrip("=")) == data


@pytest.mark.parametrize("text", ["a", "ab!d", "é", "====x", "ab-_", "\x00"])
def test_damaged_base64(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        decoded(text)
