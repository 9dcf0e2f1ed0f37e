"""The built-in demo agent in a chat of a real Neovim, and ``make demo``: what a stranger sees first."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from tests.plugin import PATIENCE, ROOT, Screen, StartScreen, eventually, kill
from tools import demo
from tools.stage import Stage, build

from acp_nvim.replay.neovim import StageError, find_neovim, version

CHANGED = "# greetings\nhello Neovim\ngoodbye Neovim\n"
TRANSCRIPT = """
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  if vim.bo[buf].filetype == 'acp-chat' then return buf end
end
"""


both_versions = pytest.mark.parametrize("protocol", ["acp-v1", "acp-v2"])
"""For what test_demo_second.py does not play in both."""


@pytest.fixture
def protocol() -> str:
    return "acp-v1"


@pytest.fixture
def stage(tmp_path: Path, protocol: str) -> Stage:
    return build(tmp_path / "stage", 0.0, protocol=protocol)


@pytest.fixture
def chat(stage: Stage, start_screen: StartScreen) -> Screen:
    """The demo's Neovim when its chat is ready."""
    screen = start_screen(size=demo.SIZE, cwd=stage.project, init=stage.init, files=("greeting.txt",))
    screen.wait(demo.is_ready)
    return screen


def transcript(screen: Screen) -> str:
    return "\n".join(screen.lines(int(screen.lua(TRANSCRIPT))))


def test_the_hint_line_says_what_to_type(chat: Screen) -> None:
    first = chat.text().split("\n")[0]
    assert "show me everything" in first
    assert "<C-s>" in first
    assert chat.mode == "insert"


def test_an_edit_is_asked_for_and_done(chat: Screen, stage: Stage) -> None:
    chat.keys(demo.PROMPT, "<C-s>")
    seen = chat.wait(demo.shows_question)
    assert "hello Neovim" in seen
    assert "hello world" in (stage.project / "greeting.txt").read_text()
    demo.press(chat, "1", PATIENCE)
    chat.wait(demo.has_ended)
    assert (stage.project / "greeting.txt").read_text() == CHANGED
    assert "✓ edit   greeting.txt" in transcript(chat)
    buffer = chat.funcs.bufnr("greeting.txt")
    eventually(lambda: chat.lines(buffer)[1] == "hello Neovim")


def test_a_rejected_edit_is_not_done(chat: Screen, stage: Stage) -> None:
    chat.keys(demo.PROMPT, "<C-s>")
    demo.press(chat, "3", PATIENCE)
    chat.wait(demo.has_ended)
    assert "hello world" in (stage.project / "greeting.txt").read_text()
    assert "rejected by you" in transcript(chat)
    assert "stays as it is" in transcript(chat)


def test_unsaved_text_is_what_the_agent_works_on(chat: Screen, stage: Stage) -> None:
    path = stage.project / "notes.txt"
    path.write_text("saved world\n")
    buffer = chat.funcs.bufadd(str(path))
    chat.funcs.bufload(buffer)
    chat.api.buf_set_lines(buffer, 0, -1, False, ["unsaved world"])
    chat.keys("show notes.txt", "<C-s>")
    chat.wait(demo.has_ended)
    assert "unsaved world" in transcript(chat)


def test_the_tour(chat: Screen, stage: Stage) -> None:
    chat.keys("show me everything", "<C-s>")
    demo.press(chat, "1", PATIENCE)
    demo.press(chat, "1", PATIENCE)
    eventually(lambda: "What you saw" in transcript(chat), message=chat.text)
    chat.wait(demo.has_ended)
    assert "the the" not in (stage.project / "README.md").read_text()
    text = transcript(chat)
    assert "plan  5 of 5" in text
    assert "✓ edit   README.md" in text
    assert "✓ run    git --no-pager diff --stat" in text


