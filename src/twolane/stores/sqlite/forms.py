"""Lines that many documents hold, in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import apsw

from twolane.model import Forms, Rewording
from twolane.stores.sqlite.database import Database, rows
from twolane.stores.sqlite.form_keys import packed
from twolane.stores.sqlite.versions import next_revision

_REWORD = """
UPDATE chunks SET content_hash = ?, language = ?, forms = ?
WHERE document = (SELECT row FROM documents WHERE id = ?) AND position = ? AND content_hash = ?"""

# The languages of a document are those of its passages.
_REFRESH = """
UPDATE documents SET revision = ?, languages = coalesce(
    (SELECT group_concat(' ' || language || ' ', '' ORDER BY language) FROM
        (SELECT DISTINCT language FROM chunks
         WHERE document = documents.row AND language IS NOT NULL)), '')
WHERE id = ?"""

# So many bodies are held at once.
_BODIES = 500

_SOME_BODIES = """
SELECT d.row, d.id, x.body FROM documents AS d JOIN texts AS x ON x.row = d.row
WHERE d.listed AND d.row > ? ORDER BY d.row LIMIT ?"""


class SqliteForms:
    """The part of the Documents port that knows forms."""

    _db: Database
    _known_forms: tuple[int, Forms] | None = None

    def bodies(self) -> Iterator[tuple[str, str]]:
        """Id and body of every document that is not hidden."""
        last = 0
        while True:
            with self._db.read() as connection:
                found = rows(connection, _SOME_BODIES, (last, _BODIES))
            if not found:
                return
            yield from ((id, body) for _, id, body in found)
            last = found[-1][0]

    def forms(self) -> Forms:
        """The forms as they were last learned."""
        with self._db.read() as connection:
            ((documents, times),) = rows(connection, "SELECT documents, times FROM learned")
            known = self._known_forms
            if known is None or known[0] != times:
                keys = frozenset(key for (key,) in rows(connection, "SELECT key FROM forms"))
                known = self._known_forms = times, Forms(keys, documents)
        return known[1]

    def learn(self, forms: Forms, rewordings: Iterable[Rewording]) -> None:
        """Keep these forms, and what is embedded for these passages because of them."""
        with self._db.write() as connection:
            revision = next_revision(connection)
            connection.execute("DELETE FROM forms")
            connection.executemany(
                "INSERT INTO forms(key) VALUES (?)", [(key,) for key in sorted(forms.keys)]
            )
            _count(connection, forms.documents)
            changed = set()
            for one in rewordings:
                now = one.after
                values = now.content_hash, now.language, packed(now.forms)
                connection.execute(_REWORD, (*values, one.id, now.position, one.before))
                if connection.changes():
                    changed.add(one.id)
            connection.executemany(_REFRESH, [(revision, id) for id in sorted(changed)])


def _count(connection: apsw.Connection, documents: int) -> None:
    connection.execute("UPDATE learned SET documents = ?, times = times + 1", (documents,))
