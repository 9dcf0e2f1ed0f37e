"""A command that writes much: ``python -m bench.noise BYTES COLOUR``; with 1 also sequences, cut anywhere."""

from __future__ import annotations

import os
import sys

PIECE = 4099  # a prime: what is written at once ends in the middle of lines and sequences
PLAIN = "".join(f"{n:5} compiling module_{n}.c with all the flags there are\n" for n in range(500))
COLOURED = "".join(
    f"\x1b[3{n % 8}m{n:5}\x1b[0m \x1b[1mcompiling\x1b[22m\x1b]0;{n}\x07 m\u00f6dule_{n}.c\r\n"
    for n in range(500)
)


def main() -> None:
    size, colour = int(sys.argv[1]), sys.argv[2] == "1"
    text = (COLOURED if colour else PLAIN).encode()
    block = text * (PIECE * 2 // len(text) + 2)
    at = written = 0
    while written < size:
        piece = block[at : at + PIECE]
        at = (at + len(piece)) % len(text)
        while piece:
            sent = os.write(1, piece)
            written += sent
            piece = piece[sent:]


if __name__ == "__main__":
    main()
