"""The agent's own login in a terminal of Neovim (V1-38, V1-39)."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import anyio

from acp_nvim.editor import Editor, NvimError
from acp_nvim.process.ending import end_family
from acp_nvim.process.environment import MARKER, LaunchError, find_command
from acp_nvim.process.spawn import Spawner
from acp_nvim.session.entities import Failure
from acp_nvim.session.ports import AgentError

from .launch import Launch
from .payloads import LoginEnded

#: Seconds Neovim has to open a terminal: longer, and it is not told of in time.
OPEN_TIME = 10.0


@dataclass(slots=True)
class _Run:
    ended: anyio.Event = field(default_factory=anyio.Event)
    code: int | None = None


class LoginTerminals:
    """Runs the logins and hears how they ended. The windows are Lua's: ``acp.login``."""

    def __init__(self, editor: Editor, spawner: Spawner) -> None:
        self._editor = editor
        self._spawner = spawner
        self._reaper = spawner.reaper
        self._numbers = count(1)
        self._runs: dict[int, _Run] = {}

    def ended(self, request: LoginEnded) -> None:
        """Lua tells that a terminal's process has ended, or that the user has closed it."""
        run = self._runs.get(request.id)
        if run is not None:
            run.code = None if request.closed else request.code
            run.ended.set()

    async def run(
        self,
        chat: int,
        title: str,
        launch: Launch,
        args: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        *,
        enter: bool,
    ) -> int | None:
        """Run the agent's command with ``args`` appended and ``env`` set over its environment.

        Returns the exit status; None: the user closed the terminal. After status 0 the terminal is gone, and
        what the login has left running on purpose lives on (a browser); else all of it is ended. ``enter``:
        the cursor goes there. Raises AgentError when it cannot be run. Cancelling closes the terminal.
        """
        number, run, marker = next(self._numbers), _Run(), str(uuid.uuid4())
        base = self._spawner.environment(launch.env)  # as the agent itself gets it
        argv = [*launch.argv, *args]
        try:
            # Found before the method's variables are set: they must not choose another program (V1-39).
            program = find_command(argv, cwd=cwd, path=base.get("PATH", os.defpath))
        except LaunchError as error:
            raise AgentError(Failure(str(error), kind="invalid", data=error.details)) from error
        self._runs[number] = run
        self._reaper.watch(marker)
        pid = 0
        try:
            pid = await self._open(
                chat,
                {
                    "id": number,
                    "title": title,
                    "argv": [program, *argv[1:]],
                    "cwd": cwd,
                    "env": {**base, **env, MARKER: marker},
                    "enter": enter,
                },
            )
            self._reaper.watch(marker, pid)
            await run.ended.wait()
        except BaseException:
            self._editor.notify("acp.login", "stop", number)
            raise
        finally:
            del self._runs[number]
            if run.code != 0 and pid:
                await end_family(pid, marker)
            self._reaper.forget(marker)
        if run.code == 0:
            self._editor.notify("acp.login", "close", number)
        return run.code

    async def _open(self, chat: int, request: dict[str, object]) -> int:
        """Not interrupted: a process that was started must be known."""
        opened: object = "Neovim does not answer"
        try:
            with anyio.move_on_after(OPEN_TIME, shield=True):
                opened = await self._editor.call("acp.login", "open", chat, request)
        except NvimError as error:
            raise AgentError(Failure(f"no terminal could be opened: {error}")) from error
        if isinstance(opened, int) and opened > 0:
            return opened
        raise AgentError(Failure(f"no terminal could be opened: {opened}"))
