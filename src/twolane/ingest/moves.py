"""Which notes only moved: a file that is gone and a new one that are the same note."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where a note is, or was: its document's id, its path, and a name for what its file says."""

    id: str
    path: str
    content_hash: str | None

    @property
    def name(self) -> str:
        """The name of the file, without its folders."""
        return self.path.rpartition("/")[2]


def moves(gone: Iterable[Place], new: Iterable[Place]) -> dict[str, str]:
    """By the id of a new note, the id of the one that it was before it moved; each once.

    The same content is the same note; of several, those that kept their file name go first.
    A file name that one note lost and one new note has is the same note, too: editors mend the
    links in a note when they move it.
    """
    left, arrived = sorted(gone, key=_by_path), sorted(new, key=_by_path)
    found: dict[str, str] = {}
    for alike in (_content_and_name, _content, _only_name(left, arrived)):
        waiting: dict[object, list[Place]] = {}
        taken = set(found.values())
        for one in left:
            if one.id not in taken and (key := alike(one)) is not None:
                waiting.setdefault(key, []).append(one)
        for one in arrived:
            same = waiting.get(alike(one)) if one.id not in found else None
            if same:
                found[one.id] = same.pop(0).id
    return found


def _by_path(place: Place) -> str:
    return place.path


def _content_and_name(place: Place) -> object | None:
    return (place.content_hash, place.name) if place.content_hash else None


def _content(place: Place) -> object | None:
    return place.content_hash or None


def _only_name(left: Iterable[Place], arrived: Iterable[Place]) -> Callable[[Place], object | None]:
    """The file name, where it stands on each side once: a vault may hold many `index.md`."""
    once = _once(left) & _once(arrived)
    return lambda place: place.name if place.name in once else None


def _once(places: Iterable[Place]) -> set[str]:
    seen: set[str] = set()
    again: set[str] = set()
    for one in places:
        (again if one.name in seen else seen).add(one.name)
    return seen - again
