"""What sessions know of files."""

from __future__ import annotations

from acp_nvim.service.known import Known


def test_each_session_knows_its_own() -> None:
    known = Known()
    known.learn("s1", "/a", "one")
    known.learn("s1", "/a", "two")
    assert (known.knows("s1", "/a", "two"), known.knows("s1", "/a", "one")) == (True, False)
    assert not known.knows("s2", "/a", "two")
    assert (known.text("s1", "/a"), known.text("s1", "/b"), known.text("s2", "/a")) == ("two", None, None)
    known.forget("s1")
    assert not known.knows("s1", "/a", "two")
    known.forget("s1")


def test_of_much_text_only_the_digest_stays() -> None:
    known = Known(limit=10)
    known.learn("s", "/a", "12345")
    known.learn("s", "/b", "67890")
    known.learn("s", "/c", "!")
    assert [known.text("s", path) for path in ("/a", "/b", "/c")] == [None, "67890", "!"]
    assert known.knows("s", "/a", "12345")
    known.learn("s", "/d", "longer than the limit")
    assert known.text("s", "/d") is None
    assert known.knows("s", "/d", "longer than the limit")
