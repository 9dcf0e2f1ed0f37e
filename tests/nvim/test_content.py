"""Opening what an agent sent: pictures, embedded texts, links. Nothing without a key, nothing unseen."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest
from tests.agents.fixtures import Json, MakeAgent
from tests.nvim.cases.kit import update
from tests.nvim.content_kit import (
    PNG,
    cache,
    embedded,
    image,
    link,
    message,
    opened,
    play,
    press,
    wait_opened,
    wait_said,
)
from tests.plugin import Screen, StartScreen, eventually

# -- pictures and sounds


@pytest.mark.req("V1-93", "V1-98")
def test_a_picture_between_texts_opens_from_a_file_of_ours(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    actions = [
        {"say": "before"},
        *message(image(uri="file:///x/../evil.desktop")),
        {"say": "after *it*"},
        {"say": " all"},
    ]
    chat = play(start_screen, agent, actions)
    screen = chat.screen
    at = screen.lines(chat.buf).index("before")
    assert screen.lines(chat.buf)[at : at + 3] == [
        "before",
        "  image  image/png, 208 B  file:///x/../evil.desktop",
        "after *it* all",
    ]
    row, col = screen.find("image  image/png")
    assert screen.groups_at(row, col) == ["Special"]  # AcpContext
    assert cache(screen) == []
    press(chat, "image  image/png")
    (target,) = wait_opened(screen)
    path = Path(target)
    assert path.read_bytes() == PNG
    assert path.suffix == ".png"
    assert path.is_relative_to(screen.home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    press(chat, "image  image/png", "gx")
    assert wait_opened(screen, 2) == [target, target]
    assert screen.messages() == ""
    screen.keys(":qa!<CR>")
    screen.wait_exit()
    eventually(lambda: not path.parent.exists(), message="the file outlives the host")


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (image(b"<svg onload='x()'/>", "image/svg+xml"), "image/svg+xml is not opened"),
        (image(b"<html>", "image/png"), "it is no image/png"),
        (image(PNG, "image/png.desktop"), "image/png.desktop is not opened"),
        (embedded("file:///x.exe", blob="TVo="), "no type is not opened"),
    ],
)
@pytest.mark.req("V1-98")
def test_what_is_not_known_is_saved_and_not_opened(
    start_screen: StartScreen, agent: MakeAgent, block: Json, why: str
) -> None:
    chat = play(start_screen, agent, message(block))
    press(chat, f"  {block['type']}")
    wait_said(chat, f"not opened, {why}; saved as")
    (path,) = [path for path in cache(chat.screen) if path.name != ".lock"]
    assert path.suffix == ".bin"
    assert str(path).removeprefix(str(chat.screen.home)) in chat.screen.messages().replace("\n", "")
    assert opened(chat.screen) == []


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (image("not base64!"), "the data of this image is damaged"),
        (image(""), "this image is empty"),
        ({"type": "hologram", "z": 1}, "nobody knows how to open this"),
        (link("mailto:a@x.org"), "not opened: mailto:a@x.org is no address of the web"),
        (link("javascript:alert(1)"), "not opened: javascript:alert(1)"),
        (link("file://host/share"), "not opened: file://host/share"),
        (link("file:///nonexistent/a%00b"), "not a path"),
        (link("file:///nonexistent/a"), "no such file"),
        (link("file:///dev/zero"), "not a regular file"),
        (link("file:///"), "a folder"),
        (link("nothing"), "not opened: nothing"),
        (link("https://x.org/\u202e"), "this address is not opened: it has blanks, invisible characters"),
        (link("https://x.org\\@good.org/"), "this address is not opened"),
        (link("https://x.org/" + "y" * 9000), "it is too long to be shown in full"),
    ],
)
def test_what_cannot_be_opened_says_why(
    start_screen: StartScreen, agent: MakeAgent, block: Json, said: str
) -> None:
    chat = play(start_screen, agent, message(block))
    words = {"resource_link": "link", "hologram": "unknown"}
    press(chat, f"  {words.get(block['type'], block['type'])}")
    wait_said(chat, said)
    assert opened(chat.screen) == []
    assert [path for path in cache(chat.screen) if path.name != ".lock"] == []


def test_an_image_plugin_may_show_it(start_screen: StartScreen, agent: MakeAgent) -> None:
    init = """
    vim.api.nvim_create_autocmd('User', { pattern = 'AcpContent', callback = function() end })
    """
    audio = {"type": "audio", "data": base64.b64encode(b"fLaC....").decode(), "mimeType": "audio/flac"}
    chat = play(start_screen, agent, message(image(), audio), init=init)
    press(chat, "image  image/png")
    eventually(lambda: chat.events("AcpContent"))
    press(chat, "audio  audio/flac")
    eventually(lambda: len(chat.events("AcpContent")) == 2)
    first, second = chat.events("AcpContent")
    assert (first["type"], first["mime"], Path(first["path"]).suffix) == ("image", "image/png", ".png")
    assert (second["type"], second["mime"], Path(second["path"]).suffix) == ("audio", "audio/flac", ".flac")
    assert opened(chat.screen) == []


IMAGE_PLUGIN = """
_G.attached = {}
-- How such plugins find their buffers: by filetype, or by a parser of a language that can hold pictures.
vim.api.nvim_create_autocmd({ 'FileType', 'BufWinEnter' }, {
  callback = function(args)
    local ft = vim.bo[args.buf].filetype
    local lang = vim.treesitter.language.get_lang(ft) or ''
    if vim.tbl_contains({ 'markdown', 'html', 'css', 'latex', 'typst', 'norg' }, lang) then
      table.insert(_G.attached, vim.api.nvim_buf_get_name(args.buf))
    end
  end,
})
"""


def test_pictures_in_markdown_are_not_fetched(start_screen: StartScreen, agent: MakeAgent) -> None:
    evil = "![x](http://127.0.0.1:1/track.png)\n<img src='http://127.0.0.1:1/t.png'>\n"
    actions: list[Json] = [
        {"say": evil},
        update("agent_thought_chunk", content={"type": "text", "text": evil}),
        *message(embedded("file:///x/README.md", text=evil, mimeType="text/markdown")),
        *message(embedded("file:///x/a.html", text=evil, mimeType="text/html")),
    ]
    chat = play(start_screen, agent, actions, init=IMAGE_PLUGIN)
    screen = chat.screen
    for name in ("README.md", "a.html"):
        screen.api.set_current_win(screen.funcs.bufwinid(chat.buf))
        press(chat, f"file:///x/{name}")
        screen.wait(f"{name}  sent by x")
        assert screen.lines()[0] == evil.split("\n")[0]
    screen.wait("track.png")
    assert screen.lua("return _G.attached") == []
    has_parser = "local ok, p = pcall(vim.treesitter.get_parser, ...) return ok and p ~= nil"
    assert not screen.lua(has_parser, chat.buf)
    assert screen.lua("return vim.bo[...].filetype", chat.buf) == "acp-chat"


# -- links


@pytest.mark.parametrize("key", ["<CR>", "gx", "gf"])
def test_an_address_is_shown_in_full_before_it_is_opened(
    start_screen: StartScreen, agent: MakeAgent, key: str
) -> None:
    url = "https://good.example@evil.example:8443/" + "path/" * 50 + "end?q=1#x"
    chat = play(start_screen, agent, message(link(url)))
    screen = chat.screen
    press(chat, "link  here", key)
    screen.wait("open this address?")
    shown = "".join(row.strip("│ ") for row in float_rows(screen))
    assert url in shown
    assert "host  evil.example" in shown
    assert "what stands before the @ is not the host" in shown
    assert "an unusual port: 8443" in shown
    assert opened(screen) == []
    screen.keys("<CR>")  # on the address: nothing is preselected
    screen.keys("q")
    screen.wait(lambda text: "open this address?" not in text)
    assert opened(screen) == []
    press(chat, "link  here", key)
    screen.wait("open this address?")
    screen.keys("1")
    assert wait_opened(screen) == [url]


def float_rows(screen: Screen) -> list[str]:
    code = """
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(win).relative ~= '' then
        return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false)
      end
    end
    return {}
    """
    return list(screen.lua(code))


def test_the_consent_is_not_given_to_a_picker_of_the_users(
    start_screen: StartScreen, agent: MakeAgent
) -> None:
    """A picker may cut the address, or choose by what is typed ahead."""
    init = "vim.ui.select = function(items, _, on_choice) on_choice(items[1], 1) end\n"
    chat = play(start_screen, agent, message(link("https://x.example/")), init=init)
    press(chat, "link  here")
    chat.screen.wait("host  x.example")
    assert opened(chat.screen) == []


def test_an_answer_before_the_end_was_seen_only_scrolls(start_screen: StartScreen, agent: MakeAgent) -> None:
    url = "https://x.example/" + "y" * 6000
    chat = play(start_screen, agent, message(link(url)))
    screen = chat.screen
    press(chat, "link  here")
    screen.wait("open this address?")
    screen.keys("1")
    screen.wait("host  x.example")
    assert opened(screen) == []
    screen.keys("1")
    assert wait_opened(screen) == [url]


@pytest.mark.parametrize(
    "opener",
    ["return nil, 'no handler found'", "error('broken')", "return vim.system({ 'false' })"],
)
def test_a_program_that_fails_is_told(start_screen: StartScreen, agent: MakeAgent, opener: str) -> None:
    chat = play(start_screen, agent, message(image()), init=f"vim.ui.open = function() {opener} end\n")
    press(chat, "image  image/png")
    wait_said(chat, "no program could be opened; the file is ~/")


def test_gx_on_a_word_of_the_answer_asks_too(start_screen: StartScreen, agent: MakeAgent) -> None:
    text = "see [the manual](https://evil.example/a_(b)) and https://x.example/c.\n"
    chat = play(start_screen, agent, [{"say": text}])
    screen = chat.screen
    press(chat, "manual", "gx")
    screen.wait("host  evil.example")
    screen.keys("q")
    press(chat, "x.example", "gx")
    screen.wait("host  x.example")
    assert float_rows(screen)[0] == "https://x.example/c"
    screen.keys("2")
    eventually(lambda: screen.funcs.getreg('"') == "https://x.example/c")
    assert opened(screen) == []
    press(chat, "see", "gx")
    wait_said(chat, "no address here")


@pytest.mark.parametrize("key", ["<CR>", "gf", "gx"])
@pytest.mark.req("V1-100")
def test_a_file_in_the_project_opens_at_its_line(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path, key: str
) -> None:
    (tmp_path / "a b%.py").write_text("".join(f"line {n}\n" for n in range(1, 40)))
    uri = (tmp_path / "a b%.py").as_uri() + "#L10-L12"
    chat = play(start_screen, agent, message(link(uri)), cwd=tmp_path)
    screen = chat.screen
    press(chat, "link  here", key)
    eventually(lambda: Path(screen.api.buf_get_name(0)).name == "a b%.py", message=screen.text)
    assert screen.api.win_get_cursor(0)[0] == 10
    assert opened(screen) == []


@pytest.mark.req("V1-100")
def test_a_file_elsewhere_is_asked_about_by_its_real_path(
    start_screen: StartScreen, agent: MakeAgent, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.txt").write_text("secret\n")
    (project / "link.txt").symlink_to(tmp_path / "secret.txt")
    chat = play(start_screen, agent, message(link((project / "link.txt").as_uri())), cwd=project)
    screen = chat.screen
    press(chat, "link  here")
    screen.wait("open this file?")
    real = str((tmp_path / "secret.txt").resolve())
    assert float_rows(screen)[:3] == [real, "", "outside the project"]
    screen.keys("q")
    screen.wait(lambda text: "open this file?" not in text)
    assert screen.api.get_current_buf().number == chat.buf
    press(chat, "link  here", "gf")
    screen.wait("open this file?")
    screen.keys("1")
    eventually(lambda: screen.api.buf_get_name(0) == real)
