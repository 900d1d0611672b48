"""The wheel that users get: built, installed into a clean environment, and used there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from twolane import __version__

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BUILT_FROM = ("src", "pyproject.toml", "README.md", "LICENSE", "NOTICE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what it is made of."""
    source = tmp_path_factory.mktemp("source")
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(ROOT / name, source / name, ignore=unwanted)
        else:
            shutil.copy(ROOT / name, source)
    target = tmp_path_factory.mktemp("wheel")
    _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(target), str(source))
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel and, from outside, its dependencies.

    A plain line in a `.pth` file adds a folder without reading the `.pth` files inside it,
    so an editable installation of the package there is out of reach.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    outside = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "dependencies.pth").write_text("\n".join(sorted(outside)) + "\n", "utf-8")
    _pip(
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        "--ignore-installed",
        str(wheel),
    )
    return folder / "bin"


def test_the_wheel_holds_what_the_package_needs(wheel: Path) -> None:
    """Schema, sample vault, type marker and licences are in it, and nothing of the tests."""
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = f"twolane-{__version__}.dist-info"
    assert names >= {
        "twolane/py.typed",
        "twolane/stores/sqlite/schema.sql",
        "twolane/sample_vault/demo/search_astronomy.md",
        "twolane/sample_vault/люди/Лёва.md",
        f"{about}/licenses/LICENSE",
        f"{about}/licenses/NOTICE",
        f"{about}/entry_points.txt",
    }
    notes = {path.relative_to(ROOT / "src").as_posix() for path in _sample_notes()}
    assert notes <= names
    assert {name.split("/")[0] for name in names} == {"twolane", about}


def test_the_wheel_works(installed: Path, tmp_path: Path) -> None:
    """Index and search run from the installed wheel, with `src` nowhere on the path."""
    environment = {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
        "PYTHONWARNINGS": "error",
        "TWOLANE_DB": str(tmp_path / "notes.db"),
        "TWOLANE_CACHE": str(tmp_path / "cache"),
    }
    code = "import twolane, importlib.resources as r; print(r.files('twolane') / 'sample_vault')"
    vault = Path(_run([installed / "python", "-c", code], tmp_path, environment).strip())
    assert vault.is_relative_to(installed.parent)
    assert not vault.is_relative_to(ROOT)
    assert (
        _run([installed / "twolane", "--version"], tmp_path, environment).split()[1] == __version__
    )
    report = _json([installed / "twolane", "index", "--json", vault], tmp_path, environment)
    assert report["collections"][0]["indexed"] > 20
    assert report["embedding"]["embedded"] > 50
    search = (installed / "twolane", "search", "--json", "-n", "1", "ключевые слова теги")
    answer = _json(search, tmp_path, environment)
    assert answer["degraded"] == []
    assert answer["results"][0]["path"] == "demo/search_keywords.md"


def _sample_notes() -> list[Path]:
    return sorted((ROOT / "src" / "twolane" / "sample_vault").rglob("*.md"))


def _pip(*words: str) -> None:
    # No registry may be asked, and no setting of the user's may get in the way.
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _run(command: Sequence[Path | str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _json(command: Sequence[Path | str], folder: Path, environment: Mapping[str, str]) -> Any:
    return json.loads(_run(command, folder, environment))
