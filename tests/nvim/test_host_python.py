"""Which Python becomes the host, what is said when none will do, and where its modules come from."""

from __future__ import annotations

import os
import re
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.plugin import ROOT, Neovim, StartNvim, eventually

PACKAGES = Path(sysconfig.get_path("purelib"))
OLD = (
    "import sys, runpy; sys.version_info = (3, 9, 18); sys.argv = sys.argv[1:]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


def script(path: Path, text: str) -> str:
    """Make a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def python_with(folder: Path, *names: str, **modules: str) -> str:
    """Make a Python that has only these packages, and modules with these texts."""
    packages = folder / "packages"
    packages.mkdir()
    for name in names:
        for found in (*PACKAGES.glob(name), *PACKAGES.glob(f"{name}.*")):
            (packages / found.name).symlink_to(found)
    for name, text in modules.items():
        (packages / f"{name}.py").write_text(text)
    return script(folder / "python", f'PYTHONPATH="{packages}" exec "{sys.executable}" -S "$@"')


PYNVIM = ("pynvim", "msgpack", "greenlet", "typing_extensions")


def trigger(nvim: Neovim) -> None:
    nvim.lua("require('acp.host').event('trace', { agent = 'x', buf = 1 })")


def failure(nvim: Neovim) -> str:
    """Start the host; return the one message about its failure."""
    trigger(nvim)
    eventually(lambda: nvim.host()["state"] == "failed", message=lambda: str(nvim.host()))
    eventually(lambda: nvim.messages())
    [line] = nvim.messages().splitlines()
    nvim.clear_messages()
    assert len(line) <= 68
    assert ":AcpInstall" in line
    return line


CASES: dict[str, tuple[str, str]] = {
    "wrong path": ("/no/such/python", "cannot run /no/such/python: no such program"),
    "a directory": ("{tmp}", "no such program"),
    "not executable": ("{tmp}/file", "no such program"),
    "pynvim missing": ("none", "has no package 'pynvim'"),
    "msgspec missing": ("pynvim only", "has no package 'msgspec'"),
    "anyio missing": ("no anyio", "has no package 'anyio'"),
    "a package of anyio missing": ("no idna", "has no package 'idna'"),
    "a broken package": ("broken", "cannot load the host"),
    "too old": ("old", "is Python 3.9.18, too old"),
    "ends at once": ("ends", "ended with code 7"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_message_names_what_is_wrong_and_the_remedy(
    case: str, tmp_path: Path, start_nvim: StartNvim
) -> None:
    kind, wanted = CASES[case]
    (tmp_path / "file").touch()
    makers = {
        "none": lambda: python_with(tmp_path),
        "pynvim only": lambda: python_with(tmp_path, *PYNVIM),
        "no anyio": lambda: python_with(tmp_path, *PYNVIM, "msgspec"),
        "no idna": lambda: python_with(tmp_path, *PYNVIM, "msgspec", anyio="import idna"),
        "broken": lambda: python_with(tmp_path, *PYNVIM, "msgspec", anyio="raise RuntimeError('bad build')"),
        "old": lambda: script(tmp_path / "python", f'exec "{sys.executable}" -c "{OLD}" "$@"'),
        "ends": lambda: script(tmp_path / "python", "echo some reason >&2; exit 7"),
    }
    python = makers[kind]() if kind in makers else kind.format(tmp=tmp_path)
    nvim = start_nvim(python=python)
    assert wanted in failure(nvim)
    details = "\n".join(nvim.host()["details"])
    assert {"broken": "bad build", "ends": "some reason"}.get(kind, "") in details
    assert nvim.host()["python"] == python


def test_no_python_at_all(tmp_path: Path, start_nvim: StartNvim) -> None:
    nvim = start_nvim(python=None, env={"PATH": str(tmp_path)})
    assert failure(nvim) == "acp: no Python 3.11 or later found. Run :AcpInstall"


def test_a_failed_start_is_tried_again_by_the_next_event(tmp_path: Path, start_nvim: StartNvim) -> None:
    python = tmp_path / "python"
    nvim = start_nvim(python=str(python))
    failure(nvim)
    script(python, f'exec "{sys.executable}" "$@"')
    trigger(nvim)
    nvim.host_ready()


@pytest.fixture
def logged(tmp_path: Path) -> dict[str, str]:
    """Pythons that note that they were asked: ``good`` ones and ``bad`` ones by name."""
    log = tmp_path / "log"
    note = f'echo "$0 $1" >> {log}'
    made = {"log": str(log)}
    for name in ("named", "provider", "p1/pynvim-python", "p2/python3"):
        good = script(tmp_path / "good" / name, f'{note}; exec "{sys.executable}" "$@"')
        made[name] = good
        made[f"bad {name}"] = script(tmp_path / "bad" / name, f"{note}; exit 1")
    return made


def own_python(nvim_home: Path, log: str, works: bool) -> str:
    folder = nvim_home / "data_home/nvim/acp.nvim/venv"
    folder.mkdir(parents=True)
    shutil.copyfile(ROOT / "python/requirements.txt", folder / "acp-requirements.txt")
    last = f'exec "{sys.executable}" "$@"' if works else "exit 1"
    return script(nvim_home / "data_home/nvim/acp.nvim/venv/bin/python", f'echo "$0 $1" >> {log}; {last}')


def asked(made: dict[str, str]) -> list[str]:
    return Path(made["log"]).read_text().splitlines()


@pytest.mark.parametrize(
    ("bad", "used"),
    [
        (0, ["own"]),
        (1, ["own", "provider"]),
        (2, ["own", "provider", "p1/pynvim-python"]),
        (3, ["own", "provider", "p1/pynvim-python", "p2/python3"]),
    ],
)
def test_interpreters_are_tried_in_order(
    logged: dict[str, str], short_tmp: Path, start_nvim: StartNvim, bad: int, used: list[str]
) -> None:
    own = own_python(short_tmp / "n0/home", logged["log"], works=bad == 0)
    pick = {
        name: logged[name if index >= bad else f"bad {name}"]
        for index, name in enumerate(["provider", "p1/pynvim-python", "p2/python3"], 1)
    }
    path = [str(Path(pick[name]).parent) for name in ("p1/pynvim-python", "p2/python3")]
    nvim = start_nvim(
        python=None,
        init=f"vim.g.python3_host_prog = '{pick['provider']}'",
        env={"PATH": os.pathsep.join([*path, os.environ["PATH"]])},
    )
    trigger(nvim)
    nvim.host_ready()
    expected = {"own": f"{own} -I"} | {name: f"{python} " for name, python in pick.items()}
    lines = [re.sub(r" /.*boot\.py$", " ", line) for line in asked(logged)]
    assert lines == [expected[name] for name in used]
    assert nvim.messages() == ""


@pytest.mark.parametrize("how", ["variable", "setting"])
def test_an_interpreter_that_was_named_is_the_only_one(
    logged: dict[str, str], short_tmp: Path, start_nvim: StartNvim, how: str
) -> None:
    own_python(short_tmp / "n0/home", logged["log"], works=True)
    named = logged["bad named"]
    nvim = start_nvim(python=named if how == "variable" else None)
    if how == "setting":
        nvim.setup({"python": named})
    failure(nvim)
    assert [line.split()[0] for line in asked(logged)] == [named]


@pytest.mark.parametrize("pythonpath", [None, ".", "", ":/nonexistent", "sub:.:"])
@pytest.mark.parametrize("own", [True, False], ids=["own environment", "another Python"])
def test_nothing_is_imported_from_the_users_project(
    start_nvim: StartNvim, short_tmp: Path, tmp_path: Path, pythonpath: str | None, own: bool
) -> None:
    project = tmp_path / "project"
    trap = "import pathlib; pathlib.Path(__file__).with_name('caught').touch()"
    for folder in (project, project / "sub"):
        folder.mkdir()
        for name in ("anyio", "msgspec", "pynvim", "acp_nvim", "json", "sitecustomize", "usercustomize"):
            (folder / f"{name}.py").write_text(trap)
    if own:
        own_python(short_tmp / "n0/home", str(tmp_path / "log"), works=True)
    nvim = start_nvim(cwd=project, python=None if own else sys.executable, env={"PYTHONPATH": pythonpath})
    trigger(nvim)
    nvim.host_ready()
    assert not list(project.rglob("caught"))
