"""The log-in of the demo, if it is started with one. There are no accounts: it is to see how that goes."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

from .offered import Offered
from .peer import AUTH_REQUIRED, INVALID_PARAMS, Json, RpcError

ARGUMENT = "--sign-in"
GUEST = {"id": "guest", "name": "As a guest", "description": "at once; nothing is asked"}
TERMINAL = {
    "type": "terminal",
    "id": "terminal",
    "name": "With a name",
    "description": "asks for any name, in a terminal",
    "args": [ARGUMENT],
    "env": {},
}


class Login:
    """Who is logged in. ``wanted``: a log-in is needed. ``folder``: where other processes see it too."""

    def __init__(self, wanted: bool, folder: Path | None) -> None:
        self.wanted = wanted
        self._path = folder / "login" if folder is not None else None
        self._guest = False

    def methods(self, client: Offered) -> list[Json]:
        """What ``initialize`` offers: the terminal only where the client runs it and its result is kept."""
        if not self.wanted:
            return []
        return [GUEST, TERMINAL] if client.login and self._path is not None else [GUEST]

    def check(self) -> None:
        """Raises RpcError as long as nobody is logged in (V1-41)."""
        if self.wanted and not self._guest and not (self._path is not None and self._path.exists()):
            raise RpcError(AUTH_REQUIRED, "The demo was started with a log-in, and you are not logged in.")

    def authenticate(self, method: Any) -> None:
        """The method of type agent. Raises RpcError for any other."""
        if not self.wanted or method != GUEST["id"]:
            raise RpcError(INVALID_PARAMS, f"There is no such method to log in: {method!r}.")
        self._guest = True
        if self._path is not None:
            with contextlib.suppress(OSError):  # then only this process knows
                self.keep("guest")

    def keep(self, name: str) -> None:
        """Remember who is logged in. Raises OSError."""
        assert self._path is not None, "only with a folder"
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.write_text(name + "\n", encoding="utf-8")

    def forget(self) -> None:
        """Log out."""
        self._guest = False
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)

    def sign_in(self) -> int:
        """The log-in in a terminal: an exit status, 0 for success (V1-38)."""
        sys.stdout.write("The demo agent has no accounts: any name will do. An empty one is a refusal.\n\n")
        try:
            name = input("Your name: ").strip()
            if not name:
                sys.stdout.write("No name, no log-in.\n")
                return 1
            self.keep(name)
        except (EOFError, KeyboardInterrupt):
            return 1
        except OSError as error:
            sys.stderr.write(f"This cannot be remembered: {error.strerror}.\n")
            return 1
        sys.stdout.write(f"Welcome, {name}.\n")
        return 0
