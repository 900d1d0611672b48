"""The commands of the guide to a cluster work as they are written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

import twolane
from tests.docs.pages import ROOT, read
from tests.qdrant_server import Node

PAGE = read(ROOT / "docs" / "howto" / "run-on-a-cluster.md")


def test_every_command_works(qdrant: Node, postgres_url: str, tmp_path: Path) -> None:
    """All but what installs and starts servers, from a file to the cluster and back."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    script = "\n".join(line for line in lines if not re.match("pip|docker", line))
    script = script.replace("http://localhost:6333", qdrant.url)
    script = script.replace("postgresql://twolane@localhost/twolane", postgres_url)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "scope.md").write_text("# Telescope\n\nA telescope on a hill.\n", "utf-8")
    ours = f'twolane() {{ "{sys.executable}" -m twolane "$@"; }}\ntwolane index notes\n'
    done = subprocess.run(
        ["bash", "-euc", ours + script],
        cwd=tmp_path,
        env={
            "HOME": str(tmp_path),
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": str(Path(twolane.__file__).parents[1]),
            "LC_ALL": "C.UTF-8",
            "TWOLANE_EMBEDDING_EMBEDDER": "hashing",
            "TWOLANE_QDRANT_NAME": "guide",
            "TWOLANE_QDRANT_SECONDS": "30",
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("1. Telescope") == 2
    assert "verified" in done.stdout and "in step" in done.stdout
    assert done.stdout.count("1 document, serving") == 2
    assert "the collections before, serving" in done.stdout


def test_the_compose_file_starts_what_the_guide_says() -> None:
    """PostgreSQL, three nodes that know each other, two servers and a worker, on loopback."""
    made = yaml.safe_load(read(ROOT / "deploy" / "cluster.yaml"))["services"]
    assert set(made) == {
        "postgres",
        *(f"qdrant-{n}" for n in (1, 2, 3)),
        "server-1",
        "server-2",
        "worker",
    }
    urls = made["server-1"]["environment"]["TWOLANE_QDRANT_URLS"].split(",")
    assert urls == [f"http://qdrant-{number}:6333" for number in (1, 2, 3)]
    assert all(
        "http://qdrant-1:6335" in made[f"qdrant-{number}"]["command"] for number in (1, 2, 3)
    )
    ports = [port for one in made.values() for port in one.get("ports", ())]
    assert ports and all(port.startswith("127.0.0.1:") for port in ports)
