"""The same work over ACP v1, ACP v2 and AAP gives the same screens, but for what a protocol lacks."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.agents.fixtures import MakeAgent
from tests.nvim.cases.kit import WATCH, Chat, Stage
from tests.nvim.same_kit import FOLLOW, LONG, NEW, OLD, SPOKEN, speaking
from tests.plugin import StartScreen, eventually, marked


class Differs(NamedTuple):
    """What one protocol shows instead of some lines, and why. It must be there, or the entry is stale."""

    protocol: str
    shown: str
    instead: str
    why: str


DIFFERENCES = (
    Differs("acp-v1", "scripted 1.0 · PROTOCOL", "scripted 1.0 · ACP v1", "the head says what is spoken"),
    Differs("acp-v2", "scripted 1.0 · PROTOCOL", "scripted 1.0 · ACP v2", "the head says what is spoken"),
    Differs("aap", "scripted 1.0 · PROTOCOL", "scripted 1.0 · AAP", "the head says what is spoken"),
    Differs("aap", "x wants to edit", "x (HOST) wants to edit", "another machine uses a tool of ours"),
    Differs("aap", "x wants to run", "x (HOST) wants to run", "another machine uses a tool of ours"),
    Differs(
        "aap",
        "card: 3 Reject",
        "card: 3 Reject\ncard: 4 Reject, and say why",
        "AAP has a place for the reason of a rejection; ACP has none",
    ),
    Differs("aap", " reject_once\n", " reject_once reject_why\n", "the same, for programs"),
    Differs("aap", "\n\nplan  1 of 2\n  ✓ look\n  ● change", "", "AAP has no plans"),
    Differs("aap", " plan 1/2", "", "AAP has no plans"),
)

#: What is seen of the work: cards, diffs, winbars, ends and events as they come, then the whole transcript.
SHOWN = """\
# read it
winbar: x ready
event: AcpTurnStart
event: AcpToolCall read completed Read a file FOLDER/a.txt
event: AcpTurnEnd end_turn

# edit it
card: x wants to edit a file
card: a.txt +1 -1
card: 1 Allow once
card: 2 Always allow it
card: 3 Reject
diff: now a.txt : one, two
diff: proposed a.txt edit +1 -1 (1) : one, 2
winbar: x ? waiting for you
winbar: x ready
event: AcpTurnStart
event: AcpPermission Edit a file: allow_once allow_always reject_once
event: AcpPermissionDone selected allow by user
event: AcpToolCall edit completed Edit a file FOLDER/a.txt
event: AcpTurnEnd end_turn

# run it
card: x wants to run a command
card: seq 2
card: in FOLDER
card: 1 Allow once
card: 2 Always allow it
card: 3 Reject
winbar: x ? waiting for you
winbar: x ready
event: AcpTurnStart
event: AcpPermission seq 2: allow_once allow_always reject_once
event: AcpPermissionDone selected allow by user
event: AcpToolCall execute completed seq 2
event: AcpTurnEnd end_turn

# plan it
winbar: x ready plan 1/2
event: AcpTurnStart
event: AcpTurnEnd end_turn

# run it for long
card: x wants to run a command
card: tail -f a.txt
card: in FOLDER
card: 1 Allow once
card: 2 Always allow it
card: 3 Reject
winbar: x ? waiting for you
winbar: x running
winbar: x ready
event: AcpTurnStart
event: AcpPermission tail -f a.txt: allow_once allow_always reject_once
event: AcpPermissionDone selected allow by user
event: AcpTurnEnd cancelled

# edit more
card: x wants to edit a file
card: a.txt +1 -1
card: 1 Allow once
card: 2 Always allow it
card: 3 Reject
diff: now a.txt : one, 2
diff: proposed a.txt edit +1 -1 (1) : one, 3
winbar: x ? waiting for you
winbar: x ready
event: AcpTurnStart
event: AcpPermission Edit a file: allow_once allow_always reject_once
event: AcpPermissionDone selected reject by user
event: AcpToolCall edit failed Edit a file FOLDER/a.txt
event: AcpTurnEnd end_turn

