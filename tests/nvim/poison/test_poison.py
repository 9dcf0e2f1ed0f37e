"""No string of any message can do harm anywhere: poison in all of them, for each protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.agents.aap_faults import answers
from tests.agents.aap_script import AGENT, Call, Stop, text, thinking
from tests.agents.aap_server import AapServer
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.conformance.definitions import UNSTABLE, UNSTABLE_V2, Schema
from tests.nvim.cases.kit import Chat, Stage
from tests.nvim.poison.looking import PICKER, Looker, settings
from tests.nvim.poison.messages import POISON, Poisoner, apart
from tests.plugin import StartScreen, eventually

SAID = "all is said"
PAGE = "https://example.com/%25Error%25?a=%7C=v:lua.pwn()&b=$(touch%20pwned)#%23"


def replies(poisoner: Poisoner, name: str, **fields: Any) -> list[Json]:
    """The first of a response's values."""
    return [{"reply": {**poisoner.values(name)[0], **fields}}]


def agents_messages(version: int, schema: Schema) -> dict[str, list[Any]]:
    """What the agent says to each method: all that it may, with poison in it."""
    made = Poisoner(schema)
    pages, fillable = Poisoner(schema, {"url": PAGE}), Poisoner(schema, {"required": []})
    update = [{"update": each} for each in apart(made.values("SessionUpdate"))]
    late = [each for each in update if each["update"]["sessionUpdate"] == "state_update"]
    asks = apart(made.values("RequestPermissionRequest"))
    forms = [
        each for poisoner in (made, pages, fillable) for each in poisoner.values("CreateElicitationRequest")
    ]
    turn: list[Json] = [] if version == 1 else [{"reply": {"messageId": f"m {POISON}"}}]
    turn += [each for each in update if each not in late]
    for n, params in enumerate([*asks, *forms]):
        method = "session/request_permission" if n < len(asks) else "elicitation/create"
        turn += [{"request": method, "params": params, "id": f"q{n} {POISON}"}]
    turn += [{"send": {"jsonrpc": "2.0", "method": f"_x/{POISON}", "params": {POISON: POISON}}}]
    turn += [{"send": {"jsonrpc": "2.0", "id": f"x{POISON}", "method": f"x/{POISON}", "params": {}}}]
    turn += [{"raw": POISON}, {"stderr": POISON}]
    words = {"type": "text", "text": SAID}
    turn += [{"update": {"sessionUpdate": "agent_message_chunk", "messageId": "last", "content": words}}]
    failed = {
        "error": {"code": 7, "message": f"message {POISON}", "data": {"details": POISON, POISON: POISON}}
    }
    idle = {"update": {"sessionUpdate": "state_update", "state": "idle", "stopReason": f"why {POISON}"}}
    stops = [{"reply": {"stopReason": f"why {POISON}"}}] if version == 1 else [*late, idle]
    listed = made.values("ListSessionsResponse")[0]
    del listed["nextCursor"]
    listed["sessions"] += [
        {**each, "sessionId": f"other {POISON}", "cwd": "$cwd"} for each in listed["sessions"]
    ]
    return {
        "initialize": replies(made, "InitializeResponse", protocolVersion=version),
        "session/new": replies(made, "NewSessionResponse"),
        "session/list": [{"reply": listed}],
        "session/prompt": [
            [*turn, {"wait": "session/cancel"}, *stops],
            [failed],
            [{"stderr": POISON}, {"exit": 9}],
        ],
        "session/set_config_option": [failed],
        "session/set_mode": [failed],
        "session/load": [*[{"update": each} for each in made.values("SessionUpdate")], failed],
        "session/resume": [failed],
        "session/delete": [failed],
        "session/fork": [failed],
        "authenticate": [failed],
        "auth/login": [failed],
        "logout": [failed],
        "auth/logout": [failed],
    }


CASES = {"v1": (1, UNSTABLE, ""), "v2": (2, UNSTABLE_V2, PICKER)}
"""The version, its schema with all drafts, and the user's picker."""


@pytest.mark.timeout(180)  # it presses keys on all there is; other tests may be at work beside it
@pytest.mark.parametrize("case", CASES)
def test_poison_in_every_string(case: str, start_screen: StartScreen, unchecked_agent: MakeAgent) -> None:
    version, schema, picker = CASES[case]
    played = unchecked_agent(on=agents_messages(version, schema))
    screen = start_screen(size=(150, 45), init=settings(picker))
    looker = Looker(screen)
    stage = Stage(screen, {"protocol": f"acp-{case}", "permission": {"open": "never"}})
    stage.setup(x=played)
    chat = stage.open(played)
    chat.wait_state("idle")
    looker.look("the start")
    chat.send()
    chat.wait(SAID)
    questions(chat, looker)
    walk(chat, looker)
    lists(chat, looker)
    ends(chat, looker)
    looker.assert_harmless()