def test_a_restart_resumes_the_chat(chat: Screen) -> None:
    chat.keys("run echo once", "<C-s>")
    chat.wait("wants to run a command")
    answer(chat, "2")
    eventually(lambda: "It wrote 1 line." in transcript(chat), message=chat.text)
    eventually(lambda: chat.lua("return require('acp').status().state") == "idle", message=chat.text)
    session = chat.lua("return require('acp').status().session")
    chat.command("AcpRestart")
    eventually(lambda: "resumed: demo remembers this chat" in transcript(chat), message=chat.text)
    assert chat.lua("return require('acp').status().session") == session
    assert "cannot resume" not in transcript(chat)
    chat.lua("require('acp').send('run echo once')")
    eventually(lambda: transcript(chat).count("It wrote 1 line.") == 2, message=chat.text)
    assert transcript(chat).count("✓ run    echo once") == 2, "rows of the first life are left alone"
    assert chat.messages() == ""


def test_the_hosts_end_does_not_make_it_forget(chat: Screen) -> None:
    chat.keys("help", "<C-s>")
    chat.wait(demo.has_ended)
    kill(chat.host_ready(), signal.SIGKILL)
    eventually(lambda: chat.lua("return require('acp').status().state") == "failed", message=chat.text)
    chat.command("AcpRestart")
    eventually(lambda: "resumed: demo remembers this chat" in transcript(chat), message=chat.text)


@both_versions
def test_delete_and_move(chat: Screen, stage: Stage) -> None:
    chat.keys("move greeting.txt to hello.txt", "<C-s>")
    chat.wait("wants to move a file")
    answer(chat, "1")
    eventually(lambda: "`greeting.txt` is now `hello.txt`" in transcript(chat), message=chat.text)
    assert (stage.project / "hello.txt").exists()
    assert "✓ move   greeting.txt" in transcript(chat)
    chat.lua("require('acp').send('delete hello.txt')")
    chat.wait("wants to delete a file")
    answer(chat, "1")
    eventually(lambda: "`hello.txt` is gone" in transcript(chat), message=chat.text)
    assert not (stage.project / "hello.txt").exists()
    assert "✓ delete hello.txt" in transcript(chat)


@both_versions
def test_several_files_with_one_question(chat: Screen, stage: Stage) -> None:
    (stage.project / "other.txt").write_text("other world\n")
    chat.keys("replace world by Neovim in all files at once", "<C-s>")
    chat.wait("wants to edit a file")
    chat.command("AcpPermit 1")
    eventually(lambda: "Done: `world` is `Neovim` in " in transcript(chat), message=chat.text)
    assert (stage.project / "greeting.txt").read_text() == CHANGED
    assert (stage.project / "other.txt").read_text() == "other Neovim\n"


def test_long_output_is_seen_as_it_comes(chat: Screen) -> None:
    chat.keys("demo output 20", "<C-s>")
    chat.wait("wants to run a command")
    answer(chat, "1")
    seen = chat.wait("line 5 of 20")
    assert "line 20 of 20" not in seen
    chat.command("AcpCancel")
    eventually(lambda: "cancelled by you" in transcript(chat), message=chat.text)


def test_silence_is_said_of_the_demo(chat: Screen) -> None:
    chat.lua("require('acp').setup({ agents = { demo = { stall_s = 0.5 } } })")
    chat.command("AcpRestart")
    eventually(lambda: chat.lua("return require('acp').status().state") == "idle", message=chat.text)
    chat.lua("require('acp').send('demo silence 3')")
    chat.wait(" demo  silent ")
    eventually(lambda: "I am back, after 3 seconds." in transcript(chat), message=chat.text)
    chat.wait(" demo  ready")


def test_a_conflict_asks_before_anything_is_lost(chat: Screen, stage: Stage) -> None:
    buffer = chat.funcs.bufadd(str(stage.project / "greeting.txt"))
    chat.funcs.bufload(buffer)
    chat.keys("demo conflict in greeting.txt 1", "<C-s>")
    demo.press(chat, "1", PATIENCE)
    eventually(lambda: "a careless agent" in transcript(chat), message=chat.text)
    chat.api.buf_set_lines(buffer, 0, 0, False, ["my own line"])
    chat.wait("has unsaved edits")
    assert chat.lines(buffer)[0] == "my own line"
    assert "demo agent" not in (stage.project / "greeting.txt").read_text()
    chat.command("AcpPermit cancel")
    eventually(lambda: "did not write" in transcript(chat), message=chat.text)
    assert chat.lines(buffer)[0] == "my own line"


