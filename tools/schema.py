"""Copies the protocol's JSON schemas into the tests, without their prose.

``python tools/schema.py FOLDER``: the folder ``schema`` of the package named in
tests/conformance/schema/SOURCE.md; it has a folder for each version of the protocol. One definition a line,
so that a change of the protocol can be read as a diff.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "tests" / "conformance" / "schema"
FILES = {
    f"{version}/schema{kind}.json": f"{version}{kind}.json"
    for version in ("v1", "v2")
    for kind in ("", ".unstable")
}


def bare(node: Any) -> Any:
    """The schema without descriptions; a property that is called ``description`` stays."""
    if isinstance(node, list):
        return [bare(item) for item in node]
    if isinstance(node, dict):
        return {
            key: bare(value)
            for key, value in node.items()
            if not (key == "description" and isinstance(value, str))
        }
    return node


def compact(schema: dict[str, Any]) -> str:
    """JSON text with a line for each definition."""
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    lines = [f"{_dump(name)}:{_dump(definition)}" for name, definition in sorted(schema["$defs"].items())]
    return _dump(rest)[:-1] + ',"$defs":{\n' + ",\n".join(lines) + "\n}}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    source = Path(sys.argv[1])
    for name, target in FILES.items():
        schema = bare(json.loads((source / name).read_text(encoding="utf-8")))
        (TARGET / target).write_text(compact(schema), encoding="utf-8")


if __name__ == "__main__":
    main()
