"""`:AcpInstall` makes the environment without blocking, says what went wrong, and the chat goes on."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest
from tests.plugin import ROOT, Neovim, Screen, StartScreen, eventually

UV = """
case $1 in
run) shift 5; exec "{python}" -I "$@" ;;
venv)
  for folder; do :; done
  mkdir -p "$folder/bin"
  printf '#!/bin/sh\\nexec "{python}" "$@"\\n' >"$folder/bin/python"
  chmod +x "$folder/bin/python" ;;
pip) {pip} ;;
esac
"""
"""A `uv` that needs no network: the environment's Python is the one that runs the tests."""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder of programs that comes first on PATH; its python3 has no packages."""
    script(tmp_path / "programs/python3", f'exec "{sys.executable}" -S "$@"')
    return tmp_path / "programs"


def start(start_screen: StartScreen, programs: Path, size: tuple[int, int] = (80, 24)) -> Screen:
    path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
    return start_screen(python=None, env={"PATH": path}, size=size)


def environment(nvim: Neovim) -> Path:
    return nvim.home / "data_home/nvim/acp.nvim"


def use_uv(programs: Path, pip: str = "exit 0") -> None:
    script(programs / "uv", UV.format(python=sys.executable, pip=pip))


def trigger(nvim: Neovim) -> None:
    nvim.lua("require('acp.host').event('trace', { agent = 'x', buf = 1 })")


def test_it_installs_lists_agents_and_starts_the_host(start_screen: StartScreen, programs: Path) -> None:
    use_uv(programs)
    screen = start(start_screen, programs)
    trigger(screen)
    eventually(lambda: screen.host()["state"] == "failed")
    eventually(lambda: screen.messages())
    screen.clear_messages()
    screen.command("AcpInstall")
    screen.wait("installed into")
    assert "4/4 putting it in place" in screen.text()
    assert "npm install -g" in screen.text()
    assert not screen.blocked()
    screen.host_ready()
    assert screen.host()["python"] == sys.executable
    assert (environment(screen) / "venv/bin/python").exists()
    assert [path.name for path in environment(screen).iterdir()] == ["venv"]
    screen.keys("q")
    screen.wait(lambda text: "installed into" not in text)


