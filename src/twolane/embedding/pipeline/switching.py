"""Which generation serves: complete ones take over, may be refused, rolled back and collected."""

from __future__ import annotations

import logging
from collections.abc import Collection, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from twolane.embedding.centring import block, centred, means_of, outgrown, uncentred
from twolane.model.errors import BadInput
from twolane.model.scope import ANYWHERE
from twolane.model.space import Generation, GenerationState, Progress, Space
from twolane.model.values import dataclass
from twolane.ports import Stores
from twolane.ports.documents import Part
from twolane.ports.vectors import Mean, NewVector, VectorIndex

if TYPE_CHECKING:
    from twolane.ports.vectors import Vector

log = logging.getLogger("twolane")

# A generation takes over although this share of its passages failed for good:
# one text that no model reads must not keep all the others waiting for ever.
_FAILED_SHARE = 0.01

# The vectors of so many documents are read together.
_DOCUMENTS = 500


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a generation may take over, and on what grounds."""

    passed: bool
    reason: str


class Gate(Protocol):
    """Judges a complete generation before it takes over."""

    def __call__(self, candidate: Generation, serving: Generation) -> Verdict:
        """Whether the candidate may take the place of the serving generation."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What a look at the generations led to: which one took over, or why one was refused."""

    took_over: int | None = None
    refused: str | None = None


def is_complete(progress: Progress) -> bool:
    """Whether nothing is left to do, apart from a few passages that were given up."""
    every = progress.ready + progress.pending + progress.failed
    return (
        not progress.pending
        and progress.failed == progress.abandoned
        and progress.failed <= every * _FAILED_SHARE
    )


def settle(
    stores: Stores,
    wanted: Sequence[Space],
    *,
    keep: int,
    gate: Gate | None = None,
    again: bool = False,
    switch: bool = True,
) -> Settled:
    """Let the best complete generation serve; the later in `wanted`, the better the space.

    Others that are wanted stand by, those that are not retire, and `keep` retired ones are kept.
    A gate is asked first, once: what it refuses is held back until it is activated, or until a
    gate is to judge it `again`.
    Without `switch` the one that serves goes on, whatever is complete.
    """
    vectors = stores.vectors
    serving = _serving(vectors)
    least = _rank(serving, wanted) if serving else len(wanted)
    complete = [
        known
        for known in _wanted(vectors, wanted)
        # To tell takes long in a large library, so it is asked only where something may follow.
        if (block(known.space) is not None or _rank(known, wanted) > least)
        and _completed(stores, known)
    ]
    settled = Settled()
    best = next((one for one in reversed(complete) if _may_serve(one, again)), None)
    if switch and best and serving and _rank(best, wanted) > _rank(serving, wanted):
        settled = _switched(vectors, wanted, best, serving, gate)
    _collect(vectors, keep)
    return settled


def appoint(vectors: VectorIndex, wanted: Sequence[Space], number: int) -> None:
    """Let this generation serve because somebody says so, and keep better ones from taking over."""
    by_number = {generation.number: generation for generation in vectors.generations()}
    if number not in by_number:
        listed = ", ".join(map(str, by_number)) or "none"
        raise BadInput(f"there is no generation {number}; there is: {listed}")
    chosen = by_number[number]
    others = [other for other in _wanted(vectors, wanted) if other.number != number]
    better = {other.number for other in others if _rank(other, wanted) > _rank(chosen, wanted)}
    standby = {other.number for other in others} - better
    filling = {other.number for other in others if other.state == GenerationState.FILLING}
    _activate(vectors, number, standby=standby, held=better, filling=filling & better)


def previous(vectors: VectorIndex) -> Generation:
    """The generation to roll back to: the newest that served before, or stands by."""
    for state in (GenerationState.RETIRED, GenerationState.STANDBY):
        for generation in reversed(vectors.generations()):
            if generation.state == state:
                return generation
    raise BadInput("there is no earlier generation to roll back to")


def drop(vectors: VectorIndex, number: int) -> None:
    """Delete a generation that does not serve."""
    for generation in vectors.generations():
        if generation.number == number:
            if generation.state == GenerationState.SERVING:
                raise BadInput(f"generation {number} answers searches; activate another one first")
            vectors.set_state({number: None})
            return
    raise BadInput(f"there is no generation {number}; `twolane generation list` lists them")


