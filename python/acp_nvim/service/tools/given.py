"""What the tools take: one type each, from which the agent's JSON Schema is made and its input is checked."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from acp_nvim.session.ports import RequestError

INVALID = -32602

T = TypeVar("T", bound="Given")

FilePath: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=4096, description="absolute, or relative to the project's folder")
]
Folder: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        description="a folder or file, absolute or relative to the project's folder; default: all of it",
    ),
]
Line: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Words: TypeAlias = Annotated[
    list[Annotated[str, Meta(max_length=100_000)]], Meta(min_length=1, max_length=1000)
]


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The input of a tool that takes nothing, and the base of the others."""


class ReadFile(Given, frozen=True):
    path: FilePath
    first: Annotated[Line, Meta(description="the first line to read, from 1")] = 1
    lines: Annotated[int, Meta(ge=1, le=10_000, description="how many lines at most")] = 2000


class WriteFile(Given, frozen=True):
    path: FilePath
    text: Annotated[str, Meta(description="the whole new text of the file")]


class EditFile(Given, frozen=True):
    path: FilePath
    old_text: Annotated[
        str,
        Meta(min_length=1, description="a piece of the file, exactly as it is; must be there just once"),
    ]
    new_text: Annotated[str, Meta(description="what takes its place")]
    replace_all: Annotated[bool, Meta(description="replace it wherever it is, however often")] = False


class ListFiles(Given, frozen=True):
    path: Folder = "."


class SearchFiles(Given, frozen=True):
    pattern: Annotated[str, Meta(min_length=1, max_length=1000, description="what to look for, in one line")]
    regex: Annotated[bool, Meta(description="the pattern is a regular expression, not plain text")] = False
    ignore_case: bool = False
    path: Folder = "."
    files: Annotated[
        str, Meta(max_length=200, description="only files like this, as **/*.py; default: all")
    ] = ""


class RunCommand(Given, frozen=True):
    command: Annotated[Words, Meta(description="the program and its arguments; no shell is involved")]
    cwd: Annotated[
        str, Meta(min_length=1, max_length=4096, description="where; default: the project's folder")
    ] = "."
    seconds: Annotated[int, Meta(ge=1, le=600, description="it is ended after so many seconds")] = 120


class Diagnostics(Given, frozen=True):
    path: Annotated[str, Meta(max_length=4096, description="of this file alone; default: of all")] = ""


def schema(kind: type[Given]) -> dict[str, Any]:
    """The JSON Schema of an input."""
    _, made = msgspec.json.schema_components([kind])
    found = dict(made[kind.__name__])
    for extra in ("title", "description"):
        found.pop(extra, None)
    return found


def take(kind: type[T], given: Any) -> T:
    """The input as this type; a null is as good as nothing. Raises RequestError with what does not fit."""
    if isinstance(given, dict):
        given = {name: value for name, value in given.items() if value is not None}
    try:
        return msgspec.convert({} if given is None else given, kind)
    except msgspec.ValidationError as error:
        raise RequestError(INVALID, f"the input does not fit: {error}") from error