def test_a_command_runs_in_a_terminal_of_ours(chat: Screen) -> None:
    chat.keys(r"run printf '\033[31mred\033[0m\n'", "<C-s>")
    chat.wait("wants to run a command")
    answer(chat, "1")
    eventually(lambda: "It wrote 1 line." in transcript(chat), message=chat.text)
    text = transcript(chat)
    assert r"✓ run    printf '\033[31mred\033[0m\n'" + "\n  │ red\n" in text
    assert "sh -c" not in text
    row = next(n for n, line in enumerate(text.split("\n"), 1) if line.startswith("✓ run"))
    chat.lua(f"vim.fn.win_execute(vim.fn.bufwinid(({{ ... }})[1]), '{row}')", int(chat.lua(TRANSCRIPT)))
    chat.keys("<Esc><C-w>k<CR>")
    eventually(lambda: chat.lua("return vim.bo.filetype") == "acp-terminal", message=chat.text)


@both_versions
def test_a_form_becomes_a_file(chat: Screen, stage: Stage) -> None:
    chat.keys("/ask", "<C-s>")
    chat.wait("wants to ask you something")
    chat.command("AcpPermit 1")
    chat.wait("1 of 6")
    chat.keys("<C-u>Ada<CR>")
    for field, keys in enumerate(("2", "<CR>", "<CR>", "1<CR>", "2"), 2):
        chat.wait(f"{field} of 6")
        chat.keys(keys)
    chat.wait("What else: a poem")
    demo.press(chat, "1", PATIENCE, lambda text: "Send" in text)
    chat.wait("wants to create a file")
    answer(chat, "1")
    eventually(lambda: "holds what you answered" in transcript(chat), message=chat.text)
    assert (stage.project / "greeting-ada.md").read_text().startswith("# Hallo Ada!\n\n> Roses")
    assert "✓ ask    What shall be in the page?  answered by you" in transcript(chat)


@both_versions
@pytest.mark.parametrize(("key", "row"), [("1", "finished in the browser"), ("2", "declined by you")])
def test_a_page(chat: Screen, key: str, row: str) -> None:
    chat.lua("_G.opened = {}; vim.ui.open = function(url) table.insert(_G.opened, url) end")
    chat.keys("open a page", "<C-s>")
    demo.press(chat, key, PATIENCE, lambda text: "Open agentclientprotocol.com" in text)
    eventually(lambda: row in transcript(chat), message=chat.text)
    chat.wait(demo.has_ended)
    opened = ["https://agentclientprotocol.com"] if key == "1" else []
    eventually(lambda: chat.lua("return _G.opened") == opened)


def test_a_picture_and_a_link(chat: Screen) -> None:
    chat.keys("show a picture", "<C-s>")
    chat.wait(demo.has_ended)
    text = transcript(chat)
    assert re.search(r"^  image  image/png, \d+ B$", text, re.M)
    assert re.search(r"^  link  .*test_leap.py$", text, re.M)
    assert "\n\n\n" not in text


@both_versions
def test_modes_and_options(chat: Screen, stage: Stage) -> None:
    chat.keys("go to plan mode", "<C-s>")
    eventually(lambda: "demo changed the mode: Ask before edits to Read only" in transcript(chat))
    chat.wait(demo.has_ended)
    assert chat.lua("return require('acp').status().mode") == "Read only"
    chat.lua("require('acp').send('replace world by Neovim in greeting.txt')")
    demo.press(chat, "2", PATIENCE, lambda text: "Stay in this mode" in text)
    eventually(lambda: (stage.project / "greeting.txt").read_text() == CHANGED, message=chat.text)
    assert chat.lua("return require('acp').status().mode") == "Edit at once"
    ids = chat.lua("return vim.tbl_map(function(o) return o.id end, require('acp').options())")
    assert ids == ["mode", "thoughts", "pace"]
    chat.command("AcpOptions thoughts false")
    chat.command("AcpOptions mode ask")
    eventually(lambda: chat.lua("return require('acp').status().mode") == "Ask before edits")


