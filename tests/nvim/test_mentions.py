"""Mentions in a real prompt: what is said of them while they are typed, and what goes with them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.agents.aap_script import text
from tests.agents.aap_server import AapServer
from tests.agents.fixtures import Json, MakeAgent, ScriptedAgent
from tests.nvim.cases.kit import END, PASSIVE, WATCH, Chat, Stage, ask
from tests.nvim.stub import AGENT, INIT, buffer, events, frame
from tests.plugin import Screen, StartNvim, StartScreen, eventually

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 1992
ABLE: Json = {"embeddedContext": True, "image": True}
NOTES = """
local prompt, rows = require('acp.chat').get(1).prompt, {}
local ns = vim.api.nvim_get_namespaces()['acp.mentions']
for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(prompt, ns, 0, -1, { details = true })) do
  local d = mark[4]
  local note = ''
  for _, row in ipairs(d.virt_text and { d.virt_text } or d.virt_lines or {}) do
    for _, chunk in ipairs(row) do note = note .. chunk[1]:gsub('^   $', ' · ') end
  end
  local line = vim.api.nvim_buf_get_lines(prompt, mark[2], mark[2] + 1, false)[1]
  note = note:gsub('^[ ·]+', '')
  table.insert(rows, { line:sub(mark[3] + 1, d.end_col), note, d.virt_lines and 'below' or '' })
