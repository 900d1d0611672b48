"""The reference of the MCP server names every tool and argument, and the session is a real one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, coded, read, rows, section
from twolane.interfaces.mcp.tools import TOOLS, Tool

PAGE = read(ROOT / "docs" / "reference" / "mcp.md")


@pytest.mark.parametrize("tool", TOOLS, ids=lambda one: one.name)
def test_every_tool_and_argument_has_its_line(tool: Tool) -> None:
    """Each tool has a section, and the section a row for each argument and no other."""
    part = section(PAGE, f"## `{tool.name}`")
    told = [coded(cells[0])[0] for cells in rows(part)] if "|" in part else []
    assert told == list(tool.properties)


@pytest.mark.slow
def test_the_session_on_the_page_is_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Search, outline and get over the sample vault answer as the page shows."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import agent_session

    assert agent_session.written()
    assert agent_session.same(agent_session.session(tmp_path), agent_session.written())
    sys.modules.pop("agent_session", None)
