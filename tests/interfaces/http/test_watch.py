"""`twolane serve --watch`."""

from __future__ import annotations

import time
from pathlib import Path

import httpx

from tests.interfaces.conftest import Cli, write
from tests.interfaces.http.conftest import serving

QUICK = {"TWOLANE_INDEX_WATCH_SECONDS": "0.1", "TWOLANE_INDEX_WATCH_DEBOUNCE": "0.05"}


def found(client: httpx.Client, query: str, *, wanted: bool = True) -> bool:
    """Whether a query comes to be answered as wanted, within half a minute."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        answer = client.get("/api/search", params={"q": query, "mode": "lexical"}).json()
        if bool(answer["results"]) == wanted:
            return True
        time.sleep(0.1)
    return False


def test_what_changes_while_serving_is_found(twolane: Cli, tmp_path: Path) -> None:
    """A note is found soon after it was written, gone soon after it was deleted; then all ends."""
    names = ("tea", "rye", "oats")
    vault = write(tmp_path / "notes", {f"{name}.md": f"# {name}\n\nSomething.\n" for name in names})
    twolane("index", vault)
    with serving(twolane, vault, "--watch", **QUICK) as server:
        write(vault, {"new.md": "# New\n\nA quagga among cereals.\n"})
        assert found(server.client, "quagga")
        (vault / "new.md").unlink()
        assert found(server.client, "quagga", wanted=False)
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
        assert found(server.client, "quagga")
        assert found(server.client, "bread")
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
        assert found(server.client, "leaves")
        time.sleep(0.5)
        assert found(server.client, "quagga", wanted=False)