def test_commands_are_completed(chat: Screen) -> None:
    chat.keys("/pic")
    chat.wait("/picture draw the largest files")


@both_versions
@pytest.mark.parametrize("how", ["As a guest", "With a name"])
def test_a_login(stage: Stage, start_screen: StartScreen, how: str) -> None:
    init = stage.init.replace("env = {", "env = { ACP_DEMO_LOGIN = '1',")
    chat = start_screen(size=demo.SIZE, cwd=stage.project, init=init, files=("greeting.txt",))
    chat.wait("demo wants you to log in")
    demo.press(chat, "1" if how == "As a guest" else "2", PATIENCE, lambda text: "Not now" in text)
    if how == "With a name":
        chat.wait("Your name:")
        chat.wait("-- TERMINAL --")
        chat.keys("Ada<CR>")
    eventually(lambda: "demo has accepted the login" in transcript(chat), message=chat.text)
    chat.lua("require('acp').send('help')")
    chat.wait(demo.has_ended)
    chat.command("AcpLogout")
    demo.press(chat, "1", PATIENCE, lambda text: "Stay logged in" in text)
    eventually(lambda: "logged out of demo" in transcript(chat), message=chat.text)
    chat.lua("require('acp').send('list files')")
    chat.wait("Not now")


def test_cancel(chat: Screen) -> None:
    chat.keys("run sleep 600", "<C-s>")
    chat.wait("wants to run a command")
    chat.command("AcpCancel")
    chat.wait(lambda text: "cancelled by you" in text)
    assert chat.lua("return require('acp').status().state") == "idle"


def answer(screen: Screen, key: str) -> None:
    """Answer the question that is open, whatever it is about."""
    demo.press(screen, key, PATIENCE, lambda text: "Reject" in text)


@pytest.mark.parametrize(("key", "status", "words"), [("1", 0, "has changed"), ("3", 1, "was not changed")])
def test_the_scripted_user(tmp_path: Path, key: str, status: int, words: str) -> None:
    argv = [sys.executable, "tools/demo.py", "--headless", "--key", key, "--folder", str(tmp_path / "demo")]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    assert words in done.stdout + done.stderr
    assert "Allow once" in done.stdout


def test_with_a_terminal_it_is_neovim(tmp_path: Path) -> None:
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    argv = [sys.executable, "tools/demo.py", "--folder", str(tmp_path / "demo")]
    env = {**os.environ, "TERM": "xterm-256color"}
    process = subprocess.Popen(
        argv, cwd=ROOT, env=env, stdin=its, stdout=its, stderr=its, start_new_session=True
    )
    os.close(its)
    seen = bytearray()

    def shows(wanted: bytes) -> bool:
        if select.select([ours], [], [], 0.05)[0]:
            with contextlib.suppress(OSError):  # Linux says EIO when the other end is gone
                seen.extend(os.read(ours, 65536))
        return wanted in seen

    try:
        eventually(
            lambda: shows(b"no language model"), message=lambda: bytes(seen[-2000:]).decode(errors="replace")
        )
        assert b"show me everything" in seen
        os.write(ours, b"\x1b:qa!\r")
        eventually(lambda: shows(b"never") or process.poll() is not None)
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_a_folder_of_somebody_else_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(StageError, match="not empty"):
        build(tmp_path, 0.0)
    assert (tmp_path / "mine.txt").exists()


def test_the_users_neovim_is_left_alone(stage: Stage) -> None:
    names = [name for name in stage.environment if name.startswith("XDG_")]
    assert len(names) >= 6
    assert all(
        stage.environment[name].startswith(str(stage.folder)) for name in names if name != "XDG_RUNTIME_DIR"
    )
    assert "NVIM_APPNAME" not in stage.environment


def test_a_neovim_is_found() -> None:
    assert version(find_neovim()) >= (0, 10)
    assert version(sys.executable) == (0, 0)
    assert version("/no/such/nvim") == (0, 0)
