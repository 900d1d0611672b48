"""The benchmark's digest: notes and judgments are frozen, and this is how one can tell.

`python benchmarks/frozen.py` checks; `--write` sets the digest anew after a wrong label was
mended, which belongs into the changelog.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
DIGEST = HERE / "DIGEST"


def digest() -> str:
    """A digest over the name and content of every note and every golden set."""
    summed = hashlib.sha256()
    files = [*HERE.glob("vaults/**/*.md"), *HERE.glob("golden/*.json")]
    for file in sorted(files, key=lambda one: one.relative_to(HERE).as_posix()):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        summed.update(f"{file.relative_to(HERE).as_posix()} {content}\n".encode())
    return summed.hexdigest()


def main() -> int:
    """Check the digest, or write it."""
    found = digest()
    if "--write" in sys.argv[1:]:
        DIGEST.write_text(f"{found}\n", "utf-8")
        return 0
    kept = DIGEST.read_text("utf-8").strip()
    if found != kept:
        print(f"the benchmark changed: {found}, frozen as {kept}")
        return 1
    print(f"the benchmark is as it was frozen: {kept}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
