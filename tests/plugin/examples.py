"""How many examples a property is tried with: few in ``make test``, many in ``make test-long``."""

from __future__ import annotations

from typing import Any

from hypothesis import settings

_USUAL = 100  # of hypothesis, and of the profile of ``make test``


def examples(count: int, **more: Any) -> settings:
    """Settings with so many examples, in ``make test-long`` with as many times more as others have there."""
    return settings(max_examples=count * settings().max_examples // _USUAL, **more)
