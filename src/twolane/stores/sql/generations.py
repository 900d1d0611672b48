"""Generations of vectors, their states and their means, in an SQL database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from twolane.embedding.vector_checks import check_vectors
from twolane.model.errors import StoreError
from twolane.model.space import Generation, GenerationState, Space
from twolane.ports.vectors import Mean, NewVector
from twolane.stores.sql.session import Database, Session


class Generations:
    """What is known of the generations themselves, and changes of it.

    `revision` is the expression for a number that is another one whenever a vector is added;
    `alone` is the statement by which whoever changes generations does it alone, if one is needed.
    """

    def __init__(self, database: Database, revision: str, alone: str | None = None) -> None:
        self._db = database
        self._all = f"SELECT number, space, state, reason, {revision}, answered_by FROM generations"
        self._alone = alone

    def generations(self) -> list[Generation]:
        """All generations, oldest first."""
        with self._db.reading() as session:
            return self.held(session)

    def held(self, session: Session) -> list[Generation]:
        """All generations, oldest first, as a session sees them."""
        return [
            Generation(number, Space(**json.loads(space)), GenerationState(state), *more)
            for number, space, state, *more in session.known(f"{self._all} ORDER BY number")
        ]

    def demand(self, session: Session, number: int) -> Generation:
        """The generation; StoreError if there is none: another process may have dropped it."""
        for generation in self.held(session):
            if generation.number == number:
                return generation
        raise StoreError(f"there is no generation {number}; `twolane status` lists them")

    def open_generation(self, space: Space) -> Generation:
        """The generation of this space, created if there is none; a retired one fills again."""
        # Usually it is there, and nobody has to wait for whoever writes.
        for generation in reversed(self.generations()):
            if generation.space == space and generation.state != GenerationState.RETIRED:
                return generation

        def find_or_make(session: Session) -> Generation:
            self._be_alone(session)
            held = self.held(session)
            serving = any(other.state == GenerationState.SERVING for other in held)
            state = GenerationState.FILLING if serving else GenerationState.SERVING
            for generation in reversed(held):
                if generation.space == space:
                    if generation.state == GenerationState.RETIRED:
                        _set_state(session, generation.number, state, None)
                        return replace(generation, state=state)
                    return generation
            ((number,),) = session.rows(
                "INSERT INTO generations(fingerprint, space, state) VALUES (?, ?, ?)"
                " RETURNING number",
                (space.fingerprint, json.dumps(asdict(space)), str(state)),
            )
            return Generation(number, space, state)

        return self._db.writing(find_or_make, sharing=True)

    def set_state(
        self, states: Mapping[int, GenerationState | None], reason: str | None = None
    ) -> None:
        """Give generations other states, all at once for every reader; None drops one."""
        self.change_states(states, reason)

    def change_states(
        self, states: Mapping[int, GenerationState | None], reason: str | None
    ) -> dict[int, GenerationState | None]:
        """The same; what was changed. Its vectors go with one that is dropped."""

        def change(session: Session) -> dict[int, GenerationState | None]:
            self._be_alone(session)
            changed = dict(states)
            for one in self.held(session):
                if one.state == GenerationState.SERVING:
                    if GenerationState.SERVING not in states.values():
                        changed.pop(one.number, None)
                    else:
                        changed.setdefault(one.number, GenerationState.RETIRED)
            for number, state in changed.items():
                if state is None:
                    session.run("DELETE FROM generations WHERE number = ?", (number,))
                else:
                    self.demand(session, number)
                    why = reason if state == GenerationState.HELD else None
                    _set_state(session, number, state, why)
            return changed

        return self._db.writing(change, sharing=True)

    def note_model(self, generation: int, name: str) -> str:
        """Keep what a server called the model of this generation; the first name stays."""

        def note(session: Session) -> str:
            self.demand(session, generation)
            ((kept,),) = session.rows(
                "UPDATE generations SET answered_by = coalesce(nullif(answered_by, ''), ?)"
                " WHERE number = ? RETURNING answered_by",
                (name, generation),
            )
            return str(kept)

        return self._db.writing(note, sharing=True)

    def means(self, generation: int) -> dict[str, Mean]:
        """What the generation's vectors were centred by, by language."""
        import numpy as np

        statement = "SELECT language, mean, passages FROM means WHERE generation = ?"
        with self._db.reading() as session:
            found = session.rows(statement, (generation,))
        return {
            language: Mean(np.frombuffer(mean, "<f4"), passages)
            for language, mean, passages in found
        }

    def _be_alone(self, session: Session) -> None:
        if self._alone is not None:
            session.run(self._alone)


def strangers(session: Session) -> list[int]:
    """Generations whose fingerprint is not that of their space: nobody knows what they hold."""
    held = session.rows("SELECT number, fingerprint, space FROM generations")
    return [number for number, fingerprint, space in held if not _belongs(fingerprint, space)]


def mend(session: Session) -> list[str]:
    """Drop strangers, and let one generation serve; what was done."""
    done = []
    for number in strangers(session):
        session.run("DELETE FROM generations WHERE number = ?", (number,))
        done.append(f"generation {number} dropped: its space is not known")
    # Of several that serve, the one that knows most is kept.
    for (spare,) in session.rows(_SERVING)[:-1]:
        session.run("UPDATE generations SET state = 'retired' WHERE number = ?", (spare,))
        done.append(f"generation {spare} retired: another one serves")
    return done


_SERVING = """
SELECT g.number FROM generations AS g WHERE g.state = 'serving' ORDER BY
    (SELECT count(*) FROM vectors AS v WHERE v.generation = g.number), g.number"""


def _belongs(fingerprint: str, space: str) -> bool:
    try:
        return Space(**json.loads(space)).fingerprint == fingerprint
    except (TypeError, ValueError):
        return False


def set_means(session: Session, generation: int, means: Mapping[str, Mean]) -> None:
    """Replace the means of a generation."""
    session.run("DELETE FROM means WHERE generation = ?", (generation,))
    session.run_all(
        "INSERT INTO means(generation, language, mean, passages) VALUES (?, ?, ?, ?)",
        [
            (generation, language, mean.vector.astype("<f4").tobytes(), mean.passages)
            for language, mean in means.items()
        ],
    )


def check(vectors: Sequence[NewVector], space: Space) -> None:
    """Raise BadVectors unless all of them are unit vectors of the space."""
    import numpy as np

    try:
        matrix = np.stack([one.vector for one in vectors])
    except ValueError:
        # Rows of different lengths do not stack; the check names what was expected.
        matrix = np.empty((0, 0), np.float32)
    check_vectors(matrix, count=len(vectors), dimensions=space.dimensions)


def _set_state(session: Session, number: int, state: GenerationState, reason: str | None) -> None:
    session.run(
        "UPDATE generations SET state = ?, reason = ? WHERE number = ?",
        (str(state), reason, number),
    )
