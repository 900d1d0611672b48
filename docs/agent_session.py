"""Write the session of an agent into the how-to: what it asks, and what it is told.

    python docs/agent_session.py          rewrite the page if it is out of date
    python docs/agent_session.py --check  write nothing; exit with 1 if it is out of date

The session is a real one: the protocol's own client talks to our server over the sample vault.
"""

# ruff: noqa: INP001 - this is a script.

from __future__ import annotations

import json
import re
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client

from twolane import Library, Settings
from twolane.interfaces.mcp.server import make_server

PAGE = Path(__file__).resolve().parent / "howto" / "let-agents-search.md"

# An agent that is asked when tomatoes are watered under glass.
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "search",
        {
            "query": "how often do greenhouse tomatoes need water",
            "limit": 2,
            "expected_answer": "Water the plants in the greenhouse every morning.",
            "max_tokens": 300,
        },
    ),
    ("outline", {"doc": "garden/tomatoes.md"}),
    ("get", {"doc": "garden/tomatoes.md", "toc_path": "In the greenhouse", "max_tokens": 300}),
)

_BLOCK = re.compile(r"(?<=<!-- session -->\n```text\n).*?(?=```\n)", re.DOTALL)
_NUMBER = re.compile(r"\d+\.\d+")


def session(folder: Path) -> str:
    """The session as text, over the sample vault in a database of its own."""
    with as_file(files("twolane") / "sample_vault") as vault:
        settings = Settings(db=folder / "d.db", embedding={"embedder": "use"})
        with Library.open(settings=settings) as library:
            library.index(vault)
            library.embed()
            return anyio.run(_talk, library)


def same(one: str, other: str) -> bool:
    """Whether two sessions say the same, up to the last digits of relevances."""
    return _NUMBER.sub("0", one) == _NUMBER.sub("0", other)


def written() -> str:
    """The session as the page has it."""
    found = _BLOCK.search(PAGE.read_text("utf-8"))
    return found[0] if found else ""


def main(arguments: list[str]) -> int:
    """Bring the page up to date, or say that it is not; the exit code."""
    with tempfile.TemporaryDirectory(prefix="twolane-docs-") as folder:
        fresh = session(Path(folder))
    if same(fresh, written()):
        return 0
    if "--check" in arguments:
        return 1
    PAGE.write_text(_BLOCK.sub(lambda found: fresh, PAGE.read_text("utf-8")), "utf-8")
    return 0


async def _talk(library: Library) -> str:
    said = []
    async with Client(make_server(library)) as client:
        for tool, arguments in CALLS:
            result = await client.call_tool(tool, arguments)
            said.append(f"→ {tool} {json.dumps(arguments, ensure_ascii=False)}")
            said += [getattr(content, "text", "") for content in result.content]
            said.append("")
    return "\n".join(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
