"""Generations and their vectors, in SQLite."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import apsw

from twolane.model import Generation, GenerationState, Space, instead
from twolane.ports import NOTHING
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.retrieval import REVISION
from twolane.stores.sqlite.versions import demand_generation
from twolane.stores.sqlite.work import SqliteWork
from twolane.vector_checks import check_vectors

if TYPE_CHECKING:
    from twolane.ports import Vector
    from twolane.stores.sqlite.matrix import VectorCache

# Vectors that serve no chunk: neither its own, nor the one that is lent to a chunk without.
_UNUSED = """
DELETE FROM vectors AS v
WHERE NOT EXISTS (
    SELECT 1 FROM chunks AS c
    WHERE c.text_hash = v.text_hash AND c.content_hash = v.content_hash)
  AND NOT (
    (EXISTS (
        SELECT 1 FROM chunks AS c
        WHERE c.text_hash = v.text_hash AND NOT EXISTS (
            SELECT 1 FROM vectors AS own
            WHERE own.generation = v.generation AND own.content_hash = c.content_hash))
     OR EXISTS (
        SELECT 1 FROM chunks AS c
        WHERE c.lender = v.text_hash AND NOT EXISTS (
            SELECT 1 FROM vectors AS nearer
            WHERE nearer.generation = v.generation AND nearer.text_hash = c.text_hash)))
    AND v.content_hash = (
        SELECT min(other.content_hash) FROM vectors AS other
        WHERE other.generation = v.generation AND other.text_hash = v.text_hash))"""


# Each passage's vector with its language, first document first.
_ALL_VECTORS = """
SELECT content_hash, text_hash, language, vector FROM (
    SELECT v.content_hash, v.text_hash, c.language, v.vector, d.id, c.position,
           row_number() OVER (PARTITION BY v.content_hash ORDER BY d.id, c.position) AS place
    FROM vectors AS v
    JOIN chunks AS c ON c.text_hash = v.text_hash AND c.content_hash = v.content_hash
    JOIN documents AS d ON d.row = c.document
    WHERE v.generation = ? AND d.listed)
WHERE place = 1 ORDER BY id, position"""


# The same passages, counted by their language.
_SPOKEN = """
SELECT language, count(*) FROM (
    SELECT c.language,
           row_number() OVER (PARTITION BY v.content_hash ORDER BY d.id, c.position) AS place
    FROM vectors AS v
    JOIN chunks AS c ON c.text_hash = v.text_hash AND c.content_hash = v.content_hash
    JOIN documents AS d ON d.row = c.document
    WHERE v.generation = ? AND d.listed)
