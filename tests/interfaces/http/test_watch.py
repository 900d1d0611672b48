"""`twolane serve --watch`."""

from __future__ import annotations

import time
from pathlib import Path

from tests.interfaces.conftest import Cli, write
from tests.interfaces.http.conftest import Server, serving
from tests.waiting import eventually

QUICK = {"TWOLANE_INDEX_WATCH_SECONDS": "0.1", "TWOLANE_INDEX_WATCH_DEBOUNCE": "0.05"}


def found(server: Server, query: str) -> bool:
    """Whether a query has results."""
    answer = server.client.get("/api/search", params={"q": query, "mode": "lexical"})
    return bool(answer.json()["results"])


def test_what_changes_while_serving_is_found(twolane: Cli, tmp_path: Path) -> None:
    """A note is found soon after it was written, gone soon after it was deleted; then all ends."""
    names = ("tea", "rye", "oats")
    vault = write(tmp_path / "notes", {f"{name}.md": f"# {name}\n\nSomething.\n" for name in names})
    twolane("index", vault)
    with serving(twolane, vault, "--watch", **QUICK) as server:
        write(vault, {"new.md": "# New\n\nA quagga among cereals.\n"})
        eventually(lambda: found(server, "quagga"))
        (vault / "new.md").unlink()
        eventually(lambda: not found(server, "quagga"))
        assert server.stop() == 0
    assert not any("Traceback" in line for line in server.said)


def test_what_was_written_before_is_found(twolane: Cli, tmp_path: Path) -> None:
    """A server that starts looks at its folders first; one that is gone is said and passed over."""
    vault = write(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen leaves.\n"})
    gone = write(tmp_path / "gone", {"rye.md": "# Rye\n\nBread.\n"})
    twolane("index", vault, gone)
    write(vault, {"new.md": "# New\n\nA quagga among cereals.\n"})
    gone.rename(tmp_path / "elsewhere")
    with serving(twolane, vault, "--watch", **QUICK) as server:
        eventually(lambda: found(server, "quagga"))
        eventually(lambda: found(server, "bread"))
    assert any("gone is not there" in line for line in server.said)


def test_watching_nothing_is_refused(twolane: Cli) -> None:
    """Without a folder the server says what to do instead of pretending to follow one."""
    assert "twolane index FOLDER" in twolane("serve", "--port", "0", "--watch", code=2).stderr


def test_nothing_is_followed_unasked(twolane: Cli, tmp_path: Path) -> None:
    """Without the option a server leaves the folders alone."""
    vault = write(tmp_path / "notes", {"tea.md": "# Tea\n\nGreen leaves.\n"})
    twolane("index", vault)
    write(vault, {"new.md": "# New\n\nA quagga among cereals.\n"})
    with serving(twolane, vault, **QUICK) as server:
        assert found(server, "leaves")
        time.sleep(0.5)
        assert not found(server, "quagga")
