"""A form or a page an agent asks for, in words: in its row, in its card, and for the form in Lua."""

from __future__ import annotations

from typing import Any

from acp_nvim.session.elicitation import Elicitation, Form, FormField
from acp_nvim.text.sanitise import clean, one_line, split_long
from acp_nvim.text.sanitise import lines as safe_lines
from acp_nvim.text.url import Url, inspect

from .block import Lines, Segment
from .look import Look

#: Bytes of a line of the content: a longer one goes on in the next, and nothing is left out.
CONTENT_BYTES = 8000
#: Cells of a name in a list, and of a value in its row once it was sent.
NAME_CELLS = 60
VALUE_CELLS = 200
HIDDEN = "•••"
ASCII_HIDDEN = "***"

_FORMATS = {
    "email": "an email address",
    "uri": "an address, as https://example.com",
    "date": "a date, as 2025-01-31",
    "date-time": "a date and time, as 2025-01-31T18:30:00Z",
    "password": "",
}


def action(elicitation: Elicitation) -> tuple[str, str]:
    """The words of the title, and the one-line form without the agent's name."""
    message = one_line(elicitation.message)
    if elicitation.url is None:
        return "wants to ask you something", f"asks: {message}"
    host = clean(inspect(elicitation.url).host)
    return "wants you to open a page", f"wants you to open {host}: {message}"


def put_content(body: Lines, elicitation: Elicitation, look: Look) -> None:
    """All there is to know before answering (V1-199, V1-204, V1-206)."""
    put_text(body, elicitation.message, "")
    if elicitation.url is not None:
        _put_url(body, inspect(elicitation.url), look)
    elif elicitation.form is not None:
        _put_form(body, elicitation.form, look)


def put_text(body: Lines, text: str, group: str) -> None:
    """The lines of a text of the agent's."""
    if not text.strip():
        return
    for line in safe_lines(text.strip("\r\n")):
        for piece in split_long(line, CONTENT_BYTES):
            body.put((piece, group))


def says(look: Look, words: str) -> str:
    """Words of the agent, marked as such. Further lines are set in, so that none passes for one of ours."""
    quoted = "\n  ".join(safe_lines(words.strip("\r\n")))
    return f'{look.agent} says: "{quoted}"'


def put_answer(body: Lines, elicitation: Elicitation, look: Look) -> None:
    """What was sent, below the row of a form; the address of a page that may still have to be copied."""
    if elicitation.url is not None and elicitation.state in ("opened", "finished"):
        _put_address(body, inspect(elicitation.url))
    if elicitation.form is None or elicitation.state != "accepted":
        return
    hidden = ASCII_HIDDEN if look.icons.cut == "..." else HIDDEN
    content = elicitation.content or {}
    for field in elicitation.form.inputs:
        name = one_line(field.name, NAME_CELLS, look.icons.cut)
        if field.secret:
            body.put((f"{name}: {hidden}", ""))
        elif field.key in content:
            value = one_line(_shown(field, content[field.key]), VALUE_CELLS, look.icons.cut)
            body.put((f"{name}: {value}", ""))


def word(elicitation: Elicitation) -> str:
    """How it went, for its row; empty while it is open."""
    if elicitation.url is not None and elicitation.state == "opened":
        return f"waiting for {clean(inspect(elicitation.url).host)}"
    return {
        "accepted": "answered by you",
        "declined": "declined by you",
        "cancelled": "cancelled",
        "withdrawn": "withdrawn",
        "finished": "finished in the browser",
    }.get(elicitation.state, "")


def _put_url(body: Lines, url: Url, look: Look) -> None:
    body.put(("goes to ", "AcpNote"), (url.host, "AcpPath"))
    _put_address(body, url)
    for warning in url.warnings:
        body.put((f"{look.icons.waiting} {clean(warning)}", "AcpWarn"))
    body.put(("It opens in your browser, outside of the editor.", "AcpNote"))


def _put_address(body: Lines, url: Url) -> None:
    body.put((url.text[: url.start], "AcpNote"), (url.host, "AcpPath"), (url.text[url.end :], "AcpNote"))


