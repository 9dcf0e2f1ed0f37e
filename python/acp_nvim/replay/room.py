"""The scratch folder of a replay, and how the recording's paths and commands are brought into it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .acts import path_of
from .recording import Entry, Json, answer_to

_SAFE = re.compile(r"[^A-Za-z0-9._-]+")


def safe_name(text: str, default: str) -> str:
    """A file's name made of this."""
    name = _SAFE.sub("-", text).strip(".-")[:40]
    return name or default


@dataclass(slots=True)
class Room:
    """``project`` is where the session works; nothing is read or written outside of ``folder``."""

    folder: Path
    project: Path
    recorded: str | None  # the folder the recorded session worked in
    commands: int = 0

    @classmethod
    def named(cls, folder: Path, recorded: str | None) -> Room:
        """The room of a recording, in a folder of its own."""
        name = safe_name(PurePosixPath(recorded).name if recorded else "", "project")
        return cls(folder, folder / "ws" / name, recorded)

    def into(self, value: Any) -> Any:
        """All texts of a value, with the recorded folder replaced."""
        if self.recorded is None:
            return value
        pattern = re.compile(re.escape(self.recorded.rstrip("/")) + r"(?![\w-])")
        return _mapped(value, lambda text: pattern.sub(lambda _: str(self.project), text))

    def out_of(self, text: str) -> str:
        """A text of the replay, with the recorded folder put back."""
        text = text.replace(f"{self.project}/outside/", "/")
        text = text.replace(str(self.project), self.recorded or "$PROJECT")
        return text.replace(str(self.folder), "$REPLAY")

    def inside(self, path: str) -> str:
        """A path of a request, kept within the project, whatever it says."""
        wanted = Path(os.path.normpath(self.project / str(self.into(path))))
        if wanted != self.project and self.project in wanted.parents:
            return str(wanted)
        parts = [part for part in wanted.parts if part.strip("/") and part != ".."]  # “//” is a root, too
        return str(self.project.joinpath("outside", *parts))

    def request(self, entries: Sequence[Entry], request: Entry) -> Json:
        """A request of the agent that can be made here: its paths are inside, its command is harmless."""
        if request.method != "terminal/create":
            message: Json = self._kept_inside(self.into(request.message))
            return message
        assert request.message is not None
        return {**request.message, "params": self._command(entries, request, dict(request.params))}

    def _kept_inside(self, value: Any) -> Any:
        """With all paths of files within the project: what is proposed is compared with the file there."""
        if isinstance(value, list):
            return [self._kept_inside(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            name: self.inside(item)
            if name == "path" and isinstance(item, str) and item.startswith(("/", "~"))
            else self._kept_inside(item)
            for name, item in value.items()
        }

    def furnish(self, entries: Sequence[Entry]) -> None:
        """Write the files the agent found, as far as the recording tells."""
        self.project.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            blocks = entry.params.get("prompt") if entry.direction == "out" else None
            for block in blocks if isinstance(blocks, list) else []:
                inner = block.get("resource") if isinstance(block, dict) else None
                if isinstance(inner, dict):
                    self._put(path_of(block), inner.get("text"))
            if entry.direction != "in" or entry.message is None:
                continue
            if entry.method == "fs/read_text_file" and not entry.params.get("line"):
                answer = answer_to(entries, entry)
                content = (answer.result or {}).get("content") if answer is not None else None
                self._put(entry.params.get("path"), content)
            for part in _diffs(entry.message):
                self._put(part.get("path"), part.get("oldText"))

    def _put(self, path: Any, text: Any) -> None:
        if not isinstance(path, str) or not isinstance(text, str) or not path:
            return
        target = Path(self.inside(path))
        if not os.path.lexists(target):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8", errors="replace", newline="")
            except OSError:
                return  # a folder where a file should be: the agent's request fails then

    def _command(self, entries: Sequence[Entry], request: Entry, params: Json) -> Json:
        """No recorded command is run: in its place one that prints what was recorded of it."""
        output, code, ended = _outcome(entries, request)
        self.commands += 1
        place = self.folder / "bin" / str(self.commands)
        place.mkdir(parents=True, exist_ok=True)
        given = str(params.get("command") or "").split()
        program = place / safe_name(PurePosixPath(given[0]).name if given else "", "command")
        (place / "output").write_text(str(self.into(output)), encoding="utf-8", errors="replace", newline="")
        end = f"exit {code}" if ended else "exec sleep 3600"  # it was ended from outside
        program.write_text(f"#!/bin/sh\ncat {shlex.quote(str(place / 'output'))}\n{end}\n", encoding="utf-8")
        program.chmod(0o700)
        kept = {name: params[name] for name in ("sessionId", "args", "outputByteLimit") if name in params}
        return {**self.into(kept), "command": str(program), "cwd": str(self.project)}


def _outcome(entries: Sequence[Entry], request: Entry) -> tuple[str, int, bool]:
    """What is known of a recorded command: output, exit code, and whether it ended by itself."""
    created = answer_to(entries, request)
    ident = (created.result or {}).get("terminalId") if created is not None else None
    output, code, ended = "", 0, False
    for entry in entries:
        if entry.direction != "in" or ident is None or entry.params.get("terminalId") != ident:
            continue
        if entry.method == "terminal/kill":
            break
        answer = answer_to(entries, entry) if entry.ident is not None else None
        result = (answer.result if answer is not None else None) or {}
        said = result.get("output")
        if isinstance(said, str) and len(said) >= len(output):
            output = said
        status = result.get("exitStatus") if entry.method == "terminal/output" else result
        if isinstance(status, dict) and ("exitCode" in status or "signal" in status):
            number = status.get("exitCode")
            code, ended = (number & 255 if isinstance(number, int) else 1), True
    return output, code, ended


def _diffs(value: Any) -> list[Json]:
    """The changes of files in a message."""
    if isinstance(value, list):
        return [each for item in value for each in _diffs(item)]
    if not isinstance(value, dict):
        return []
    found = [value] if value.get("type") == "diff" and "oldText" in value else []
    return found + [each for item in value.values() for each in _diffs(item)]


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {change(name): _mapped(item, change) for name, item in value.items()}
    return value
