"""The rows of options that Lua gets."""

from __future__ import annotations

import pytest
from tests.unit.view.helpers import Chat

from acp_nvim.session.events import OptionsSet, OptionValue
from acp_nvim.session.options import Choice, Option
from acp_nvim.view.options import label, ordered, rows, typed


def of(ident: str, category: str | None = None) -> Option:
    return Option(ident, ident.upper(), "select", "v", [Choice("v", "V")], category=category)


@pytest.mark.req("V1-145", "V1-150", "V1-151")
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([], ""),
        ([("a", None), ("m", "model"), ("b", None)], "a m b"),
        (
            [("c", "model_config"), ("a", None), ("m", "model"), ("b", None), ("d", "model_config")],
            "a m c d b",
        ),
        ([("c", "model_config"), ("a", "_own")], "c a"),
        ([("m", "model"), ("n", "model"), ("c", "model_config")], "m c n"),
        ([("t", "thought_level"), ("m", "model"), ("x", "mode")], "t m x"),
    ],
)
def test_order(given: list[tuple[str, str | None]], shown: str) -> None:
    assert " ".join(option.id for option in ordered([of(*each) for each in given])) == shown


def test_rows() -> None:
    flag = Option("f", "", "boolean", True, description="what\nit does", category="_c")
    unknown = Option("u", "U", "unknown", raw={"type": "u"})
    select = Option("s", "S", "select", "b", [Choice("a", "A", "first", "G"), Choice("b", "")])
    assert rows([unknown, flag, select]) == [
        {
            "id": "f", "name": "f", "type": "boolean", "value": True, "label": "on", "choices": [],
            "description": "what it does", "category": "_c",
        },
        {
            "id": "s", "name": "S", "type": "select", "value": "b", "label": "b",
            "choices": [
                {"value": "a", "name": "A", "description": "first", "group": "G"},
                {"value": "b", "name": "b"},
            ],
        },
    ]  # fmt: skip
    assert label(select, "gone") == "gone"
    assert typed("x\x1b[0m\n\ud800") == "x^[[0m \ufffd".rstrip()


@pytest.mark.req("V1-144", "V1-149")
def test_a_mode_of_the_agent_changes_a_config_option_only_to_what_it_offers() -> None:
    chat = Chat()
    chat.apply(OptionsSet([of("m", "mode")]))
    chat.session.options[0].choices.append(Choice("w", "W"))
    chat.apply(OptionValue("mode", "w"))
    assert chat.session.options[0].value == "w"
    chat.apply(OptionValue("mode", "zen"))
    assert chat.session.options[0].value == "w"
    mode = Option("mode", "Mode", "select", "a", [Choice("a", "A")], category="mode", source="mode")
    chat.apply(OptionsSet([mode]), OptionValue("mode", "zen"))
    assert chat.session.options[0].label == "zen"
