"""What the faulty agent writes, and what becomes of it on the way. Standard library only."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import threading
import time
from typing import Any, ClassVar

Json = dict[str, Any]


class Log:
    """One line for each thing, written at once: a kill cuts none."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def __call__(self, **row: Any) -> None:
        os.write(self._fd, (json.dumps({"pid": os.getpid(), **row}) + "\n").encode())


class Wire:
    """What is written, and what goes wrong with it."""

    FAULTS: ClassVar = {
        "cut": 1, "kill": 1, "close": 1, "exit": 1, "drop": 3, "split": 8, "delay": 8, "twice": 6, "later": 8,
        "corrupt": 6, "shorten": 4, "stray": 6, "flood": 2, "stderr": 2, "unknown": 4, "deep": 2,
    }  # fmt: skip
    ENTRIES: ClassVar[list[Any]] = [
        7, None, {}, "x", [], [[]], {"jsonrpc": "2.0"}, {"jsonrpc": "2.0", "id": "never"}, {"method": 7},
        {"jsonrpc": "2.0", "id": "never", "result": {}}, {"method": "session/update"}, {"id": None},
    ]  # fmt: skip
    """What an array may have beside messages."""

    def __init__(self, rng: random.Random, rate: float, log: Log, batches: str) -> None:
        """``batches``: whether the client takes arrays (yes), refuses them (no), or gets none (empty)."""
        self._rng = rng
        self._batches = batches
        self._rate = rate
        self._log = log
        self._lock = threading.RLock()
        self._held: list[Json] = []

    def send(self, message: Json) -> None:
        """Write a message, or what becomes of it."""
        with self._lock:
            message = {"jsonrpc": "2.0", **message}
            held, self._held = self._held, []
            fault = "" if self._rng.random() >= self._rate else self._pick()
            if fault == "later":
                self._held = [message]
            elif fault:
                getattr(self, f"_{fault}")(message)
            else:
                self._whole(message)
            for each in held:
                self._whole(each)

    def flush(self) -> None:
        """Write what was held back."""
        with self._lock:
            held, self._held = self._held, []
            for each in held:
                self._whole(each)

    def _pick(self) -> str:
        kinds = {**self.FAULTS, **({"batch": 40} if self._batches else {})}
        return self._rng.choices(list(kinds), list(kinds.values()))[0]

    def _whole(self, message: Any) -> None:
        self._note(message, True)
        self._put(line(message))

    def _note(self, message: Any, clean: bool) -> None:
        for each in message if isinstance(message, list) else [message]:
            if isinstance(each, dict) and "method" in each and "id" in each:
                params = each.get("params", {})
                path, session = params.get("path"), params.get("sessionId")
                whole = clean and (self._batches == "yes" or not isinstance(message, list))
                self._log(asked=each["id"], method=each["method"], clean=whole, path=path, session=session)

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(1, view) :]
            except OSError:
                self._log(lost="broken pipe")
                os._exit(0)

    def _cut(self, message: Any) -> None:
        self._note(message, False)
        data = line(message)
        self._log(lost="cut")
        self._put(data[: self._rng.randrange(len(data))])
        os._exit(self._rng.choice([0, 1, 137]))

    def _kill(self, message: Any) -> None:
        self._log(lost="kill")
        os.kill(os.getpid(), signal.SIGKILL)

    def _exit(self, message: Any) -> None:
        self._log(lost="exit")
        os._exit(self._rng.choice([0, 3]))

    def _close(self, message: Any) -> None:
        self._log(lost="close")
        os.close(1)
        os.open(os.devnull, os.O_WRONLY)

    def _drop(self, message: Json) -> None:
        pass

    def _split(self, message: Any) -> None:
        self._note(message, True)
        data = line(message)
        for at in sorted(self._rng.randrange(len(data)) for _ in range(3)):
            part, data = data[:at], data[at:]
            self._put(part)
            time.sleep(self._rng.random() * 0.004)
        self._put(data)

    def _delay(self, message: Json) -> None:
        time.sleep(self._rng.random() * 0.05)
        self._whole(message)

    def _twice(self, message: Json) -> None:
        for _ in range(self._rng.randint(2, 4)):
            self._whole(message)

    def _corrupt(self, message: Any) -> None:
        self._note(message, False)
        data = bytearray(line(message)[:-1])
        for _ in range(self._rng.randint(1, 8)):
            data[self._rng.randrange(len(data))] = self._rng.randrange(256)
        self._damaged(bytes(data))

    def _damaged(self, data: bytes) -> None:
        """What may still be understood of it is asked for, too."""
        with contextlib.suppress(ValueError, RecursionError):
            tree = json.loads(data.decode("utf-8", "replace"))
            for each in tree if isinstance(tree, list) else [tree]:
                with contextlib.suppress(KeyError, TypeError):
                    params = each["params"]
                    self._log(token="damaged", path=str(params["path"]), text=str(params["content"]))
        self._put(data + b"\n")

    def _shorten(self, message: Any) -> None:
        self._note(message, False)
        data = line(message)[:-1]
        first = self._rng.randrange(len(data))
        self._damaged(data[:first] + data[first + self._rng.randint(1, 40) :])

    def _batch(self, message: Json) -> None:
        """An array: of the message, perhaps more than once, of what was held back, and of what is none."""
        entries: list[Any] = [message] * self._rng.choice([1, 1, 1, 2, 3])
        held, self._held = self._held, []
        entries += held
        for _ in range(self._rng.choice([0, 1, 3, 30])):
            made: Json = {"id": f"b{self._rng.random()}", "method": "fs/no_such", "params": {}}
            entries.append(self._rng.choice([*self.ENTRIES, {"jsonrpc": "2.0", **made}]))
        self._rng.shuffle(entries)
        how = self._rng.choice(
            ["whole"] * 6 + ["corrupt", "shorten", "split"] + ["cut"] * (self._rng.random() < 0.1)
        )
        if how == "whole":
            self._note(entries, self._batches == "yes")
            self._put(line(entries))
        else:
            getattr(self, f"_{how}")(entries)

    def _stray(self, message: Json) -> None:
        stray = [
            b"npm warn deprecated\n", b"\xff\xfe\x00\n", b"[]\n", b"null\n", b'{"jsonrpc":"2.0"}\n', b"{}\n",
            b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}\n', b"\r\n\n", b'"id"\n',
        ]  # fmt: skip
        self._put(self._rng.choice(stray))
        self._whole(message)

    def _flood(self, message: Json) -> None:
        session = message.get("params", {}).get("sessionId", "never")
        update = {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "flood \n" * 20},
        }
        flood = line(update_of(session, {**update, "messageId": "flood"}))
        self._put(flood * self._rng.randint(100, 1500))
        self._whole(message)

    def _stderr(self, message: Json) -> None:
        os.write(2, b"\x1b[31mwarning \xff\n" * 500)
        self._whole(message)

    def _unknown(self, message: Json) -> None:
        unknown: list[Json] = [
            {"id": self._rng.randint(0, 40), "result": {}},
            {"id": "never", "error": {"code": -32603, "message": "no\nsuch\x1b[0m"}},
            {"method": "session/update", "params": {"sessionId": "other", "update": {"sessionUpdate": "?"}}},
            {"method": "$/cancel_request", "params": {"requestId": "never"}},
            {"method": "session/update", "params": None},
            {"id": f"u{self._rng.random()}", "method": "fs/no_such", "params": {}},
        ]
        self._whole({"jsonrpc": "2.0", **self._rng.choice(unknown)})
        self._whole(message)

    def _deep(self, message: Json) -> None:
        self._put(b'{"jsonrpc":"2.0","method":"session/update","params":' + b"[" * 20_000 + b"\n")
        self._whole(message)


def token_text(token: str, lines: int) -> str:
    """A text of which one can tell whether it is whole."""
    return f"<{token}>\n" * lines + f"</{token}>\n"


def update_of(session: str, update: Json) -> Json:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}}


def line(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"
