"""What the demo remembers of a session when its process ends: a small file, in a folder it is given."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from pathlib import Path

from .history import History
from .peer import Json
from .project import Project
from .session import Session
from .settings import Settings

_ID = re.compile(r"demo-[0-9a-f]{16}")


class Memory:
    """``folder``: absolute, made when needed. Whoever started the demo decides how long it is kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def new_id(self) -> str:
        """An id that no other process has given."""
        return f"demo-{secrets.token_hex(8)}"

    def save(self, session: Session) -> None:
        """Remember a session. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{session.id}.json"
        draft = path.with_suffix(f".{os.getpid()}")
        known = {
            "always": sorted(session.always),
            "titled": session.titled,
            "title": session.title,
            "updated": session.updated,
            "cwd": str(session.project.cwd),
            "history": session.history.updates,
            "characters": session.characters,
            "life": session.life,
            "settings": session.settings.kept(),
        }
        draft.write_text(json.dumps(known), encoding="utf-8")
        draft.replace(path)

    def sessions(self) -> list[Json]:
        """All that something was said in, as ``session/list`` tells them, the newest first."""
        found: list[Json] = []
        for path in sorted(self._folder.glob("demo-*.json")):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                known = json.loads(path.read_text(encoding="utf-8"))
                if known["titled"]:
                    entry = {"sessionId": path.stem, "cwd": known["cwd"], "title": known["title"]}
                    found.append({**entry, "updatedAt": known["updated"]})
        return sorted(found, key=lambda entry: str(entry["updatedAt"]), reverse=True)

    def forget(self, ident: str) -> None:
        """Delete what is known of a session, if anything is."""
        if _ID.fullmatch(ident):
            with contextlib.suppress(OSError):
                (self._folder / f"{ident}.json").unlink(missing_ok=True)

    def recall(self, ident: str, project: Project) -> Session | None:
        """A session in a new life, not saved yet; None when nothing is known of it. Raises OSError."""
        if not _ID.fullmatch(ident):
            return None
        try:
            known = json.loads((self._folder / f"{ident}.json").read_text(encoding="utf-8"))
            return Session(
                id=ident,
                project=project,
                always={str(each) for each in known["always"]},
                titled=bool(known["titled"]),
                title=str(known["title"]),
                updated=str(known["updated"]),
                history=History(list(known["history"])),
                characters=int(known["characters"]),
                life=int(known["life"]) + 1,
                settings=Settings.recalled(known.get("settings")),
            )
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
