"""Plans: several requests one after the other, and the tour that shows everything the client can display."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from . import act, running, skills
from .project import DemoError
from .requests import List, Plan, Run, Search, Step
from .turn import Turn

# Mistakes that are mistakes in every text: correcting one is an edit the user may well want to keep.
SLIPS = {
    " the the ": " the ",
    "recieve": "receive",
    "seperate": "separate",
    "occured": "occurred",
    " teh ": " the ",
}
PROSE = {".md", ".txt", ".rst", ""}

OWN_PLAN = (
    Step("list files", List()),
    Step("search TODO", Search("TODO")),
    Step("run ls -l", Run("ls -l")),
)

STOPS = (
    "Look around",
    "Look for something to improve",
    "Change it, if you agree",
    "Run a command, if you agree",
    "Sum up",
)


async def follow(turn: Turn, plan: Plan) -> None:
    """Do the steps of a plan. A step that fails is told and the next one is done."""
    steps = plan.steps or OWN_PLAN
    words = [step.words for step in steps]
    if not plan.steps:
        await turn.say("A plan of what? You did not say, so I make one of my own.")
    await turn.think(f"That is {skills.count(len(steps), 'step')}. One after the other.")
    for at, step in enumerate(steps):
        await turn.plan(words, at)
        await turn.beat(8)
        try:
            await act.do(turn, step.action)
        except DemoError as error:
            await turn.say(str(error))
    await turn.plan(words, len(words))
    await turn.say(f"That was the plan: {skills.count(len(steps), 'step')}.")


@dataclass(frozen=True, slots=True)
class Improvement:
    """What the tour proposes. ``old`` None: a new file."""

    path: Path
    old: str | None
    new: str
    line: int
    about: str


async def tour(turn: Turn) -> None:
    """Thoughts, a plan, reads, a search, an edit with a question, a command with a question, Markdown."""
    await turn.think(
        "The user wants to see everything.\n\nSo: a plan, then the files, an edit and a command."
    )
    await turn.say(
        "I am a **demo without a language model**, but what I do is real. I change nothing before you agree."
    )
    await turn.plan(STOPS, 0)
    paths = await skills.list_files(turn)
    for path in [path for path in paths if path.suffix][:3]:
        try:
            await skills.read(turn, path, 1)
        except DemoError:
            continue  # a picture is as good a file as any, only not to read

    await turn.plan(STOPS, 1)
    found = await improvement(turn)
    await turn.say(found.about)

    await turn.plan(STOPS, 2)
    changed = await skills.edit(turn, found.path, found.old, found.new, found.line)

    await turn.plan(STOPS, 3)
    in_git = (turn.project.cwd / ".git").exists()
    ran = await running.run(
        turn, "git --no-pager diff --stat" if in_git and found.old is not None else "ls -l"
    )

    await turn.plan(STOPS, 4)
    await turn.beat(8)
    await turn.say(summary(turn, len(paths), found, changed, ran))
    await turn.plan(STOPS, 5)


async def improvement(turn: Turn) -> Improvement:
    """A slip of the pen in the user's texts; without one, a small file of our own."""
    await turn.think("A doubled word or a common misspelling would be good to correct.")
    for slip, right in SLIPS.items():
        matches = await turn.project.search(slip.strip())
        for match in matches:
            if match.path.suffix not in PROSE:
                continue
            text = await turn.read(match.path)
            if slip in text:
                await skills.look_for(turn, slip.strip())
                line = text[: text.index(slip)].count("\n") + 1
                where = f"`{turn.project.show(match.path)}` in line {line}"
                about = f"I found “{slip.strip()}” in {where} and would write “{right.strip()}”."
                return Improvement(match.path, text, text.replace(slip, right), line, about)
    await skills.look_for(turn, "TODO")
    path = free_name(turn)
    text = "# A note of the demo agent\n\nYou allowed this file to be written. You can delete it.\n"
    return Improvement(path, None, text, 1, f"I found no slip, so I would write a small note: `{path.name}`.")


def free_name(turn: Turn) -> Path:
    """A file name that is not taken."""
    number = 1
    while (path := turn.project.cwd / f"demo-note-{number}.md").exists():
        number += 1
    return path


def summary(turn: Turn, files: int, found: Improvement, changed: bool, ran: bool) -> str:
    shown = turn.project.show(found.path)
    return f"""\
## What you saw

| part | here |
| --- | --- |
| thoughts | folded, `za` opens them |
| plan | {len(STOPS)} steps |
| reads and searches | {skills.count(files, "file")} |
| edit | {f"`{shown}` is changed" if changed else "not done, as you wished"} |
| command | {"ran, its output is in the row: `<CR>`" if ran else "did not run, or failed"} |

Code comes with its colours:

```python
def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
```

1. `ask me something` puts a form before you, `open a page` your browser, `show a picture` draws.
2. `:AcpOptions` has my mode, my thoughts and my pace; `/` in the prompt lists my commands.
3. `:AcpSessions` lists our chats, `:AcpTrace` what we said to each other, `help` all I understand.
4. `:AcpCancel` stops me at any time."""
