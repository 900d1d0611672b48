"""What documents are called, as one text: which of them hold some letters is told at once."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

# Stands between the names of two documents, and in no name.
_BETWEEN = "\0"


class SpelledNames:
    """The names of documents, spelled as they are compared; a document is known by its row.

    One long text is searched faster than many short ones, and takes less room.
    """

    def __init__(self, spelled: Iterable[tuple[int, str]]) -> None:
        held = list(spelled)
        self._rows = array("q", [row for row, _ in held])
        # Where the names of each document begin, and at last where one more would.
        self._starts = array("q", [0])
        for _, names in held:
            self._starts.append(self._starts[-1] + len(names) + 1)
        self._together = _BETWEEN.join([names for _, names in held])

    def __len__(self) -> int:
        """How many letters all of them have."""
        return len(self._together)

    def rows_with(self, groups: Iterable[Sequence[str]]) -> list[int]:
        """The rows of those whose names hold all pieces of one of the groups, in their order."""
        places = {place for group in groups for place in self._places(group)}
        return [self._rows[place] for place in sorted(places)]

    def _places(self, group: Sequence[str]) -> Iterator[int]:
        together = self._together
        # Most names are asked for in vain.
        if not group or not all(map(together.__contains__, group)):
            return
        rarest = max(group, key=len)
        at = together.find(rarest)
        while at >= 0:
            place = bisect_right(self._starts, at) - 1
            start, end = self._starts[place], self._starts[place + 1] - 1
            if all(together.find(piece, start, end) >= 0 for piece in group):
                yield place
            at = together.find(rarest, max(end, at + 1))