FORM = "return require('acp.question.page').focused()"


def rest(chat: Chat) -> None:
    """Let what was typed have its effect."""
    chat.screen.lua("vim.wait(25)")


def go(chat: Chat, line: int | None = None) -> None:
    """Go to the transcript, to a line of it."""
    chat.focus()
    chat.screen.lua("vim.cmd.stopinsert() vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", chat.buf)
    if line:
        # There may be fewer lines than before: a key has closed some.
        chat.screen.lua("vim.api.nvim_win_set_cursor(0, { math.min(..., vim.fn.line('$')), 0 })", line)


def questions(chat: Chat, looker: Looker, *, least: int = 12) -> None:
    """Look at each question as it is shown, opened, filled in, answered and taken back."""
    screen, asked = chat.screen, 0

    def count() -> int:
        return int(screen.lua("return require('acp.question').count()"))

    def fewer(than: int) -> bool:
        return count() < than

    eventually(lambda: count() >= least, message=chat.text)
    while left := count():
        asked += 1
        looker.look(f"question {asked} is shown")
        screen.command("AcpPermit")
        rest(chat)
        looker.look(f"question {asked} is opened")
        screen.keys("<Esc>")
        rest(chat)
        screen.lua("require('acp').permit('1')")
        rest(chat)
        looker.look(f"question {asked} is answered")
        for _ in range(8 if screen.lua(FORM) else 0):
            screen.keys("<CR>")
            rest(chat)
            looker.look(f"a field of question {asked}")
        if count() == left:
            screen.keys("<Esc>")
            screen.lua("require('acp').permit('cancel')")
            eventually(partial(fewer, left), message=screen.text)
    assert asked >= least, asked


def walk(chat: Chat, looker: Looker) -> None:
    """Press the keys of the transcript on all that stands there."""
    screen = chat.screen
    looker.look("the transcript")
    screen.command("AcpFollow on")
    kinds: set[tuple[bool, str]] = set()
    for number, line in enumerate(screen.lines(chat.buf), 1):
        body = line.startswith(" ")
        kind = " ".join(re.findall(r"[a-z]{3,}|[@+-]|<U", line)[:1]) if body else line[2:8]
        if (body, kind) in kinds or not line.strip():
            continue
        kinds.add((body, kind))
        for keys in ("K", "<CR>") if body else ("K", "<CR>", "gf", "gx"):
            go(chat, number)
            screen.keys(keys)
            rest(chat)
            looker.look(f"{keys} on {line[:20]!r}")
            screen.keys("<Esc>")
            screen.lua(TIDY)
    for keys in ("gO", "[[", "zR", "zM", "g?"):
        go(chat)
        screen.keys(keys)
        rest(chat)
        looker.look(keys)
        screen.keys("<Esc>")
        screen.lua(TIDY)
    screen.command("AcpFollow list")
    looker.look("the trail")
    screen.lua(TIDY)


TIDY = """
vim.cmd.stopinsert()
if #vim.api.nvim_list_tabpages() > 1 then
  vim.cmd('tabonly!')
end
for _, win in ipairs(vim.api.nvim_list_wins()) do
  local buf = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win)
  local float = buf and vim.api.nvim_win_get_config(win).relative ~= ''
  local alone = #vim.api.nvim_tabpage_list_wins(0) == 1
  if buf and not alone and (float or not vim.bo[buf].filetype:find('^acp%-[cp]')) then
    pcall(vim.api.nvim_win_close, win, true)
  end
end
"""


def lists(chat: Chat, looker: Looker, *, complete: bool = True) -> None:
    """Look at all lists and pickers, and at what commands complete."""
    screen = chat.screen
    for command in COMMANDS:
        chat.go()
        screen.keys("<Esc>")
        screen.lua("pcall(vim.cmd, ...)", command)
        rest(chat)
        rest(chat)
        looker.look(command)
        screen.keys("<CR>" if command == "AcpSessions" else "<Esc>")
        rest(chat)
        screen.lua(TIDY)
    for line in COMPLETED:
        looker.texts(f":{line}<Tab>", screen.lua("return vim.fn.getcompletion(..., 'cmdline')", line))
    if not complete:
        return
    offered = screen.lua("return require('acp.chat.complete').commands_for(..., '')", chat.n)
    looker.texts("commands", flat(offered))
    chat.focus()
    screen.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { '' })")
    screen.keys("<Esc>i")
    eventually(lambda: screen.api.get_mode()["mode"] == "i")
    screen.keys("/")
    eventually(lambda: screen.funcs.pumvisible(), message=screen.text)
    looker.look("completion")
    looker.texts("completion", flat(screen.lua("return vim.fn.complete_info({ 'items' })")))
    screen.keys("<C-n><C-y>", " x", "<Esc>")
    rest(chat)
    looker.look("a command is taken")
    screen.keys("dd")


