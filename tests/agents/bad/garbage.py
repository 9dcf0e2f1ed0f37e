#!/usr/bin/env python3
"""An agent that writes bytes without sense: control characters, broken UTF-8 and JSON; always the same."""

from __future__ import annotations

import random
import sys


def main() -> None:
    chance = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    pieces = [
        b"\n",
        b"{",
        b"}",
        b'{"jsonrpc":"2.0",',
        b'"id":0,',
        b'"result":{}}',
        b"\xff\xfe",
        b"\x1b[2J",
        b"\0",
        b"[" * 99,
    ]
    for _ in range(20_000):
        sys.stdout.buffer.write(chance.choice(pieces) if chance.random() < 0.5 else chance.randbytes(9))
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
