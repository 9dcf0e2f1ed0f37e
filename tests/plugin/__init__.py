"""The project's pytest plugin: a real Neovim for tests, headless or with a screen."""

from ..agents.fixtures import _agents, agent, unchecked_agent
from .examples import examples
from .fixtures import (
    StartNvim,
    StartScreen,
    _started,
    anyio_backend,
    nvim,
    screen,
    short_tmp,
    start_nvim,
    start_screen,
)
from .neovim import ROOT, Neovim, Options, find_binary
from .poll import PATIENCE, eventually
from .processes import kill, marked, none_left
from .requirements import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
from .screen import Screen

__all__ = (
    "PATIENCE",
    "ROOT",
    "Neovim",
    "Options",
    "Screen",
    "StartNvim",
    "StartScreen",
    "_agents",
    "_started",
    "agent",
    "anyio_backend",
    "eventually",
    "examples",
    "find_binary",
    "kill",
    "marked",
    "none_left",
    "nvim",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "screen",
    "short_tmp",
    "start_nvim",
    "start_screen",
    "unchecked_agent",
)