def _wanted(vectors: VectorIndex, wanted: Sequence[Space]) -> list[Generation]:
    """The generations of the wanted spaces that are in use or on their way, in that order."""
    by_space = {
        generation.space: generation
        for generation in vectors.generations()
        if generation.state != GenerationState.RETIRED
    }
    return [by_space[space] for space in wanted if space in by_space]


def _serving(vectors: VectorIndex) -> Generation | None:
    for generation in vectors.generations():
        if generation.state == GenerationState.SERVING:
            return generation
    return None


def _rank(generation: Generation, wanted: Sequence[Space]) -> int:
    return list(wanted).index(generation.space) if generation.space in wanted else -1


def _may_serve(generation: Generation, again: bool) -> bool:
    # A golden set asked after every save would keep a processor busy, and say the same.
    return again or generation.state != GenerationState.HELD


def _switched(
    vectors: VectorIndex,
    wanted: Sequence[Space],
    best: Generation,
    serving: Generation,
    gate: Gate | None,
) -> Settled:
    verdict = gate(best, serving) if gate else Verdict(True, "")
    if not verdict.passed:
        reason = f"refused by the gate: {verdict.reason}"
        vectors.set_state({best.number: GenerationState.HELD}, reason)
        log.warning("generation %d does not take over: %s", best.number, verdict.reason)
        return Settled(refused=verdict.reason)
    standby = {other.number for other in _wanted(vectors, wanted)} - {best.number}
    _activate(vectors, best.number, standby=standby)
    log.info("generation %d (%s) serves now", best.number, best.space.embedder)
    return Settled(took_over=best.number)


def _activate(
    vectors: VectorIndex,
    number: int,
    *,
    standby: Container[int],
    held: Container[int] = (),
    filling: Collection[int] = (),
) -> None:
    """Let this generation serve.

    Of the others that served or stood by, those named stand by or are held back, and the rest
    retire; those `filling` are held back, too.
    """
    states: dict[int, GenerationState | None] = dict.fromkeys(filling, GenerationState.HELD)
    for generation in vectors.generations():
        if generation.state in (GenerationState.SERVING, GenerationState.STANDBY):
            states[generation.number] = (
                GenerationState.HELD
                if generation.number in held
                else GenerationState.STANDBY
                if generation.number in standby
                else GenerationState.RETIRED
            )
    states[number] = GenerationState.SERVING
    vectors.set_state(states, f"generation {number} was chosen instead")


def _completed(stores: Stores, generation: Generation) -> bool:
    """Whether the generation is complete; its means are worked out the first time that it is."""
    progress = stores.queue.progress(generation.number)
    if not is_complete(progress):
        return False
    part = block(generation.space)
    if part is not None:
        before = stores.vectors.means(generation.number)
        if not before or outgrown(before, progress.languages):
            _centre(stores, generation.number, part, before)
    return True


def _centre(stores: Stores, generation: int, part: slice, before: Mapping[str, Mean]) -> None:
    """Centre the vectors of a complete generation by means that are worked out anew."""
    import numpy as np

    passages = _passages(stores, generation)
    if not passages:
        return
    languages = [language for language, _ in passages.values()]
    vectors = np.stack([vector for _, vector in passages.values()])
    matrix = uncentred(vectors, languages, before, part)
    means = means_of(matrix, languages, part)
    moved = centred(matrix, languages, means, part)
    stores.vectors.add(
        generation,
        [NewVector(key, row) for key, row in zip(passages, moved, strict=True)],
        means=means,
    )


def _passages(stores: Stores, generation: int) -> dict[str, tuple[str | None, Vector]]:
    """Language and vector of every passage by content hash, in the order of document ids."""
    found: dict[str, tuple[str | None, Vector]] = {}
    ids = [one.id for one in stores.documents.list(ANYWHERE)]
    for at in range(0, len(ids), _DOCUMENTS):
        some = ids[at : at + _DOCUMENTS]
        documents = stores.documents.get(some, ANYWHERE, frozenset({Part.CHUNKS}))
        vectors = stores.vectors.get(generation, some)
        for id in some:
            own = {one.position: one.vector for one in vectors.get(id, ())}
            for chunk in documents[id].chunks if id in documents else ():
                if chunk.position in own:
                    found.setdefault(chunk.content_hash, (chunk.language, own[chunk.position]))
    return found


def _collect(vectors: VectorIndex, keep: int) -> None:
    retired = [
        generation
        for generation in vectors.generations()
        if generation.state == GenerationState.RETIRED
    ]
    for generation in retired[: max(0, len(retired) - keep)]:
        vectors.set_state({generation.number: None})
