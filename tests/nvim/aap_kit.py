"""A chat with an agent of the tests' own AAP server, in a Neovim with a screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.agents.aap_server import AapServer
from tests.nvim.trouble import Chat, open_chat
from tests.plugin import StartScreen

KEY = "sk-hush-hush-123"


def remote(server: AapServer, **settings: Any) -> dict[str, Any]:
    """The settings of an agent that is reached over HTTP."""
    return {"protocol": "aap", "url": server.url, **settings}


@contextmanager
def chatting(
    start_screen: StartScreen,
    server: AapServer,
    settings: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Chat]:
    """A chat that is ready."""
    with server:
        chat = open_chat(start_screen, remote(server, **(settings or {})), **options)
        chat.until("ready in")
        chat.until_state("idle")
        yield chat
