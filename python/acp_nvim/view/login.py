"""The question how to log in to an agent, or whether to log out."""

from __future__ import annotations

from acp_nvim.session.asked import LoginSubject, LoginWay
from acp_nvim.text.sanitise import lines as safe_lines
from acp_nvim.text.sanitise import one_line, split_long

from .block import Lines
from .elicitation import says
from .look import Look

#: Bytes of a line: a longer one goes on in the next.
LINE_BYTES = 8000
#: Cells of what an agent says of one of its ways.
ABOUT_CELLS = 300


def words(subject: LoginSubject, look: Look) -> tuple[str, str, str]:
    """The title, the one-line form, and what it is about in short."""
    agent = one_line(look.agent, 200)
    if subject.op == "logout":
        return f"log out of {agent}?", f"log out of {agent}", f"logout {agent}"
    asks = f"log in to {agent}" if subject.said is None else f"{agent} wants you to log in"
    return asks, asks, f"login {agent}"


def put(body: Lines, subject: LoginSubject, look: Look) -> None:
    """What the agent says, what went wrong the last time, and what each way is."""
    if subject.op == "logout":
        body.put((f"What {look.agent} is doing may end with it, fail or go on. :AcpLogin logs in again.", ""))
        return
    if subject.said:
        _text(body, says(look, subject.said), "AcpNote")
    if subject.failed:
        _text(body, f"{look.icons.failed} {subject.failed}", "AcpFailed")
    for number, way in enumerate(subject.ways, 1):
        if not way.usable:
            _other(body, way, look)
        elif way.how:
            body.put((str(number), "AcpKey"), (f" {one_line(way.how)}", "AcpNote"))


def about(subject: LoginSubject, options: list[dict[str, str]]) -> None:
    """Say of each answer what the agent says of this way: a name alone may mean anything."""
    for option, way in zip(options, subject.ways, strict=False):
        if way.usable and way.description:
            option["about"] = one_line(way.description, ABOUT_CELLS)


def _other(body: Lines, way: LoginWay, look: Look) -> None:
    description = f"  {one_line(way.description)}" if way.description else ""
    body.put((f"{look.icons.cancelled} ", "AcpNote"), (one_line(way.name), ""), (description, "AcpNote"))
    _text(body, f"  {way.how}", "AcpNote")


def _text(body: Lines, text: str, group: str) -> None:
    for line in safe_lines(text):
        for piece in split_long(line, LINE_BYTES):
            body.put((piece, group))
