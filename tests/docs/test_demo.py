"""`make demo` shows what it says, touches nothing, and fails when a golden query does."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import twolane
from tests.docs.pages import ROOT

SCRIPT = ROOT / "demo" / "run.py"


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module; what it starts finds the package that runs here."""
    monkeypatch.setenv("PYTHONPATH", str(Path(twolane.__file__).parents[1]))
    spec = spec_from_file_location("demo_script", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_demo_runs(tmp_path: Path, demo: ModuleType) -> None:
    """Each command is shown with its output, and nothing is left in home or temporary folder."""
    home, scratch = Path(os.environ["HOME"]), tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, "TMPDIR": str(scratch), "TWOLANE_SEARCH_LIMIT": "nonsense"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n$ twolane ") == len(demo.STEPS)
    assert "27 indexed" in done.stdout
    for path in demo.GOLDEN.values():
        assert f"   {path}:" in done.stdout
    assert "how well its words fit" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("index FOLDER")
    assert not list(home.iterdir())
    assert not list(scratch.iterdir())


@pytest.mark.slow
def test_the_demo_fails_with_a_golden_query(
    demo: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A note that should be first and is not means exit code 1."""
    monkeypatch.setattr(demo, "STEPS", demo.STEPS[:1])
    monkeypatch.setattr(demo, "GOLDEN", {"telescope": "garden/compost.md"})
    assert demo.main() == 1
    assert "should find garden/compost.md first" in capfd.readouterr().err