end
return rows
"""

LISTS = """
local buf = vim.fn.bufnr('date.py')
vim.diagnostic.set(vim.api.nvim_create_namespace('t'), buf, {
  { lnum = 1, col = 2, message = 'no\\ngood', severity = 2, source = 'x' },
})
vim.fn.setqflist({ { bufnr = buf, lnum = 3, col = 1, text = 'here' } })
"""


def project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "date.py").write_text("".join(f"line {n}\n" for n in range(1, 21)))
    (folder / "other.py").write_text("one\ntwo\nthree\n")
    (folder / "a b#%ü.md").write_text("notes\n")
    (folder / "shot.png").write_bytes(PNG)
    (folder / "sub").mkdir()
    return folder


def start(
    start_screen: StartScreen, agent: MakeAgent, folder: Path, able: Json = ABLE, **options: Any
) -> tuple[Screen, ScriptedAgent, Chat]:
    reply = {"reply": {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": able}}}
    scripted = agent(on={"initialize": [reply], "session/prompt": [END]})
    screen = start_screen(
        **{"size": (150, 40), "init": WATCH, "cwd": folder, "files": ("date.py",), **options}
    )
    screen.setup({**PASSIVE, "agents": {"x": scripted.settings}})
    screen.command("set hidden")
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    return screen, scripted, chat


def notes(screen: Screen) -> list[list[str]]:
    return [list(row) for row in screen.lua(NOTES)]


def said(screen: Screen, *expected: list[str]) -> None:
    eventually(lambda: notes(screen) == list(expected), message=lambda: f"{notes(screen)}")


def prompts(agent: ScriptedAgent, count: int) -> list[list[Json]]:
    eventually(lambda: len(agent.log("session/prompt")) >= count)
    return [message["params"]["prompt"] for message in agent.log("session/prompt")]


@pytest.mark.req("V1-68", "V1-69", "V1-100")
def test_from_typing_to_sending(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    folder = project(tmp_path / "ws")
    screen, scripted, chat = start(start_screen, agent, folder)
    screen.keys("<C-w>t")
    screen.command("edit other.py")
    screen.keys("Gofour<Esc>ggVj<Esc>")
    chat.focus()
    screen.keys("<Esc>iWhy does @date.py:7-13 do that?")
    screen.wait("Why does @date.py:7-13 do that?   7 lines")
    screen.keys("<CR>@other.py, @none.py<CR>@shot.png @sub/<CR>")
    screen.keys('@"a b#%ü.md" @selection @alice')
    said(
        screen,
        ["@date.py:7-13", "7 lines", ""],
        ["@other.py", "19 B, unsaved · no such file: sent as text", "below"],
        ["@none.py", "", ""],
        ["@shot.png", "image, 2.0 kB · folder: sent as a link", ""],
        ["@sub/", "", ""],
        ['@"a b#%ü.md"', "6 B · other.py:1-2, 2 lines, unsaved", "below"],
        ["@selection", "", ""],
    )
    # What is deleted takes its note with it at once; `u` brings it back.
    screen.keys("<Esc>3Gdd")
    assert not any(row[0] == "@shot.png" for row in notes(screen))
    screen.keys("u")
    eventually(lambda: ["@shot.png", "image, 2.0 kB · folder: sent as a link", ""] in notes(screen))
    words = chat.prompt()
    screen.keys("<C-s>")
    (blocks,) = prompts(scripted, 1)
    kinds = [block["type"] for block in blocks]
    assert kinds == ["resource", "resource", "image", "resource_link", "resource", "resource", "text"]
    home = folder.resolve().as_uri()
    resources = [block["resource"] for block in blocks if block["type"] == "resource"]
    assert [(each["uri"], each["text"]) for each in resources] == [
        (f"{home}/date.py#L7-L13", "\n".join(f"line {n}" for n in range(7, 14))),
        (f"{home}/other.py", "one\ntwo\nthree\nfour\n"),
        (f"{home}/a%20b%23%25%C3%BC.md", "notes\n"),
        (f"{home}/other.py#L1-L2", "one\ntwo"),
    ]
    assert base64.b64decode(blocks[2]["data"]) == PNG
    assert blocks[2]["mimeType"] == "image/png"
    assert (blocks[3]["uri"], blocks[3]["name"]) == (f"{home}/sub", "sub")
    assert blocks[-1]["text"] == words
    chat.wait_turn()
    # The transcript has what was typed; a line only for what that does not tell.
    assert chat.text().count("❯ ") == 1
    assert "\n  @other.py:1-2\n" in chat.text()
    assert not any(f"\n  {each}\n" in chat.text() for each in ("@date.py:7-13", "@shot.png", "@sub"))
    assert scripted.problems() == []
    said(screen)


def test_a_note_that_has_no_room_stands_below(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    screen, _, _ = start(start_screen, agent, project(tmp_path / "ws"))
    screen.keys("i" + "look " * 10 + "@date.py:7-13 @none.py @shot.png")
    eventually(lambda: [row[2] for row in notes(screen)] == ["below", "", ""])
    screen.wait("   7 lines · no such file: sent as text · image, 2.0 kB")
    assert not screen.blocked()


def test_what_waits_is_read_when_it_goes_out(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    """A file as it is then; a selection where it was when the user sent, though lines came above it."""
    folder = project(tmp_path / "ws")
    reply = {"reply": {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": ABLE}}}
    turn: list[Json] = [ask("q", {"toolCallId": "t"}), {"await": "q"}, END]
    scripted = agent(on={"initialize": [reply], "session/prompt": turn})
    screen = start_screen(size=(150, 40), init=WATCH, cwd=folder, files=("date.py",))
    screen.setup({**PASSIVE, "agents": {"x": scripted.settings}})
    screen.command("set hidden")
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    chat.send("go")
    chat.wait_pending(1)
    screen.keys("<C-w>t5GVj<Esc>")
    chat.send("@other.py @selection @buffer:1")
    screen.command("normal! ggOabove")
    screen.command("edit other.py")
    (folder / "other.py").write_text("changed\n")
    screen.keys("ggVG<Esc>")
    chat.permit("allow_once")
    blocks = prompts(scripted, 2)[1]
    assert [block["resource"]["text"] for block in blocks[:-1]] == ["changed\n", "line 5\nline 6", "above"]
    assert blocks[1]["resource"]["uri"].endswith("/date.py#L6-L7")


@pytest.mark.parametrize("able", [{}, {"embeddedContext": True}])
def test_an_agent_that_takes_less(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, able: Json
) -> None:
    folder = project(tmp_path / "ws")
    screen, scripted, chat = start(start_screen, agent, folder, able)
    screen.lua(LISTS)
    screen.keys("i@shot.png @diagnostics @quickfix @date.py:2")
    embeds = bool(able)
    note = "1 line" if embeds else "1 line: sent as a link"
    eventually(
        lambda: (
            [row[1] for row in notes(screen)][:1]
            == [f"image, 2.0 kB: sent as a link · 1 diagnostic · 1 entry · {note}"]
        ),
        message=lambda: str(notes(screen)),
    )
    screen.keys("<C-s>")
    (blocks,) = prompts(scripted, 1)
    assert [block["type"] for block in blocks] == [
        "resource_link",
        "text",
        "text",
        "resource" if embeds else "resource_link",
        "text",
    ]
    assert blocks[1]["text"] == "Diagnostics\n```\ndate.py:2:3: warning: no good [x]\n```\n"
    assert "```\ndate.py:3:1: here\n```\n" in blocks[2]["text"]
    chat.wait_turn()
    assert "```" not in chat.text()
    assert scripted.problems() == []


@pytest.mark.req("AAP-32", "AAP-33", "AAP-34")
def test_a_server_gets_words(start_screen: StartScreen, tmp_path: Path) -> None:
    folder = project(tmp_path / "ws")
    server = AapServer([[text("ok")]])
    with server:
        screen = start_screen(size=(150, 40), init=WATCH, cwd=folder)
        screen.setup({**PASSIVE, "agents": {"x": {"protocol": "aap", "url": server.url}}})
        screen.command("AcpChat x")
        screen.leave_insert()
        eventually(lambda: screen.lua("return require('acp').status().state") == "idle")
        screen.keys("i@other.py @sub/ @shot.png")
        eventually(
            lambda: [row[1] for row in notes(screen)][:1] == ["14 B · folder: sent as text · image, 2.0 kB"],
            message=lambda: str(notes(screen)),
        )
        screen.keys("<C-s>")
        eventually(lambda: server.seen("POST turns"))
        (request,) = server.seen("POST turns")
        content = request.body["messages"][-1]["content"]
        assert [block["type"] for block in content] == ["text", "image", "text"]
        assert content[0]["text"] == f"{folder.resolve()}/other.py\n```\none\ntwo\nthree\n\n```\n"
        eventually(lambda: screen.lua("return require('acp').status().state") == "idle")


def wait_asked(nvim: Any, before: int) -> None:
    """Wait until the host was asked once more."""
    eventually(lambda: len(events(nvim, "mentions")) > before)


def test_the_host_is_asked_after_the_last_key(start_nvim: StartNvim, tmp_path: Path) -> None:
    nvim = start_nvim(init=INIT + AGENT, cwd=tmp_path)
    nvim.command("AcpChat")
    nvim.keys("no mention here")
    nvim.keys("<CR>@a.py")
    wait_asked(nvim, 0)
    asked = events(nvim, "mentions")
    assert asked[-1]["text"] == "no mention here\n@a.py"
    show: Callable[[int, int], object] = lambda seq, row: nvim.lua(  # noqa: E731
        "local seq, row = ... require('acp.chat.mentions').show(1, seq,"
        " { { row = row, col = 0, stop = 5, note = 'x', warn = false } })",
        seq,
        row,
    )
    show(asked[-1]["seq"] - 1, 1)
    assert nvim.lua(NOTES) == []
    show(asked[-1]["seq"], 1)
    assert [row[0] for row in nvim.lua(NOTES)] == ["@a.py"]
    # An answer to a text that is not there any more changes nothing.
    before = len(events(nvim, "mentions"))
    nvim.lua("require('acp.events').fire(1, 'AcpSession', {})")  # now is known what the agent takes
    wait_asked(nvim, before)
    asked = events(nvim, "mentions")
    before = len(asked)
    nvim.keys("<Esc>ggdd")
    show(asked[-1]["seq"], 0)
    assert [row[0] for row in nvim.lua(NOTES)] == ["@a.py"]
    wait_asked(nvim, before)
    nvim.keys("dd")
    eventually(lambda: nvim.lua(NOTES) == [])


def test_lines_become_a_mention(start_nvim: StartNvim, tmp_path: Path) -> None:
    names = {
        "a.py": "@a.py:1",
        "a b.py": '@"a b.py":1',
        "diff": "@./diff:1",
        "x.": '@"x.":1',
        "y:3": '@"y:3":1',
    }
    for name in names:
        (tmp_path / name).write_text("one\ntwo\n")
    nvim = start_nvim(init=INIT + AGENT, cwd=tmp_path)
    for name, mention in names.items():
        nvim.command("edit " + nvim.funcs.fnameescape(name))
        nvim.command("1AcpSend")
        assert nvim.lines() == [f"{mention} "]
        nvim.keys("<Esc>dd<C-w>t")
    nvim.command("edit a.py")
    nvim.keys("Vj:AcpSend<CR>")
    eventually(lambda: nvim.lines() == ["@a.py:1-2 "])
    # An outer file, and a place in the middle of words.
    nvim.keys("<Esc>ccsee<Esc><C-w>t")
    (tmp_path.parent / "out side.py").write_text("x\n")
    nvim.command("edit ../out\\ side.py")
    nvim.command("1AcpSend")
    assert nvim.lines() == [f'see @"{tmp_path.parent}/out side.py":1 ']


def test_a_picture_of_the_clipboard(start_screen: StartScreen, agent: MakeAgent, tmp_path: Path) -> None:
    """By a program that stands in for xclip: it becomes a file, and a mention where the cursor was."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (tmp_path / "clip.png").write_bytes(PNG)
    xclip = programs / "xclip"
    xclip.write_text(
        f'#!/bin/sh\n[ -e "{tmp_path}/none" ] && exit 1\n'
        f'case "$*" in *TARGETS) echo image/png;; *) cat "{tmp_path}/clip.png";; esac\n'
    )
    xclip.chmod(0o755)
    init = f"{WATCH}\nvim.env.PATH = '{programs}:' .. vim.env.PATH\n"
    init += "vim.env.DISPLAY = ':7'\nvim.env.WAYLAND_DISPLAY = nil\n"
    screen, scripted, chat = start(start_screen, agent, project(tmp_path / "ws"), init=init)
    screen.keys("iLook at now<Esc>bh\\p")
    eventually(lambda: "@" in chat.prompt(), message=screen.messages)
    prompt = chat.prompt()
    name = prompt.split("@")[1].split(" ")[0]
    path = Path(name.replace("~", screen.funcs.expand("~"), 1))
    assert prompt == f"Look at @{name} now"
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (PNG, 0o600)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    eventually(
        lambda: [row[1] for row in notes(screen)] == ["image, 2.0 kB"], message=lambda: str(notes(screen))
    )
    screen.keys("u")
    assert chat.prompt() == "Look at now"
    screen.keys("<C-r>A <C-s>")
    (blocks,) = prompts(scripted, 1)
    assert blocks[0]["mimeType"] == "image/png"
    chat.wait_turn()
    (tmp_path / "none").touch()
    screen.lua("vim.keymap.set('i', '<F5>', '<Plug>(acp-paste-image)', { remap = true })")
    screen.keys("again <F5>")
    eventually(lambda: "acp: the clipboard holds no picture" in screen.messages(), message=screen.messages)
    screen.wait("again    the clipboard holds no picture")
    screen.keys("x<BS>")
    screen.wait(lambda text: "holds no picture" not in text)
    assert chat.prompt() == "again "
    assert not screen.blocked()