WHERE place = 1 AND language IS NOT NULL GROUP BY language"""

# Passages of hidden documents and equal ones too: never fewer than above, and fifty times as fast.
_SPOKEN_AT_MOST = """
SELECT language, count(*) FROM chunks WHERE language IS NOT NULL GROUP BY language"""


_UNCOVERED = """
SELECT count(*) FROM chunks AS c JOIN documents AS d ON d.row = c.document
WHERE d.listed AND NOT EXISTS (
    SELECT 1 FROM vectors AS v
    WHERE v.generation = ? AND v.text_hash IN (c.text_hash, c.lender))"""


class SqliteVectors(SqliteWork):
    """The Vectors port."""

    _db: Database
    _cached: dict[int, VectorCache]
    _counted_uncovered: dict[int, tuple[str, int]]

    def generations(self) -> list[Generation]:
        """All generations, oldest first; what is held in memory of others is let go."""
        with self._db.read() as connection:
            held = _generations(connection)
        for gone in set(self._cached) - {one.number for one in held}:
            self._cached.pop(gone, None)
        return held

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none; a retired one fills again."""
        with self._db.write() as connection:
            held = _generations(connection)
            serving = any(other.state == GenerationState.SERVING for other in held)
            state = GenerationState.FILLING if serving else GenerationState.SERVING
            for generation in reversed(held):
                if generation.space == space:
                    if generation.state == GenerationState.RETIRED:
                        _set_state(connection, generation.number, state)
                        return replace(generation, state=state)
                    return generation
            number = connection.execute(
                "INSERT INTO generations(fingerprint, space, state) VALUES (?,?,?)"
                " RETURNING number",
                (space.fingerprint, json.dumps(asdict(space)), str(state)),
            ).get
        return Generation(number, space, state)

    def activate(
        self, generation: int, *, standby: Container[int] = (), held: Container[int] = ()
    ) -> None:
        """Let this generation serve; those that did stand by, are held back or retire."""
        with self._db.write() as connection:
            _demand(connection, generation)
            for other in _generations(connection):
                if other.state in (GenerationState.SERVING, GenerationState.STANDBY):
                    state = (
                        GenerationState.HELD
                        if other.number in held
                        else GenerationState.STANDBY
                        if other.number in standby
                        else GenerationState.RETIRED
                    )
                    chosen = instead(generation) if state == GenerationState.HELD else None
                    _set_state(connection, other.number, state, chosen)
                    if state == GenerationState.RETIRED and other.number != generation:
                        # Its vectors may take much memory, and searches are done with them.
                        self._cached.pop(other.number, None)
            _set_state(connection, generation, GenerationState.SERVING)

    def hold(self, generation: int, reason: str) -> None:
        """Keep a generation that does not serve from taking over by itself, and say why."""
        with self._db.write() as connection:
            if _demand(connection, generation).state != GenerationState.SERVING:
                _set_state(connection, generation, GenerationState.HELD, reason)

    def set_rate(self, generation: int, rate: float) -> None:
        """Remember how many passages a second the generation is filled by."""
        with self._db.write() as connection:
            connection.execute(
                "UPDATE generations SET rate = ? WHERE number = ?", (rate, generation)
            )

    def drop_generation(self, generation: int) -> None:
        """Delete a generation with its vectors."""
        with self._db.write() as connection:
            connection.execute("DELETE FROM generations WHERE number = ?", (generation,))
        self._cached.pop(generation, None)

    def add_vectors(
        self,
        generation: int,
        vectors: Iterable[tuple[str, str, Vector]],
        sentences: Mapping[str, bytes] = NOTHING,
    ) -> None:
        """Store (content hash, text hash, unit vector) rows and end their leases."""
        fresh = list(vectors)
        if fresh:
            with self._db.write() as connection:
                _add(connection, generation, fresh)
                connection.executemany(
                    "INSERT OR REPLACE INTO sentences(generation, content_hash, codes)"
                    " VALUES (?,?,?)",
                    [(generation, key, codes) for key, codes in sentences.items() if codes],
                )

    def means(self, generation: int) -> dict[str, Vector]:
        """The language means that the generation's vectors were centred by."""
        import numpy as np

        with self._db.read() as connection:
            found = rows(
                connection, "SELECT language, mean FROM means WHERE generation = ?", (generation,)
            )
        return {language: np.frombuffer(mean, "<f4") for language, mean in found}

    def known_vectors(self, generation: int, content_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors of those passages that have one of their own, by content hash."""
        import numpy as np

        with self._db.read() as connection:
            found = rows(
                connection,
                "SELECT content_hash, vector FROM vectors WHERE generation = ?"
                " AND content_hash IN (SELECT value FROM json_each(?))",
                (generation, json.dumps(list(content_hashes))),
            )
        return {content_hash: np.frombuffer(vector, "<f4") for content_hash, vector in found}

    def known_sentences(
        self, generation: int, content_hashes: Sequence[str]
    ) -> Mapping[str, bytes]:
        """The codes of the sentences of those passages that have any, by content hash."""
        with self._db.read() as connection:
            found = rows(
                connection,
                "SELECT content_hash, codes FROM sentences WHERE generation = ?"
                " AND content_hash IN (SELECT value FROM json_each(?))",
                (generation, json.dumps(list(content_hashes))),
            )
        return dict(found)

    def uncovered(self, generation: int) -> int:
        """How many passages have neither a vector nor one to borrow; counted after changes only."""
        with self._db.read() as connection:
            revision = str(connection.execute(REVISION).get)
            counted = self._counted_uncovered.get(generation)
            if counted is None or counted[0] != revision:
                counted = revision, connection.execute(_UNCOVERED, (generation,)).get
                self._counted_uncovered[generation] = counted
        return counted[1]

    def all_vectors(self, generation: int) -> list[tuple[str, str, str | None, Vector]]:
        """(content hash, text hash, language, vector) of each passage of the generation."""
        import numpy as np

        with self._db.read() as connection:
            found = rows(connection, _ALL_VECTORS, (generation,))
        return [(*ahead, np.frombuffer(vector, "<f4")) for *ahead, vector in found]

    def recentre(
        self,
        generation: int,
        means: Mapping[str, Vector],
        vectors: Iterable[tuple[str, str, Vector]],
    ) -> None:
        """Replace the vectors and set the means they were centred by, both or neither.

        Vectors that are not named are gone: they were centred by other means.
        """
        fresh = list(vectors)
        with self._db.write() as connection:
            connection.execute(
                "DELETE FROM vectors WHERE generation = ?"
                " AND content_hash NOT IN (SELECT value FROM json_each(?))",
                (generation, json.dumps([content_hash for content_hash, _, _ in fresh])),
            )
            if fresh:
                _add(connection, generation, fresh)
            counted = dict(rows(connection, _SPOKEN, (generation,)))
            connection.execute("DELETE FROM means WHERE generation = ?", (generation,))
            connection.executemany(
                "INSERT INTO means(generation, language, mean, passages) VALUES (?,?,?,?)",
                [
                    (generation, language, mean.astype("<f4").tobytes(), counted.get(language, 0))
                    for language, mean in means.items()
                ],
            )

    def spoken(self, generation: int, *, at_most: bool = False) -> dict[str, tuple[int, int]]:
        """Passages of each language when the means were taken, and now, or at most now."""
        with self._db.read() as connection:
            if at_most:
                now = dict(rows(connection, _SPOKEN_AT_MOST))
            else:
                now = dict(rows(connection, _SPOKEN, (generation,)))
            then = dict(
                rows(
                    connection,
                    "SELECT language, passages FROM means WHERE generation = ?",
                    (generation,),
                )
            )
        return {language: (then.get(language, 0), count) for language, count in now.items()}

    def sweep(self) -> int:
        """Delete vectors that serve no chunk any more; the number deleted."""
        with self._db.write() as connection:
            connection.execute(_UNUSED)
            return connection.changes()


def _add(
    connection: apsw.Connection, generation: int, fresh: Sequence[tuple[str, str, Vector]]
) -> None:
    import numpy as np

    space = _demand(connection, generation).space
    try:
        matrix = np.stack([vector for _, _, vector in fresh])
    except ValueError:
        # Rows of different lengths do not stack; the check names what was expected.
        matrix = np.empty((0, 0), np.float32)
    check_vectors(matrix, count=len(fresh), dimensions=space.dimensions)
    connection.executemany(
        "INSERT OR REPLACE INTO vectors(generation, content_hash, text_hash, vector)"
        " VALUES (?,?,?,?)",
        [
            (generation, content_hash, text_hash, vector.astype("<f4").tobytes())
            for content_hash, text_hash, vector in fresh
        ],
    )
    connection.executemany(
        "DELETE FROM jobs WHERE generation = ? AND content_hash = ?",
        [(generation, content_hash) for content_hash, _, _ in fresh],
    )


def _generations(connection: apsw.Connection) -> list[Generation]:
    return [
        Generation(number, Space(**json.loads(space)), GenerationState(state), rate, reason)
        for number, space, state, rate, reason in connection.execute(
            "SELECT number, space, state, rate, reason FROM generations ORDER BY number"
        )
    ]


def _set_state(
    connection: apsw.Connection, number: int, state: GenerationState, reason: str | None = None
) -> None:
    connection.execute(
        "UPDATE generations SET state = ?, reason = ? WHERE number = ?",
        (str(state), reason, number),
    )


def _demand(connection: apsw.Connection, number: int) -> Generation:
    demand_generation(connection, number)
    return next(one for one in _generations(connection) if one.number == number)
