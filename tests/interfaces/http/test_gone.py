"""A server whose database file is deleted or replaced under it: it says so, and takes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.http.conftest import serving


def _deleted(db: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        db.with_name(db.name + ending).unlink(missing_ok=True)


def _moved(db: Path) -> None:
    db.rename(db.with_name("elsewhere.db"))


def _replaced(db: Path) -> None:
    other = db.with_name("other.db")
    shutil.copyfile(db, other)
    other.replace(db)


def _asked(client: httpx.Client) -> dict[str, httpx.Response]:
    return {
        "save": client.post("/api/documents", json={"id": "new", "title": "New", "text": "ant"}),
        "tag": client.post("/api/bulk", json={"archive": ["first"]}),
        "search": client.get("/api/search", params={"q": "tea"}),
        "status": client.get("/api/status"),
        "ready": client.get("/readyz"),
    }


@pytest.mark.parametrize("change", [_deleted, _moved, _replaced])
def test_nothing_is_taken_for_a_file_that_is_not_there(
    twolane: Cli, vault: Path, change: Callable[[Path], None]
) -> None:
    """Saves, searches and `/readyz` are 503, and say what happened and what to do."""
    twolane("index", vault)
    with serving(twolane, vault) as server:
        assert server.client.get("/readyz").status_code == 200
        assert server.client.get("/api/search", params={"q": "tea"}).json()["results"]
        change(twolane.db)
        for name, said in _asked(server.client).items():
            assert said.status_code == 503, name
            assert said.headers["retry-after"], name
            expected = "replaced by" if change is _replaced else "deleted or moved"
            assert expected in said.json()["detail"], name
            assert "start this program again" in said.json()["detail"], name
        assert server.client.get("/healthz").status_code == 200
        assert server.stop() == 0


def test_a_file_that_is_back_is_used_again(twolane: Cli, vault: Path) -> None:
    """Who moves the very file back, need not start the server again."""
    twolane("index", vault)
    with serving(twolane, vault) as server:
        _moved(twolane.db)
        assert server.client.get("/readyz").status_code == 503
        twolane.db.with_name("elsewhere.db").rename(twolane.db)
        for name, said in _asked(server.client).items():
            assert said.status_code in (200, 201, 404), name