COMPLETED = ("AcpOptions ", "AcpSessions ", "AcpLogin ", "AcpPermit ", "AcpDiff ", "AcpTrace x ")
COMMANDS = (
    "AcpOptions",
    "AcpOptions nothing",
    "AcpLogin",
    "AcpSessions",
    "AcpTrace x",
    "AcpQueue",
    "AcpHistory",
    "AcpRules",
    "AcpDiff",
    "AcpFork and now",
    "checkhealth acp",
)


def flat(value: Any) -> Iterator[str]:
    """All strings in a value."""
    if isinstance(value, str):
        yield value
    for each in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from flat(each)


def ends(chat: Chat, looker: Looker) -> None:
    """End turns in all ways, write the chat into a file, and lose the agent."""
    screen = chat.screen
    target = screen.cwd / "chat.md"
    chat.cancel()
    chat.wait_state("idle")
    looker.look("a stop reason")
    go(chat)
    screen.command(f"write {target}")
    eventually(lambda: target.exists() and target.stat().st_size)
    looker.texts("the written chat", target.read_text().split("\n"))
    chat.send("again")
    eventually(lambda: len(chat.events("AcpTurnEnd")) == 2, message=chat.text)
    looker.look("an error")
    chat.send("and again")
    chat.wait_state("failed")
    looker.look("a crash")
    screen.command("AcpTrace x")
    eventually(lambda: len(screen.lines()) > 20)
    looker.look("the trace")
    for number in range(1, len(screen.lines()), 30):
        screen.lua("vim.api.nvim_win_set_cursor(0, { ..., 0 })", number)
        screen.keys("<CR>")
        rest(chat)
        looker.look("a message in the trace")
        screen.keys("q")
        rest(chat)


def has_ended(chat: Chat, count: int) -> bool:
    return len(chat.events("AcpTurnEnd")) == count


def helper() -> Json:
    """An agent of a server, with poison in all that the server says of it."""
    fields = {"query": {"type": "string", "title": POISON, "description": POISON}}
    shape = {"type": "object", "title": POISON, "properties": {POISON: {"type": "string"}, **fields}}
    named = {"title": f"title {POISON}", "description": f"description {POISON}"}
    return {
        **AGENT,
        **named,
        "name": f"name {POISON}",
        "version": f"version {POISON}",
        "tools": [
            {"name": "search", **named, "parameters": shape},
            {"name": f"tool {POISON}", **named, "parameters": shape},
        ],
        "options": [
            {"type": kind, "name": f"{kind} {POISON}", **named, "options": [POISON, "b"], "default": POISON}
            for kind in ("select", "text", "secret", f"kind {POISON}")
        ],
    }


def test_poison_in_every_string_of_a_server(start_screen: StartScreen) -> None:
    calls = [
        Call("s1", "search", {"query": POISON, POISON: POISON, "path": f"/{POISON}"}),
        Call(f"t2 {POISON}", f"tool {POISON}", {"command": POISON}),
    ]
    script: list[Any] = [
        [thinking(POISON, POISON), text(POISON, f"```{POISON}\n", POISON), *calls],
        [text(SAID), Stop(f"why {POISON}")],
    ]
    refuse = json.dumps({"error": POISON, "message": POISON, "detail": POISON}).encode()
    tools = {"search": lambda _: POISON, f"tool {POISON}": lambda _: POISON}
    with AapServer(script, agents=[helper()], tools=tools) as server:
        screen = start_screen(size=(150, 45), init=settings())
        looker = Looker(screen)
        remote = {"protocol": "aap", "url": server.url}
        screen.setup({"agents": {"x": remote}, "default_agent": "x", "permission": {"open": "never"}})
        screen.command("AcpChat x")
        screen.leave_insert()
        chat = Chat(screen, ScriptedAgent(Path(), Path()), 1, "")
        chat.wait_state("idle")
        looker.look("the start")
        chat.send()
        questions(chat, looker, least=1)
        eventually(lambda: chat.events("AcpTurnEnd"), message=chat.text)
        walk(chat, looker)
        for what in ("POST turns", "GET sessions", "GET meta"):
            server.fail(what, *[answers(400, refuse, retry_after="7")] * 2)
        chat.send("again")
        eventually(lambda: len(chat.events("AcpTurnEnd")) == 2, message=chat.text)
        looker.look("an error")
        lists(chat, looker, complete=False)
        server.fail("POST turns", answers(500, POISON.encode(), "text/html"), answers(400, b"{" + refuse))
        for count in (3, 4):
            chat.send("once more")
            eventually(partial(has_ended, chat, count), message=chat.text)
            looker.look("an error that is no JSON")
        looker.assert_harmless()
