"""From what the user asked for to the skill that does it."""

from __future__ import annotations

from typing import assert_never

from . import asking, background, modes, moves, pictures, room, running, skills, trials
from .project import DemoError
from .requests import (
    Action,
    Ask,
    Background,
    Compact,
    Conflict,
    Create,
    Delete,
    Got,
    Help,
    List,
    Mode,
    Move,
    Name,
    Output,
    Page,
    Picture,
    Replace,
    Run,
    Search,
    Show,
    Silence,
    Tour,
    Unknown,
)
from .turn import Turn

HELP = """\
I am the built-in **demo agent**. I have no language model: I follow plain requests, on your real files.

You say, and I do:

- `list files`: list what is here
- `show FILE` or `show FILE:3-9`: read it
- `search TEXT`: find it in all files
- `replace X by Y in FILE`: ask you, then edit it
- `replace X by Y in all files`: ask for each file; `… at once`: ask one time for all
- `create FILE with TEXT`: ask you, then write it
- `delete FILE`, `move FILE to NAME`: ask you, then do it
- `run COMMAND`, `… in the background`: ask you, then run it
- `make a plan: …, then …`: do several things, one by one
- `show me everything`: give a tour
- `ask me something`: put a form before you, and write a page of it
- `open a page`: ask you to look at a page of the web
- `show a picture`: draw the largest files, with a link
- `go to read mode`, `edit mode`, `ask mode`: change the mode
- `what did you get? @FILE`: say what your prompt was made of
- `call this chat TITLE`, `compact`: name it, make room in the context
- `demo conflict in FILE`: write a file that you change meanwhile
- `demo output 50`: run a command that writes 50 lines, five a second
- `demo silence 75`: say nothing for 75 seconds

Most of these are commands too: type `/`. While I work (over ACP v1), `:AcpSend! …` adds to the turn.
`:AcpOptions` has my mode, my pace and my thoughts.
Texts with odd blanks go in quotes: `replace 'one  two' by 'three' in notes.txt`.
`:checkhealth acp` lists agents that can think."""


async def do(turn: Turn, action: Action) -> None:
    """Carry out one request. Raises DemoError with what to tell the user."""
    match action:
        case Help():
            await turn.say(HELP)
        case List():
            await skills.list_files(turn, action.where)
        case Show():
            await skills.show(turn, action)
        case Search():
            await skills.search(turn, action)
        case Replace():
            await skills.replace(turn, action)
        case Create():
            await skills.create(turn, action)
        case Delete():
            await moves.delete(turn, action)
        case Move():
            await moves.move(turn, action)
        case Run():
            await running.run(turn, action.command)
        case Background():
            await background.run(turn, action.command)
        case Ask():
            await asking.ask(turn)
        case Page():
            await asking.visit(turn)
        case Picture():
            await pictures.show(turn)
        case Mode():
            await modes.go(turn, action.id)
        case Name():
            await rename(turn, action.title)
        case Compact():
            await room.compact(turn)
        case Got():
            await turn.say("You sent:\n\n" + "\n".join(f"- {part}" for part in turn.session.parts))
        case Conflict():
            await trials.conflict(turn, action)
        case Output():
            await trials.output(turn, action)
        case Silence():
            await trials.silence(turn, action)
        case Tour():
            raise DemoError("A tour cannot be a step of a plan.")
        case Unknown():
            await unknown(turn, action.text)
        case _:
            assert_never(action)


async def rename(turn: Turn, title: str) -> None:
    """Give the chat another title."""
    turn.session.entitle(title)
    await turn.entitled()
    await turn.say(f"This chat is called “{turn.session.title}” now.")


async def unknown(turn: Turn, text: str) -> None:
    """Say kindly that this was not understood, and what would be."""
    quoted = " ".join(text.split())
    quoted = quoted if len(quoted) <= 60 else quoted[:59] + "…"
    await turn.say(f"I did not understand “{quoted}”." if quoted else "That was an empty message.")
    if turn.attached:
        names = ", ".join(f"`{turn.project.show(path)}`" for path in turn.attached)
        await turn.say(f"I see what you attached ({names}), but I cannot think about it.")
    await turn.say(HELP)