def test_neovim_is_not_blocked_meanwhile(start_screen: StartScreen, programs: Path, tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    use_uv(programs, pip=f'while [ ! -e "{go_on}" ]; do sleep 0.05; done')
    screen = start(start_screen, programs)
    screen.command("AcpInstall")
    screen.wait("2/4")
    screen.keys("qitext<Esc>")
    screen.wait("text")
    screen.command("AcpInstall")  # shows the one that runs
    screen.wait("2/4")
    assert not (environment(screen) / "venv").exists()
    go_on.touch()
    screen.wait("installed into")


def test_an_environment_that_works_is_replaced_only_by_one_that_works(
    start_screen: StartScreen, programs: Path
) -> None:
    use_uv(programs, pip="echo 'disk is full'; exit 1")
    screen = start(start_screen, programs)
    old = environment(screen) / "venv"
    script(old / "bin/python", f'exec "{sys.executable}" "$@"')
    screen.command("AcpInstall")
    screen.wait("disk is full; :AcpInstall shows all it said")
    assert (old / "bin/python").exists()
    assert [path.name for path in environment(screen).iterdir()] == ["venv"]
    screen.clear_messages()
    use_uv(programs)
    screen.command("AcpInstall")
    screen.wait("installed into")
    assert sorted(path.name[:4] for path in environment(screen).iterdir()) == ["old-", "venv"]
    screen.command("AcpInstall")
    screen.wait("installed into")


@pytest.mark.parametrize("noted", [None, "pynvim==0.5.2\nanyio==3.0.0\n"], ids=["nothing", "others"])
def test_an_environment_of_another_version_is_told_of_once_and_renewed(
    start_screen: StartScreen, programs: Path, noted: str | None
) -> None:
    """The plugin was updated, and what it needs has changed: it goes on as far as it gets."""
    use_uv(programs)
    screen = start(start_screen, programs)
    folder = environment(screen) / "venv"
    script(folder / "bin/python", f'exec "{sys.executable}" "$@"')
    if noted is not None:
        (folder / "acp-requirements.txt").write_text(noted)
    screen.keys(":AcpChat demo<CR>")
    screen.wait("── the Python packages are outdated")
    screen.wait("  │ :AcpInstall renews them; then start Neovim again")
    assert not screen.blocked()
    assert screen.messages().strip() == ""
    eventually(lambda: screen.lua("return require('acp').status().state") == "idle")
    screen.keys("hello<C-s>")
    screen.wait("── done")
    screen.keys("<Esc>")
    screen.command("checkhealth acp")
    health = "\n".join(screen.lines())
    assert "WARNING the Python packages are outdated" in health
    assert ":AcpInstall renews them" in health
    screen.command("AcpInstall")
    screen.wait("installed into")
    screen.keys("q")
    screen.lua("require('acp.host').restart()")
    screen.host_ready()
    transcript = screen.funcs.bufnr("^acp://demo/1$")
    eventually(lambda: screen.lua("return require('acp').status().state") == "idle")
    assert "\n".join(screen.lines(transcript)).count("outdated") == 1
    screen.command("checkhealth acp")
    assert "WARNING the Python packages" not in "\n".join(screen.lines())
    screen.clear_messages()


def test_the_help_is_found_afterwards(start_screen: StartScreen, programs: Path, tmp_path: Path) -> None:
    """lazy.nvim makes no tags for a folder of the user's own."""
    screen = start(start_screen, programs)
    doc = tmp_path / "a folder/doc"
    doc.mkdir(parents=True)
    (doc / "acp.txt").write_text("*acp.txt*\n\n*of-a-test*\n")
    for _ in range(2):
        screen.lua("require('acp.install').helptags(...)", str(doc))
        assert "of-a-test\t" in (doc / "tags").read_text()
    screen.lua("require('acp.install').helptags('/no/such/folder')")
    assert not screen.blocked()
    assert screen.messages() == ""


def test_without_a_chat_it_is_a_message(start_screen: StartScreen, programs: Path) -> None:
    screen = start(start_screen, programs)
    script(environment(screen) / "venv/bin/python", f'exec "{sys.executable}" "$@"')
    trigger(screen)
    screen.wait("acp: the Python packages are outdated; :AcpInstall renews them")
    screen.clear_messages()


@pytest.mark.parametrize(
    ("pip", "said"),
    [
        ("echo 'error: Failed to fetch: dns error'; exit 2", "the package index cannot be reached"),
        ("echo 'ERROR: No matching distribution found for x'; exit 1", "the package index cannot be reached"),
        ("echo 'No space left on device'; exit 1", "No space left on device"),
        ("exit 1", "uv failed"),
    ],
)
def test_what_went_wrong_is_one_message(
    start_screen: StartScreen, programs: Path, pip: str, said: str
) -> None:
    use_uv(programs, pip=pip)
    screen = start(start_screen, programs, (120, 30))
    screen.command("AcpInstall")
    screen.wait(said)
    eventually(lambda: screen.messages())
    [line] = screen.messages().splitlines()
    assert said in line
    assert not screen.blocked()
    assert not list(environment(screen).iterdir())
    screen.clear_messages()


def test_a_python_without_venv_names_the_package(start_screen: StartScreen, programs: Path) -> None:
    hide = "import sys, runpy; sys.modules['ensurepip'] = None; sys.argv = sys.argv[1:]; "
    hide += "import importlib.util as u; f = u.find_spec; "
    hide += "u.find_spec = lambda n, p=None: None if n == 'ensurepip' else f(n, p); "
    hide += "runpy.run_path(sys.argv[0], run_name='__main__')"
    script(
        programs / "python3",
        f'[ "$2" = -c ] && exec "{sys.executable}" "$@"; shift; exec "{sys.executable}" -c "{hide}" "$@"',
    )
    screen = start(start_screen, programs, (160, 30))
    screen.command("AcpInstall")
    screen.wait("has no venv module")
    screen.wait("apt install python3-venv")
    screen.clear_messages()


def test_without_any_python_it_says_what_to_install(start_screen: StartScreen, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    screen = start_screen(python=None, env={"PATH": str(empty)})
    screen.command("AcpInstall")
    screen.wait("no Python 3.11 or later found: install it, or uv")
    screen.clear_messages()


def test_names_of_agents_are_answered_without_installing(start_screen: StartScreen, programs: Path) -> None:
    screen = start(start_screen, programs)
    screen.command("AcpInstall claude nobody")
    screen.wait("npm install -g @agentclientprotocol/claude-agent-acp")
    screen.wait("nobody")
    assert not environment(screen).exists()


@pytest.mark.parametrize("insert", [False, True], ids=["Normal mode", "Insert mode"])
def test_the_first_chat_offers_it_with_one_key(
    start_screen: StartScreen, programs: Path, insert: bool
) -> None:
    use_uv(programs)
    screen = start(start_screen, programs)
    screen.lua("vim.bo.filetype = 'acp-prompt'")
    screen.keys("i" if insert else "")
    trigger(screen)
    screen.wait("acp.nvim needs a few Python packages of its own.")
    assert not screen.blocked()
    assert screen.api.win_get_config(0)["relative"] == ""  # the focus stays
    if insert:
        screen.keys("typed")
        screen.wait("typed")
    eventually(lambda: screen.messages())
    screen.clear_messages()
    screen.keys("<C-y>")
    screen.wait("installed into")
    screen.host_ready()
    assert screen.funcs.maparg("<C-y>", "n") == ""
    screen.keys("q")
    screen.wait(lambda text: "acp.nvim" not in text)
    eventually(lambda: screen.api.get_mode()["mode"] == ("i" if insert else "n"))
    if insert:
        screen.keys(" on")
        screen.wait("typed on")


@pytest.mark.parametrize("size", [(120, 30), (80, 24)])
def test_a_first_chat_without_an_environment_says_it_once_and_goes_on(
    start_screen: StartScreen, programs: Path, size: tuple[int, int]
) -> None:
    use_uv(programs)
    screen = start(start_screen, programs, size)
    screen.keys(":AcpChat<CR>")
    screen.wait("acp.nvim needs a few Python packages of its own.")
    screen.wait("✗ failed, :AcpInstall")
    screen.find("The agent is not running: :AcpInstall")  # the offer does not cover the prompt
    transcript = screen.funcs.bufnr("^acp://demo/1$")
    for _ in range(2):
        screen.keys("hello<C-s>" if screen.lines() == [""] else "<C-s>")
        eventually(lambda: screen.lua("return require('acp').status().state") == "starting")
        eventually(lambda: screen.lua("return require('acp').status().state") == "failed")
        eventually(lambda: screen.lines() == ["hello"])
    text = "\n".join(screen.lines(transcript))
    assert text.count("✗") == text.count("has no package") == 1
    assert "Starting" not in text
    assert "  │ :AcpInstall makes an environment; this chat goes on" in text
    screen.find("  │ :AcpInstall makes an environment; this chat goes on")  # not wrapped
    assert screen.lines() == ["hello"]
    status = screen.lua("return require('acp').status()")
    assert "has no package" in status["error"]
    screen.keys("<C-y>")
    screen.wait("installed into")
    eventually(lambda: screen.lua("return require('acp').status().state") == "idle")
    assert "error" not in screen.lua("return require('acp').status()")
    eventually(lambda: "The built-in demo" in "\n".join(screen.lines(transcript)))
    assert "✗" not in "\n".join(screen.lines(transcript))
    screen.keys("q", "<C-s>")
    eventually(lambda: "❯ hello" in "\n".join(screen.lines(transcript)))
    screen.clear_messages()


def test_the_offer_is_made_once_and_gives_a_key_of_the_user_back(
    start_screen: StartScreen, programs: Path
) -> None:
    screen = start(start_screen, programs)
    screen.lua("vim.bo.filetype = 'acp-prompt'")
    screen.command("nnoremap <buffer> <C-y> :echo 'mine'<CR>")
    trigger(screen)
    screen.wait("acp.nvim needs")
    screen.lua("require('acp.install').withdraw()")
    assert "mine" in screen.funcs.maparg("<C-y>", "n")
    trigger(screen)
    eventually(lambda: screen.host()["state"] == "failed")
    screen.wait(lambda text: "acp.nvim needs" not in text)
    screen.clear_messages()


def test_a_named_python_is_left_to_the_user(start_screen: StartScreen, programs: Path) -> None:
    screen = start_screen(python="/no/such/python", env={"PATH": str(programs)})
    trigger(screen)
    screen.wait(":AcpInstall")
    assert "acp.nvim needs" not in screen.text()
    screen.clear_messages()
    use_uv(programs)
    path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
    screen.lua("vim.env.PATH = ...", path)
    screen.command("AcpInstall")
    screen.wait("names another Python")
    screen.lua("vim.g.acp_python = nil")
    trigger(screen)
    screen.host_ready()
    assert screen.messages().count("no such program") <= 1
    screen.clear_messages()


def test_another_app_name_has_an_environment_of_its_own(start_screen: StartScreen, programs: Path) -> None:
    use_uv(programs)
    path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
    screen = start_screen(python=None, env={"PATH": path, "NVIM_APPNAME": "other"})
    screen.command("AcpInstall")
    screen.wait("installed into")
    assert (screen.home / "data_home/other/acp.nvim/venv/bin/python").exists()


def test_make_install_uses_the_same_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    default_target = runpy.run_path(str(ROOT / "tools/install.py"))["default_target"]
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("NVIM_APPNAME", raising=False)
    assert default_target() == tmp_path / "nvim/acp.nvim"
    monkeypatch.setenv("NVIM_APPNAME", "other")
    assert default_target() == tmp_path / "other/acp.nvim"