def test_what_takes_long_to_read_can_be_taken_back(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    """A git that does not answer: the prompt is shown as one that waits, and a cancel gives it back."""
    programs = tmp_path / "bin"
    programs.mkdir()
    git = programs / "git"
    git.write_text("#!/bin/sh\nsleep 100\n")
    git.chmod(0o755)
    init = f"{WATCH}\nvim.env.PATH = '{programs}:' .. vim.env.PATH\n"
    screen, scripted, chat = start(start_screen, agent, project(tmp_path / "ws"), init=init)
    chat.send("look at @diff")
    screen.wait("queued 1  look at @diff")
    chat.cancel()
    eventually(lambda: chat.prompt() == "look at @diff")
    screen.wait(lambda text: "queued 1" not in text)
    chat.send("something else")  # it does not wait for that git
    assert [block["text"] for block in prompts(scripted, 1)[0]] == ["something else"]
    chat.wait_turn()


def test_what_is_put_into_a_running_turn_has_its_mentions(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    """To an agent that takes no embedded context unsaved edits go as words, which are not shown."""
    folder = project(tmp_path / "ws")
    hello = {"reply": {"protocolVersion": 1, "_meta": {"steering": {"supported": True}}}}
    on: dict[str, list[Json]] = {
        "initialize": [hello],
        "_session/steering": [{"reply": {"outcome": "injected"}}],
        "session/prompt": [ask("q", {"toolCallId": "t"}), {"await": "q"}, END],
    }
    scripted = agent(on=on)
    screen = start_screen(size=(150, 40), init=WATCH, cwd=folder, files=("other.py",))
    screen.setup({**PASSIVE, "agents": {"x": scripted.settings}})
    chat = Stage(screen).open(scripted)
    chat.wait_state("idle")
    screen.keys("<C-w>tGofour<Esc>")
    chat.send("go")
    chat.wait_pending(1)
    screen.command("AcpSend! left, as in @other.py:3-9")
    chat.wait("❯ left, as in @other.py:3-9\n")
    blocks = scripted.wait("_session/steering")["params"]["prompt"]
    assert [block["type"] for block in blocks] == ["text", "text"]
    assert blocks[0]["text"] == f"{folder.resolve()}/other.py:3-4\n```\nthree\nfour\n```\n"
    chat.permit("allow_once")
    chat.wait_turn()
    assert "```" not in chat.text()


def test_of_several_mentions_the_one_under_the_cursor_is_opened(start_nvim: StartNvim) -> None:
    nvim = start_nvim(init=INIT + AGENT)
    nvim.command("AcpChat")
    line = '❯ see @a.py:3, @"x y.py" and @src/b.py again'
    links = [[0, "/ws/a.py", 3], [0, "/ws/x y.py"], [0, "/ws/src/b.py"]]
    frame(nvim, 1, [line, ""], kind="user", tail=1, links=links)
    buf = buffer(nvim, "acp://claude/1")
    row = nvim.lines(buf).index(line)
    link = "local buf, row, col = ... return require('acp.chat.transcript').link_at(buf, row, col)"
    for place, expected in (
        ("see", {"path": "/ws/a.py", "line": 3}),
        ("@a.py", {"path": "/ws/a.py", "line": 3}),
        ("y.py", {"path": "/ws/x y.py"}),
        ("@src", {"path": "/ws/src/b.py"}),
        ("b.py", {"path": "/ws/src/b.py"}),
    ):
        assert (place, nvim.lua(link, buf, row, len(line[: line.index(place)].encode()))) == (place, expected)
