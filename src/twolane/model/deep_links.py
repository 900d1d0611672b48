"""Links that open a file of a collection in another program: Obsidian, an editor, a browser."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

# What a template may leave to be filled in.
PLACES = ("path", "collection", "file", "name", "line")

_PLACE = re.compile(r"\{(\w*)\}")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*(?=:)", re.IGNORECASE)
# What these open is a program of the template's own, in the page that shows the link.
_REFUSED = frozenset({"javascript", "data", "vbscript", "blob"})


def deep_link(template: str, *, root: Path, path: str, line: int, collection: str) -> str:
    """The template with the file in it, each part percent-encoded.

    `path` is relative to the root; `/{path}` and `{path}` mean the same for an absolute one.
    """
    whole = (root / path).as_posix()
    parts = {
        "path": whole,
        "collection": collection,
        "file": path,
        "name": Path(path).stem,
        "line": str(line),
    }
    fitting = template.replace("/{path}", "{path}") if whole.startswith("/") else template
    return _PLACE.sub(lambda match: quote(parts[match[1]], safe="/:"), fitting)


def file_link(root: Path, path: str) -> str:
    """The plain link to a file."""
    return (root / path).as_uri()


def obsidian_vault(root: Path) -> Path | None:
    """The Obsidian vault that a folder is or lies in; Obsidian keeps a folder of its own there."""
    return next((one for one in (root, *root.parents) if (one / ".obsidian").is_dir()), None)


def obsidian_link(vault: Path, file: Path) -> str:
    """The link that opens a file in Obsidian, by the vault's name: it is right on any device."""
    inside = file.relative_to(vault).as_posix().removesuffix(".md")
    return f"obsidian://open?vault={quote(vault.name, safe='')}&file={quote(inside, safe='/')}"


def tells_root(template: str) -> bool:
    """Whether a link of this template tells where a collection is on disk."""
    return "{path}" in template


def template_problem(template: str) -> str | None:
    """What is wrong with a template, as the end of a sentence about it; None if nothing is."""
    if not template:
        return None
    scheme = _SCHEME.match(template)
    if scheme is None or scheme[0].lower() in _REFUSED:
        return "must begin with the scheme of a program, such as `obsidian:` or `vscode:`"
    if any(one not in PLACES for one in _PLACE.findall(template)):
        return f"may hold only {', '.join(f'{{{one}}}' for one in PLACES)}"
    return None
