"""The only crossing into Neovim: calls of functions of our Lua modules.

Coroutines get an ``Editor`` and never a pynvim object: pynvim's blocking API fails inside a coroutine.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pynvim

_CALL = "local module, name = ... return require(module)[name](select(3, ...))"
# Nobody waits for what this returns. Neovim would show an error with its traceback, and wait for <Enter>.
_TELL = """
local module, name = ...
local ok, err = xpcall(function(...) require(module)[name](...) end, debug.traceback, select(3, ...))
if not ok then
  local text = ('error in %s.%s: :checkhealth acp has the details'):format(module, name)
  require('acp.message').error(text, vim.split(tostring(err), '\\n'))
end
"""


class NvimError(Exception):
    """A Lua function failed; the text is Lua's."""


class Editor:
    """Calls Lua functions of Neovim from the host's event loop, and only from there."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        # The one private access to pynvim (pinned below 0.7): its callback layer, which needs no greenlets
        # and takes about half the time of async_call.
        self._rpc: Any = nvim._session._async_session
        self.loop: asyncio.AbstractEventLoop = nvim.loop

    def notify(self, module: str, function: str, *args: Any) -> None:
        """Call ``require(module)[function](*args)`` without waiting; the user is told of an error."""
        self._rpc.notify("nvim_exec_lua", [_TELL, [module, function, *valid(args)]])

    async def call(self, module: str, function: str, *args: Any) -> Any:
        """Return what ``require(module)[function](*args)`` returns. Raises NvimError.

        Cancelling is safe: the late answer is dropped.
        """
        future: asyncio.Future[Any] = self.loop.create_future()

        def settle(error: Any, value: Any) -> None:
            if future.done():  # the caller was cancelled
                return
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(NvimError(_text(error)))

        self._rpc.request("nvim_exec_lua", [_CALL, [module, function, *valid(args)]], settle)
        return await future


def valid(value: Any) -> Any:
    """Return ``value`` with text that UTF-8 can encode: lone surrogates become U+FFFD.

    pynvim would encode them as bytes that are no UTF-8, or raise in the middle of a frame. Values without any
    (nearly all) are returned as they are.
    """
    if isinstance(value, str):
        return (
            value if _encodes(value) else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {valid(key): valid(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [valid(item) for item in value]
    return value


def _encodes(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(error: Any) -> str:
    """Return the message of an RPC error, which is ``[code, message]``."""
    message = error[1] if isinstance(error, list | tuple) and len(error) > 1 else error
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
