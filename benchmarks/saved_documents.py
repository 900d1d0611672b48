"""Synthetic things that people save, for measuring speed: bookmarks, notes and prompts.

Of twenty documents fourteen are bookmarks (title, address, two lines of description), five are
notes of about 150 words and one is a prompt of about 40 words with two arguments.
Words are those of `corpus`; the same seed gives the same documents.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import corpus

_KINDS = "bookmark note bookmark bookmark prompt bookmark bookmark note bookmark bookmark".split()
_KINDS += "bookmark note bookmark bookmark note bookmark bookmark note bookmark bookmark".split()


def rows(count: int, *, seed: int = corpus.SEED) -> Iterator[dict[str, Any]]:
    """So many documents as rows of JSON."""
    dice = random.Random(seed)
    notes = corpus.notes(count // 4 + 20, seed=seed)
    for number in range(count):
        kind = _KINDS[number % len(_KINDS)]
        row: dict[str, Any] = {
            "id": f"{kind}-{number}",
            "kind": kind,
            "collection": f"{kind}s",
            "created": 1_600_000_000 + number,
            "updated": 1_650_000_000 + number,
        }
        if kind == "note":
            note = next(notes)
            row |= {"title": note.title, "body": note.body(), "tags": list(note.tags)}
        else:
            row |= _short(dice, kind, number)
        yield row


def _short(dice: random.Random, kind: str, number: int) -> dict[str, Any]:
    words = corpus.vocabulary("ru" if number % 10 in (3, 7, 9) else "en")
    title = " ".join(words.telling(dice, 5, first=20, last=4000)).capitalize()
    tags = corpus.vocabulary("en").telling(dice, 2, first=20, last=400)
    if kind == "prompt":
        names = corpus.vocabulary("en").telling(dice, 2, first=20, last=2000)
        body = f"{' '.join(words.draw(dice, 40))} {{{{{names[0]}}}}} {{{{{names[1]}}}}}"
        return {"title": title, "body": body, "tags": tags, "arguments": names}
    host, *path = corpus.vocabulary("en").telling(dice, 3, first=20, last=4000)
    return {
        "title": title,
        "url": f"https://{host}.example/{'/'.join(path)}/{number}",
        "description": " ".join(words.draw(dice, 25)),
        "tags": tags,
    }


def write(file: Path, count: int) -> Path:
    """The rows as a file of JSON lines; made once."""
    if not file.exists():
        with file.open("w", encoding="utf-8") as out:
            for row in rows(count):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return file