def _put_form(body: Lines, form: Form, look: Look) -> None:
    for text in (form.title, form.description):
        put_text(body, text or "", "AcpNote")
    for field in form.fields:
        segments: list[Segment] = [("- ", "AcpNote"), (one_line(field.name), "")]
        if field.required:
            segments.append((" (required)", "AcpNote"))
        if not field.fillable:
            segments.append((" (cannot be filled in here)", "AcpWarn"))
        body.put(*segments)
    if form.impossible:
        names = ", ".join(one_line(each.name, NAME_CELLS, look.icons.cut) for each in form.impossible)
        body.put((f"This form cannot be filled in here: it requires {names}.", "AcpWarn"))


def for_lua(elicitation: Elicitation) -> dict[str, Any] | None:
    """The form as ``acp.question.form`` wants it; None when there is nothing to fill in."""
    form = elicitation.form
    if form is None or form.impossible or not form.inputs:
        return None
    return {
        "left_out": [one_line(field.name) for field in form.fields if not field.fillable],
        "fields": [_field(field) for field in form.inputs],
    }


def _field(field: FormField) -> dict[str, Any]:
    """``value`` is the default as it would be typed: text, a bool, or numbers of choices from 1."""
    made: dict[str, Any] = {
        "key": field.key,
        "type": field.type,
        "title": one_line(field.name),
        "lines": _description(field),
        "words": constraint(field),
        "required": field.required,
        "secret": field.secret,
        "choices": [_choice(each.title, each.description, each.value) for each in field.choices],
    }
    value = _typed(field)
    return made if value is None else {**made, "value": value}


def _choice(title: str, description: str | None, value: str) -> dict[str, str]:
    made = {"title": one_line(title) or one_line(value) or '""'}
    return {**made, "note": one_line(description)} if description and description.strip() else made


def _description(field: FormField) -> list[str]:
    text = (field.description or "").strip("\r\n")
    if not text.strip():
        return []
    return [piece for line in safe_lines(text) for piece in split_long(line, CONTENT_BYTES)]


def _typed(field: FormField) -> Any:
    default = field.default
    match field.type:
        case "text":
            return "\n".join(safe_lines(default)) if isinstance(default, str) and default else None
        case "number" | "integer":
            return number(default) if isinstance(default, int | float) else None
        case "boolean":
            return default if isinstance(default, bool) else None
        case "choice":
            return next((n for n, each in enumerate(field.choices, 1) if each.value == default), None)
        case _:
            wanted = set(default) if isinstance(default, list) else set()
            return [n for n, each in enumerate(field.choices, 1) if each.value in wanted] or None


def constraint(field: FormField) -> str:
    """What a value must be, in words."""
    least = number(field.least) if field.least is not None else None
    most = number(field.most) if field.most is not None else None
    words: list[str] = []
    match field.type:
        case "number" | "integer":
            words.append("a number" if field.type == "number" else "a whole number")
            words.append(_between(least, most))
        case "text":
            words.append(_FORMATS.get(field.format, one_line(field.format)) if field.format else "")
            if (least, most) != (None, None) and (least, most) != ("0", None):
                words.append(f"{_between(least if least != '0' else None, most, 'fewer')} characters")
            if field.pattern:
                words.append(f"matching {one_line(field.pattern)}")
        case "choices":
            words.append(f"choose {_between(least, most, 'fewer') or 'any'}")
        case _:
            pass
    return ", ".join(each for each in words if each)


def _between(least: str | None, most: str | None, less: str = "less") -> str:
    if least is not None and most is not None:
        return least if least == most else f"{least} to {most}"
    if least is not None:
        return f"{least} or more"
    return f"{most} or {less}" if most is not None else ""


def number(value: float) -> str:
    """A number as people write it."""
    whole = isinstance(value, int) or value.is_integer()  # an int may be larger than any float
    return str(int(value)) if whole and abs(value) < 1e15 else str(value)


def _shown(field: FormField, value: Any) -> str:
    titles = {each.value: each.title for each in field.choices}
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(titles.get(each, each)) for each in value) or "none"
    return str(titles.get(value, value))
