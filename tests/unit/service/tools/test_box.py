"""The tools as agents and users are told of them."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from acp_nvim.service.rules import Rule, Rules
from acp_nvim.service.tools.box import TOOLS
from acp_nvim.service.tools.consent import ALLOW
from acp_nvim.session.asked import CommandSubject, Permission
from acp_nvim.session.entities import Session
from acp_nvim.session.rejection import REJECT

HELP = Path(__file__).parents[4] / "doc" / "acp.txt"


@pytest.mark.req("AAP-25")
@pytest.mark.parametrize("name", TOOLS)
def test_each_has_a_schema_and_is_documented(name: str) -> None:
    tool = TOOLS[name].about
    assert tool.name == name
    assert tool.description.endswith(".")
    jsonschema.Draft202012Validator.check_schema(dict(tool.parameters))
    assert tool.parameters["type"] == "object"
    text = HELP.read_text(encoding="utf-8")
    said = re.search(rf"\n\t{name} .*?(?=\n\t\w|\n<)", text, re.DOTALL)
    assert said is not None
    required = tool.parameters.get("required", [])
    for parameter in tool.parameters["properties"]:
        word = f"{parameter}*" if parameter in required else parameter
        assert re.search(rf"\b{re.escape(word)}[:,]", said[0]), word
    assert f"`{name}`" in text


@pytest.mark.anyio
@pytest.mark.req("AAP-28")
async def test_a_rule_may_refuse_a_command_of_a_server_and_never_allow_it(tmp_path: Path) -> None:
    session = Session("s", "remote", str(tmp_path))
    options = [ALLOW, REJECT]
    subject = CommandSubject("make test", str(tmp_path), str(tmp_path), "tool")
    question = Permission("q", options, subject=subject, asked_by="client", host="h")
    for action, index in (("allow", None), ("reject", 2)):
        rule = Rule(action, "a rule", command=("make", "test"))  # type: ignore[arg-type]
        decided = await Rules(partial(list, [rule]), list).decide(session, question)
        assert decided is not None
        assert decided.index == index