# look it up
card: x wants to use a tool
card: query: cats
card: x says: "Search the web"
card: 1 Allow once
card: 2 Always allow it
card: 3 Reject
winbar: x ? waiting for you
winbar: x ready
event: AcpTurnStart
event: AcpPermission Search the web: allow_once allow_always reject_once
event: AcpPermissionDone selected allow by user
event: AcpToolCall other completed Search the web
event: AcpTurnEnd end_turn

# drop it
card: x wants to use a tool
card: table: users
card: x says: "Drop the table"
card: 1 Allow once
card: 2 Always allow it
card: 3 Reject
winbar: x ? waiting for you
winbar: x ready
event: AcpTurnStart
event: AcpPermission Drop the table: allow_once allow_always reject_once
event: AcpPermissionDone selected reject by user
event: AcpTurnEnd end_turn

# talk
winbar: x ready
event: AcpTurnStart
event: AcpTurnEnd max_tokens

# count
winbar: x ready
event: AcpTurnStart
event: AcpTurnEnd end_turn

x in FOLDER
scripted 1.0 · PROTOCOL · ready

❯ read it

· think  1 line
  │ Let me see.

✓ read   a.txt

It has **two** lines.

── done

❯ edit it

✓ edit   a.txt  +1 -1
  │ @@ -1,2 +1,2 @@
  │   one
  │ - two
  │ + 2

Changed.

── done · 1 file +1 -1

❯ run it

✓ run    seq 2
  │ 1
  │ 2

Ran.

── done

❯ plan it

plan  1 of 2
  ✓ look
  ● change

Planned.

── done

❯ run it for long

Wait.

– run    tail -f a.txt  cancelled
  │ one
  │ 2

── cancelled by you after TIME

❯ edit more

⊘ edit   a.txt  +1 -1  rejected by you

Then not.

── done

❯ look it up

✓ tool   Search the web

Found **two**.

── done

❯ drop it

⊘ tool   Drop the table  rejected by you

Nor that.

── done

❯ talk

cut

── stopped: the answer reached the token limit. Send "continue" to go on.

❯ count

1 2 … 399 400

── done
"""

CARD = """
local card = require('acp.question.card').get()
local title = vim.api.nvim_win_get_config(card.win).title
local lines = vim.api.nvim_buf_get_lines(card.buf, 0, -1, false)
table.insert(lines, 1, title and title[1][1] or '')
return lines
"""
DIFF = """
local found = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  if vim.api.nvim_win_get_config(win).relative == '' and vim.wo[win].diff then
    local buf = vim.api.nvim_win_get_buf(win)
    local bar = vim.api.nvim_get_option_value('winbar', { win = win, scope = 'local' })
    local shown = vim.api.nvim_eval_statusline(bar, { winid = win, use_winbar = true, maxwidth = 120 }).str
    table.insert(found, shown .. ': ' .. table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), ', '))
  end
