"""The help and the code name the same: commands, maps, settings, keys, functions, events, colours, icons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.plugin import ROOT, Neovim, StartNvim

HELP = (ROOT / "doc/acp.txt").read_text(encoding="utf-8")
SOURCES = [*(ROOT / "lua").rglob("*.lua"), *(ROOT / "python/acp_nvim").rglob("*.py"), ROOT / "plugin/acp.lua"]
CODE = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)


def section(tag: str) -> str:
    """From the line of a tag to the next one that begins a section."""
    start = HELP.index(f"*{tag}*")
    return HELP[start : HELP.index("\n====", start)]


@pytest.fixture
def nvim(start_nvim: StartNvim) -> Neovim:
    return start_nvim()


def test_tags_are_there_once_and_lead_somewhere(nvim: Neovim, tmp_path: Path) -> None:
    (tmp_path / "acp.txt").write_text(HELP, encoding="utf-8")
    nvim.command(f"helptags {tmp_path}")  # E154 for one that is there twice
    tags = {line.split("\t")[0] for line in (tmp_path / "tags").read_text().splitlines()}
    links = set(re.findall(r"(?<![\w|])\|([^\s|]+)\|(?![\w|])", HELP))
    ours = {link for link in links if link.startswith(("acp", ":Acp", "Acp"))}
    assert ours - tags == set()
    names = "return vim.tbl_map(function(name) return #vim.fn.getcompletion(name, 'help') > 0 end, ...)"
    others = sorted(links - ours)
    assert [name for name, known in zip(others, nvim.lua(names, others), strict=True) if not known] == []
    contents = re.findall(r"^\t(\d+)\. ([^\t]+)\t+\|(\S+)\|$", HELP, re.MULTILINE)
    titles = re.findall(r"^(\d+)\. ([^\t]+)\t+\*(\S+)\*$", HELP, re.MULTILINE)
    assert contents == titles
    assert len(titles) > 10


def test_commands(nvim: Neovim) -> None:
    there = {name for name in nvim.api.get_commands({}) if name.startswith("Acp")}
    assert there == set(re.findall(r"\*:(Acp\w+)\*", HELP))
    assert set(re.findall(r":(?:\d|\[\S+\]|'<,'>)?(Acp\w+)", HELP)) <= there


def test_maps(nvim: Neovim) -> None:
    maps = {entry["lhs"] for mode in "ni" for entry in nvim.api.get_keymap(mode)}
    assert {name for name in maps if "(acp-" in name} == set(re.findall(r"<Plug>\(acp-[\w-]+\)", HELP))


def keys(values: Any) -> str:
    return "-" if values is False else values if isinstance(values, str) else "/".join(values)


def test_keys_of_our_buffers(nvim: Neovim) -> None:
    groups = nvim.lua("return require('acp.chat.keymaps')")
    table = section("acp-keymaps").split("\n>\n")[1].split("\n<\n")[0]
    documented: dict[str, dict[str, str]] = {}
    name = ""
    for line in table.split("\n"):
        found = re.match(r"\t(\w*) +(.*)$", line)
        assert found, line
        name = found[1] or name
        for item in re.split(r" {3,}", found[2]):
            action, key = item.split(" ")
            documented.setdefault(name, {})[action] = key
    wanted = {group: {action: keys(key) for action, key in maps.items()} for group, maps in groups.items()}
    assert documented == wanted


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Settings by their whole name."""
    if not isinstance(value, dict) or not value:
        return {path: value}
    parts = [flat(inner, f"{path}.{key}") for key, inner in value.items()]
    return {name: inner for part in parts for name, inner in part.items()}


def test_settings_and_their_defaults(nvim: Neovim) -> None:
    block = section("acp-settings").split(">lua\n")[1].split("\n<\n")[0]
    shown = nvim.lua(
        "local got; package.loaded.acp = { setup = function(s) got = s end }"
        " loadstring(...)() package.loaded.acp = nil return got",
        block,
    )
    defaults = nvim.lua("return require('acp.config').get()")
    assert shown.pop("keymaps") == []
    defaults.pop("keymaps")
    for settings in (shown, defaults):
        assert settings.pop("agents") in ([], {})
    assert flat(shown) == flat(defaults)
    # Those whose default is nothing are not in the table, but in the text: as the check knows them.
    wrong = {"zzz": 1, "agents": {"x": {"zzz": 1}}}
    problems = nvim.lua("return select(2, require('acp.settings').check(...))", wrong)
    known = {name for problem in problems for name in re.findall(r"\w+", problem.split("known are ")[1])}
    assert {"default_agent", "mcp_servers", "url"} <= known
    part = section("acp-settings")
    assert [name for name in sorted(known) if not re.search(rf"\b{name}\b", part)] == []


def test_functions(nvim: Neovim) -> None:
    there = nvim.lua("return vim.tbl_keys(require('acp'))")
    documented = set(re.findall(r"require\('acp'\)\.(\w+)", section("acp-lua")))
    assert documented | {"setup"} == set(there)


def test_fields_of_the_status(nvim: Neovim) -> None:
    source = (ROOT / "lua/acp/status.lua").read_text(encoding="utf-8")
    fields = re.findall(r"^    (\w+) = ", source.split("function M.get(")[1].split("\nend")[0], re.MULTILINE)
    assert len(fields) > 10
    assert [field for field in fields if f"`{field}`" not in section("acp-lua")] == []


def test_events() -> None:
    documented = set(re.findall(r"^\t(Acp\w+)\t", section("acp-events"), re.MULTILINE))
    fired = set(re.findall(r"fire\([^()]*?['\"](Acp\w+)['\"]", CODE))
    assert documented == fired


def test_highlight_groups(nvim: Neovim) -> None:
    there = set(nvim.funcs.getcompletion("Acp", "highlight"))
    assert there == set(re.findall(r"\bAcp\w+", section("acp-highlights")))


def test_icons(nvim: Neovim) -> None:
    part = section("acp-settings")
    names = set(re.findall(r"`(\w+)`", part[part.index("`icons`") : part.index("`keymaps`")]))
    assert names - {"icons", "auto", "unicode", "ascii"} == set(
        nvim.lua("return require('acp.icons').sets.unicode")
    )
