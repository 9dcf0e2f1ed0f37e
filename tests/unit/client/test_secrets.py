"""Masking: configured values never leave the process (C41)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.client.secrets import MASK, SHORTEST, Secrets


@pytest.mark.parametrize(
    ("values", "text", "expected"),
    [
        (["sk-test-0000"], "key sk-test-0000, again sk-test-0000.", f"key {MASK}, again {MASK}."),
        (["abcdef", "abcdefghi"], "abcdefghi", MASK),
        (["short"], "short", "short"),
        (['with"quote\\'], json.dumps('with"quote\\'), f'"{MASK}"'),
        (["a/b/c/d/e"], r"a\/b\/c\/d\/e", MASK),
        ([], "Authorization: Bearer t0k3n-value", f"Authorization: Bearer {MASK}"),
        ([], "a bearer of news", "a bearer of news"),
        (["a.c+d*"], "a.c+d* abcdd", f"{MASK} abcdd"),
    ],
)
def test_values_are_masked(values: list[str], text: str, expected: str) -> None:
    secrets = Secrets()
    secrets.add(values)
    assert secrets.mask(text) == expected


def test_variables_are_secret_by_their_names() -> None:
    secrets = Secrets()
    secrets.add_environment({"OPENAI_API_KEY": "value-one", "GH_TOKEN": "value-two", "EDITOR": "value-three"})
    assert secrets.mask("value-one value-two value-three") == f"{MASK} {MASK} value-three"


@given(st.text(min_size=SHORTEST, max_size=30), st.text(), st.text())
def test_no_value_survives(value: str, before: str, after: str) -> None:
    secrets = Secrets()
    secrets.add([value])
    assert value not in secrets.mask(before + value + after).replace(MASK, "")


@pytest.mark.parametrize(
    ("name", "value", "text", "expected"),
    [
        ("pin", "1234", '{"pin": "1234"}', f'{{"pin": "{MASK}"}}'),
        ("pin", 1234, '  "pin": 1234,', f'  "pin": "{MASK}",'),
        ("pin", 1234, '{"pin":1234,"port":1234}', f'{{"pin":"{MASK}","port":1234}}'),
        ("pin", 12, '"pin": 123', '"pin": 123'),
        ("a.b", 'q"', json.dumps({"a.b": 'q"'}), f'{{"a.b": "{MASK}"}}'),
        ("clé", "é", json.dumps({"clé": "é"}), f'{{"cl\\u00e9": "{MASK}"}}'),
        ("clé", "é", json.dumps({"clé": "é"}, ensure_ascii=False), f'{{"clé": "{MASK}"}}'),
        ("pin", "12", "pin 12", "pin 12"),
    ],
)
def test_a_short_value_is_masked_where_it_was_filled_in(
    name: str, value: str | float, text: str, expected: str
) -> None:
    secrets = Secrets()
    secrets.add_member(name, value)
    assert secrets.mask(text) == expected


def test_a_value_of_several_lines_is_masked_as_json_writes_it() -> None:
    secrets = Secrets()
    secrets.add(["first line\nsecond\tline\u00e9"])
    assert secrets.mask(json.dumps("first line\nsecond\tline\u00e9")) == f'"{MASK}"'
    text = json.dumps("first line\nsecond\tline\u00e9", ensure_ascii=False)
    assert secrets.mask(text) == f'"{MASK}"'
