"""Sessions an agent knows of, as Lua gets them."""

from __future__ import annotations

import pytest
from tests.unit.view.helpers import Chat

from acp_nvim.session.agent import SessionInfo
from acp_nvim.session.content import Block
from acp_nvim.session.events import MessageAppend, ReplayEnded, ReplayStarted
from acp_nvim.view.sessions import epoch, listed
from acp_nvim.view.status import Status


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:01:00Z", 60),
        ("1970-01-01T02:00:01.500+02:00", 1),
        ("1970-01-01T00:00:05", 5),
        ("1970-01-02", 86400),
        ("yesterday", None),
        ("", None),
        (None, None),
        ("9999-99-99T00:00:00Z", None),
    ],
)
def test_times(text: str | None, seconds: int | None) -> None:
    assert epoch(text) == seconds


def test_an_entry_is_fit_to_be_shown_and_its_id_exact() -> None:
    info = SessionInfo("id\x1b\n", "/ws", "a\nb\x1b]52;c;x\x07" + "y" * 300, "1970-01-01T00:00:00Z", ("/x",))
    entry = listed(info)
    assert (entry["id"], entry["cwd"], entry["time"], entry["directories"]) == ("id\x1b\n", "/ws", 0, ["/x"])
    assert entry["title"].isprintable()
    assert len(entry["title"]) <= 200
    assert listed(SessionInfo("a", "/ws", " \n ", "soon")) == {"id": "a", "cwd": "/ws"}


def test_the_topic_is_the_first_line_of_the_first_prompt_when_it_is_complete() -> None:
    chat, status = Chat(), Status()
    chat.apply(ReplayStarted())
    assert "topic" not in status.patch(chat.session)
    chat.apply(MessageAppend("user", None, Block.of_text("\n fix")))
    assert "topic" not in status.patch(chat.session)
    chat.apply(MessageAppend("user", None, Block.of_text(" it\x07\nand more")))
    chat.apply(MessageAppend("agent", None, Block.of_text("done")))
    assert status.patch(chat.session)["topic"] == "fix it^G"
    chat.apply(MessageAppend("user", None, Block.of_text("another")))
    chat.apply(ReplayEnded())
    assert "topic" not in status.patch(chat.session)
