"""The options of an agent and its tools, as options of the session (spec section 3)."""

from __future__ import annotations

from collections.abc import Mapping

from acp_nvim.session.options import Choice, Option
from acp_nvim.wire.aap.meta import AgentOption, ToolSpec

from .links import ASK, OFF, TRUST, Link

#: What the id of a tool's option begins with.
TOOL = "tool:"
#: What the model knows of a secret that is set.
SET = "•••"

_HOW = (
    Choice(OFF, "off", "the agent does not have it"),
    Choice(ASK, "ask", "you are asked each time"),
    Choice(TRUST, "trust", "it runs without a question"),
)


def offered(link: Link) -> list[Option]:
    """The agent's options, then its tools, with their values (AAP-18, AAP-20, AAP-21)."""
    options = [_option(each, link) for each in link.served.options]
    known = {option.id for option in options}
    tools = [_tool(each, link) for each in link.served.tools]
    return [*options, *(tool for tool in tools if tool.id not in known)]


def defaults(options: list[AgentOption]) -> dict[str, str]:
    return {option.name: option.default for option in options}


def settle(link: Link, settings: Mapping[str, object]) -> dict[str, str]:
    """Give a new session what the settings say of its tools and options (AAP-18..21); returns the secrets.

    All tools are enabled, and none runs without a question, if they do not say otherwise. What cannot be
    understood is left out: it is refused, with the reason, when the session is open.
    """
    for tool in link.served.tools:
        how = settings.get(TOOL + tool.name)
        link.tools[tool.name] = str(how) if how in (OFF, ASK, TRUST) else ASK
    link.sent_tools = dict(link.tools)
    secrets: dict[str, str] = {}
    for option in link.served.options:
        value = settings.get(option.name)
        if isinstance(value, str) and (option.type != "select" or value in option.options):
            link.given[option.name] = value
            if option.type == "secret":
                secrets[option.name] = value
    masked = {name: SET if text else "" for name, text in secrets.items()}
    link.values = defaults(link.served.options) | link.given | masked
    return secrets


def _tool(tool: ToolSpec, link: Link) -> Option:
    name = f"tool {tool.title or tool.name}"
    how = link.tools.get(tool.name, OFF)
    about = tool.description or None
    return Option(TOOL + tool.name, name, "select", how, list(_HOW), about, category="tool", source="aap")


def _option(option: AgentOption, link: Link) -> Option:
    value = link.values.get(option.name, option.default)
    match option.type:
        case "select":
            choices = [Choice(each, each) for each in option.options]
            return _made(option, "select", value, choices)
        case "secret":
            return _made(option, "secret", SET if value else "")
        case "text":
            return _made(option, "text", value)
        case _:
            return _made(option, "unknown", value)


def _made(option: AgentOption, kind: str, value: str, choices: list[Choice] | None = None) -> Option:
    return Option(
        option.name,
        option.title or option.name,
        kind,  # type: ignore[arg-type]
        value,
        choices or [],
        option.description,
        # An option that is called so is what the user knows by this name.
        category=option.name if option.name in ("model", "mode") and kind == "select" else None,
        source="aap",
    )
