"""A better model takes over on a live server, and nobody who asks can tell when."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.interfaces.conftest import Cli, write
from tests.interfaces.http.conftest import serving
from tests.waiting import PATIENCE, eventually


@pytest.mark.slow
def test_a_model_switch_under_load_is_not_noticed(twolane: Cli, tmp_path: Path) -> None:
    """While the second model fills and takes over, every answer is whole: none fails or is empty.

    The default embedder answers with the first model at once and fills both models behind it.
    """
    notes = {f"note-{n}.md": f"# Note {n}\n\nAn okapi eats leaf number {n}.\n" for n in range(12)}
    vault = write(tmp_path / "vault", notes)
    cli = twolane.where(TWOLANE_EMBEDDING_EMBEDDER="auto")
    cli("index", vault)
    with serving(cli, vault) as server:
        wrong: list[object] = []
        generations: set[int] = set()
        enough = threading.Event()

        def ask() -> None:
            with httpx.Client(base_url=server.address, timeout=60) as client:
                while not enough.is_set():
                    answer = client.get("/api/search", params={"q": "which animal eats leaves"})
                    said = answer.json()
                    if answer.status_code != 200 or not said["results"] or said["degraded"]:
                        wrong.append(said)
                    else:
                        generations.add(said["generation"])
                    time.sleep(0.05)

        askers = [threading.Thread(target=ask) for _ in range(2)]
        for asker in askers:
            asker.start()
        eventually(lambda: len(generations) == 2 or wrong)
        enough.set()
        for asker in askers:
            asker.join(PATIENCE)
    assert not wrong, wrong[:3]
    assert len(generations) == 2
