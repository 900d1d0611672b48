"""The commands of the guide to PostgreSQL work as they are written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import twolane
from tests.docs.pages import ROOT, read
from tests.postgres_server import Server, programs

PAGE = read(ROOT / "docs" / "howto" / "run-on-postgresql.md")


def test_every_command_works(postgres: Server, tmp_path: Path) -> None:
    """All but the installation, from a new role to a dump, in the order of the page."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    script = "".join(block for block in blocks if not block.startswith("pip install"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "scope.md").write_text("# Telescope\n\nA telescope on a hill.\n", "utf-8")
    (tmp_path / "bin").mkdir()
    ours = tmp_path / "bin" / "twolane"
    ours.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m twolane "$@"\n', "utf-8")
    ours.chmod(0o700)
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=tmp_path,
        env={
            "HOME": str(tmp_path),
            "PATH": f"{ours.parent}:{programs()}:{os.environ.get('PATH', os.defpath)}",
            "PYTHONPATH": str(Path(twolane.__file__).parents[1]),
            "LC_ALL": "C.UTF-8",
            # Addresses and programs without a port take this one.
            "PGPORT": str(postgres.port),
            "PGHOST": "127.0.0.1",
            "PGUSER": "postgres",
            "TWOLANE_EMBEDDING_EMBEDDER": "hashing",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    try:
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("Telescope") == 2
        assert "up to date" in done.stdout and "verified" in done.stdout
        assert "is sound" in done.stdout
        assert (tmp_path / "notes.dump").stat().st_size > 0
    finally:
        postgres.drop("notes")
        postgres.execute("DROP ROLE IF EXISTS notes")
