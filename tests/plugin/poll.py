"""Wait for something with a deadline: the only way a test may wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 15.0
"""Seconds a test waits for something that should happen soon; generous, because machines are shared."""


def eventually(
    fn: Callable[[], T],
    timeout: float = PATIENCE,
    message: str | Callable[[], str] = "",
    interval: float = 0.01,
) -> T:
    """Call ``fn`` until it returns something true, and return that.

    An AssertionError raised by ``fn`` counts as "not yet". After ``timeout`` seconds raises AssertionError
    with ``message`` (a text, or a function that makes one, e.g. what is on the screen) and the last answer.
    """
    deadline = time.monotonic() + timeout
    while True:
        failure: AssertionError | None = None
        value: T | None = None
        try:
            value = fn()
        except AssertionError as error:
            failure = error
        if failure is None and value:
            return value
        if time.monotonic() >= deadline:
            text = message() if callable(message) else message
            last = f"last failure: {failure}" if failure else f"last value: {value!r}"
            raise AssertionError(f"{text or 'it did not happen'} within {timeout:g} s ({last})")
        time.sleep(interval)
