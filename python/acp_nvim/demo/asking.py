"""What the demo asks of the user besides permissions: a form, and a page of the web (elicitation)."""

from __future__ import annotations

from typing import Any

from . import skills
from .peer import Json, RpcError
from .project import DemoError
from .turn import Turn

HOME = "https://agentclientprotocol.com"
GREETINGS = {"en": "Hello", "de": "Hallo", "fr": "Bonjour", "es": "Hola"}
PARTS = {"poem": "a poem", "list": "a list of things to do", "code": "a piece of code"}
TEXTS = {
    "poem": "> Roses are red, violets are blue,\n> this page was a form, and filled in by you.",
    "list": "## To do\n\n- [x] fill in a form\n- [ ] have a cup of tea",
    "code": '```python\nprint("hello")\n```',
}

FORM: Json = {
    "type": "object",
    "title": "A small page",
    "properties": {
        "name": {
            "type": "string",
            "title": "Whom to greet",
            "description": "a name, also the file's",
            "minLength": 1,
            "maxLength": 30,
            "default": "World",
        },
        "language": {
            "type": "string",
            "title": "Language",
            "oneOf": [
                {"const": "en", "title": "English"},
                {"const": "de", "title": "Deutsch"},
                {"const": "fr", "title": "Français"},
                {"const": "es", "title": "Español"},
            ],
            "default": "en",
        },
        "times": {"type": "integer", "title": "How often", "minimum": 1, "maximum": 5, "default": 1},
        "width": {
            "type": "number",
            "title": "Width of the margin",
            "description": "in centimetres",
            "minimum": 0,
            "maximum": 10,
        },
        "parts": {
            "type": "array",
            "title": "What else",
            "items": {"anyOf": [{"const": part, "title": title} for part, title in PARTS.items()]},
            "maxItems": 2,
        },
        "loud": {"type": "boolean", "title": "In capitals", "default": False},
    },
    "required": ["name", "language"],
}


async def ask(turn: Turn) -> None:
    """A form with a field of each kind; what is answered becomes a file, after the usual question."""
    if not turn.session.client.forms:
        raise DemoError("I would ask with a form, but this editor has none.")
    await turn.say("A few questions; of the answers I make a small page.")
    result = await elicit(turn, mode="form", message="What shall be in the page?", requestedSchema=FORM)
    if result.get("action") != "accept":
        raise DemoError(_no(result, "so there is no page"))
    values = result.get("content")
    name, text = page(values if isinstance(values, dict) else {})
    path = turn.project.inside(name)
    if path.exists():
        raise DemoError(f"`{name}` exists already, so I leave it alone.")
    if await skills.edit(turn, path, None, text):
        await turn.say(f"Done: `{name}` holds what you answered.")


def page(values: Json) -> tuple[str, str]:
    """Name and text of the page. Raises DemoError for answers the form does not allow."""
    name, language, times = values.get("name"), values.get("language"), values.get("times", 1)
    parts, width, loud = values.get("parts", []), values.get("width"), values.get("loud", False)
    if not isinstance(name, str) or not name.strip() or language not in GREETINGS:
        raise DemoError("The editor sent a form without a name or a language.")
    if not isinstance(times, int) or not 1 <= times <= 5 or not isinstance(parts, list):
        raise DemoError("The editor sent a form with values that were not asked for.")
    greeting = f"{GREETINGS[language]} {' '.join(name.split())}!"
    lines = [f"# {greeting.upper() if loud is True else greeting}"] * times
    if isinstance(width, int | float) and not isinstance(width, bool):
        lines.append(f"<!-- margin: {width:g} cm -->")
    lines.extend(TEXTS[part] for part in parts if part in TEXTS)
    slug = "-".join("".join(each if each.isalnum() else " " for each in name.lower()).split())
    return f"greeting-{slug or 'nobody'}.md", "\n\n".join(lines) + "\n"


async def visit(turn: Turn) -> None:
    """A page to look at; afterwards the demo says that this is over (V1-207)."""
    if not turn.session.client.pages:
        raise DemoError(f"This editor opens no pages for me. It would have been {HOME}")
    ident = turn.session.name("page")
    result = await elicit(
        turn, mode="url", elicitationId=ident, url=HOME, message="Have a look at the home of the protocol?"
    )
    if result.get("action") != "accept":
        raise DemoError(_no(result, "so nothing was opened"))
    await turn.say(
        "You agreed, so your browser should have it. There is nothing to do there: I wait a moment."
    )
    await turn.beat(40)
    await turn.peer.notify("elicitation/complete", {"elicitationId": ident})
    await turn.say("That was it: I have told your editor that the visit is over.")


async def elicit(turn: Turn, **params: Any) -> Json:
    """Put it to the user. Raises DemoError when the editor cannot."""
    try:
        result = await turn.request("elicitation/create", params)
    except RpcError as error:
        raise DemoError(f"The editor did not ask you: {error.message}") from None
    if not isinstance(result, dict) or result.get("action") not in ("accept", "decline"):
        await turn.beat(2)  # a cancel of the turn usually comes with it
    return result if isinstance(result, dict) else {}


def _no(result: Json, so: str) -> str:
    return f"You declined, {so}." if result.get("action") == "decline" else f"You gave no answer, {so}."