end
return found
"""
#: What differs from run to run. Events of tool calls before their end are the agent's own steps.
RUNS = (
    (r"127\.0\.0\.1:\d+", "HOST"),
    (r"^(card: 2 Always allow) .*$", r"\1 it"),  # what it is called is each agent's own
    (r"ready in [\d.]+ m?s", "ready"),
    (r"done in \d+ s", "done"),
    (r"after \d+ s", "after TIME"),
    (r"^(✓ .*?)  \d+ s$", r"\1"),
    (r"[\u2800-\u28ff] running \d+:\d\d", "running"),
)


class User:
    """Does the work, and writes down what is on the screen."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        self.screen = chat.screen
        self.seen: list[str] = []
        self._told = 0
        self._turns = 0

    def note(self, what: str, *lines: str) -> None:
        self.seen += [f"{what}: {' '.join(line.split())}" for line in lines if line.strip()]

    def begin(self, words: str) -> None:
        self.seen.append(f"\n# {words}")
        self._turns += 1
        self.chat.send(words)

    def answer(self, kind: str) -> None:
        """Look at the question, beside the change if there is one, and answer it."""
        self.chat.wait_state("waiting")
        eventually(
            lambda: self.screen.funcs.maparg("?", "n", False, True).get("desc"),
            message=lambda: f"no chooser listens\n{self.screen.text()}",
        )
        self.note("card", *self.screen.lua(CARD))
        self.note("diff", *self.screen.lua(DIFF))
        self.note("winbar", self.chat.winbar())
        self.screen.lua("assert(require('acp').permit(...))", kind)

    def end(self) -> None:
        self.chat.wait_turn(self._turns)
        self.chat.wait_state("idle")
        self.note("winbar", self.chat.winbar())
        events = self.screen.lua("return _G.seen")
        for name, data in events[self._told :]:
            self.event(name, data)
        self._told = len(events)

    def event(self, name: str, data: dict[str, Any]) -> None:
        """What a program of the user's is told."""
        match name:
            case "AcpTurnEnd":
                self.note("event", f"{name} {data['stop_reason']}")
            case "AcpPermission":
                self.note("event", f"{name} {data['title']}: {' '.join(o['kind'] for o in data['options'])}")
            case "AcpPermissionDone":
                self.note("event", f"{name} {data['outcome']} {data['option']} by {data['by']}")
            case "AcpToolCall" if data["status"] in ("completed", "failed", "cancelled"):
                paths = " ".join(data["paths"])
                self.note("event", f"{name} {data['kind']} {data['status']} {data['title']} {paths}")
            case "AcpTurnStart":
                self.note("event", name)

    def do(self, words: str, answer: str | None = None) -> None:
        """One turn, to its end."""
        self.begin(words)
        if answer is not None:
            self.answer(answer)
        self.end()

    def work(self) -> str:
        self.do("read it")
        self.do("edit it", "allow_once")
        self.do("run it", "allow_once")
        self.do("plan it")
        self.begin("run it for long")
        self.answer("allow_once")
        self.chat.wait(f"{FOLLOW}\n  │ {NEW.splitlines()[0]}\n")
        self.note("winbar", self.chat.winbar())
        self.chat.cancel()
        self.end()
        self.do("edit more", "reject_once")
        self.do("look it up", "allow_once")
        self.do("drop it", "reject_once")
        self.do("talk")
        self.do("count")
        self.chat.wait(f"{LONG - 1} {LONG}")
        return "\n".join([*self.seen, "", self.chat.text()])


def plain(shown: str, folder: Path) -> str:
    """Without what differs from run to run."""
    shown = shown.replace(str(folder), "FOLDER").replace(" ".join(map(str, range(3, LONG - 1))), "…")
    for found, instead in RUNS:
        shown = re.sub(found, instead, shown, flags=re.M)
    return "\n".join(line.rstrip() for line in shown.split("\n")).strip() + "\n"


def expected(protocol: str) -> str:
    """``SHOWN`` as a protocol shows it."""
    shown = SHOWN
    for differs in DIFFERENCES:
        if differs.protocol == protocol:
            assert differs.shown in shown, f"stale: {differs.why}"
            shown = shown.replace(differs.shown, differs.instead)
    return shown


@pytest.mark.timeout(120)
@pytest.mark.req("V2-58", "V2-61", "V2-87", "V2-100", "V2-109", "V2-118", "V2-119", "V2-125")
@pytest.mark.req("AAP-28", "AAP-57")
@pytest.mark.parametrize("protocol", SPOKEN)
def test_the_same_work_looks_the_same(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, protocol: str
) -> None:
    """Read, edit, run, plan, cancel, reject, tools of the agent's own, a turn that is cut, a long answer."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(OLD)
    with speaking(protocol, agent, folder) as (scripted, settings):
        screen = start_screen(size=(120, 40), init=WATCH, cwd=folder, files=("a.txt",))
        screen.setup({"agents": {"x": settings}})
        chat = Stage(screen).open(scripted)
        chat.wait_state("idle")
        shown = plain(User(chat).work(), folder)
        wanted = expected(protocol)
        differs = "\n".join(difflib.unified_diff(wanted.split("\n"), shown.split("\n"), lineterm=""))
        assert not differs, differs
        assert (folder / "a.txt").read_text() == NEW
        eventually(lambda: screen.lines(screen.funcs.bufnr("a.txt")) == NEW.splitlines())
        eventually(lambda: not any(FOLLOW in line for line in marked(screen.marker).values()))
        assert "acp" not in screen.messages()
