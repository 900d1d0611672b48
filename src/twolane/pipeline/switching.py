"""Which generation serves: complete ones take over, may be refused, rolled back and collected."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from twolane.centring import block, centred, means_of, outgrown, uncentred
from twolane.errors import BadInput
from twolane.model import Generation, GenerationState, Progress, Space, instead
from twolane.ports import Vectors

log = logging.getLogger("twolane")

# A generation takes over although this share of its passages failed for good:
# one text that no model reads must not keep all the others waiting for ever.
_FAILED_SHARE = 0.01


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
    vectors: Vectors,
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
    complete = [one for one in _wanted(vectors, wanted) if _completed(vectors, one)]
    settled = Settled()
    best = next((one for one in reversed(complete) if _may_serve(one, again)), None)
    serving = _serving(vectors)
    if switch and best and serving and _rank(best, wanted) > _rank(serving, wanted):
        settled = _switched(vectors, wanted, best, serving, gate)
    _collect(vectors, keep)
    vectors.sweep()
    return settled


def appoint(vectors: Vectors, wanted: Sequence[Space], number: int) -> None:
    """Let this generation serve because somebody says so, and keep better ones from taking over."""
    held = {one.number: one for one in vectors.generations()}
    if number not in held:
        listed = ", ".join(map(str, held)) or "none"
        raise BadInput(f"there is no generation {number}; there is: {listed}")
    chosen = held[number]
    others = [one for one in _wanted(vectors, wanted) if one.number != number]
    better = {one.number for one in others if _rank(one, wanted) > _rank(chosen, wanted)}
    standby = {one.number for one in others} - better
    vectors.activate(number, standby=standby, held=better)
    for one in others:
        if one.number in better and one.state == GenerationState.FILLING:
            vectors.hold(one.number, instead(number))


def previous(vectors: Vectors) -> Generation:
    """The generation to roll back to: the newest that served before, or stands by."""
    for state in (GenerationState.RETIRED, GenerationState.STANDBY):
        for one in reversed(vectors.generations()):
            if one.state == state:
                return one
    raise BadInput("there is no earlier generation to roll back to")


def drop(vectors: Vectors, number: int) -> None:
    """Delete a generation that does not serve."""
    for one in vectors.generations():
        if one.number == number:
            if one.state == GenerationState.SERVING:
                raise BadInput(f"generation {number} answers searches; activate another one first")
            vectors.drop_generation(number)
            return
    raise BadInput(f"there is no generation {number}; `twolane generation list` lists them")


def _wanted(vectors: Vectors, wanted: Sequence[Space]) -> list[Generation]:
    """The generations of the wanted spaces that are in use or on their way, in that order."""
    held = {one.space: one for one in vectors.generations() if one.state != GenerationState.RETIRED}
    return [held[space] for space in wanted if space in held]


def _serving(vectors: Vectors) -> Generation | None:
    for one in vectors.generations():
        if one.state == GenerationState.SERVING:
            return one
    return None


def _rank(generation: Generation, wanted: Sequence[Space]) -> int:
    return list(wanted).index(generation.space) if generation.space in wanted else -1


def _may_serve(generation: Generation, again: bool) -> bool:
    # A golden set asked after every save would keep a processor busy, and say the same.
    return again or generation.state != GenerationState.HELD


def _switched(
    vectors: Vectors,
    wanted: Sequence[Space],
    best: Generation,
    serving: Generation,
    gate: Gate | None,
) -> Settled:
    verdict = gate(best, serving) if gate else Verdict(True, "")
    if not verdict.passed:
        vectors.hold(best.number, f"refused by the gate: {verdict.reason}")
        log.warning("generation %d does not take over: %s", best.number, verdict.reason)
        return Settled(refused=verdict.reason)
    standby = {one.number for one in _wanted(vectors, wanted) if one.number != best.number}
    vectors.activate(best.number, standby=standby)
    log.info("generation %d (%s) serves now", best.number, best.space.embedder)
    return Settled(took_over=best.number)


def _completed(vectors: Vectors, generation: Generation) -> bool:
    """Whether the generation is complete; its means are worked out the first time that it is."""
    if not is_complete(vectors.progress(generation.number)):
        return False
    _centre(vectors, generation)
    return True


def _centre(vectors: Vectors, generation: Generation) -> None:
    """Centre a generation that is complete for the first time, or has outgrown its means."""
    part = block(generation.space)
    if part is None:
        return
    before = vectors.means(generation.number)
    # This is asked after every save, so the question that costs little comes first.
    if before and not all(
        outgrown(vectors.spoken(generation.number, at_most=bound)) for bound in (True, False)
    ):
        return
    import numpy as np

    held = vectors.all_vectors(generation.number)
    if not held:
        return
    languages = [language for _, _, language, _ in held]
    matrix = uncentred(np.stack([vector for *_, vector in held]), languages, before, part)
    means = means_of(matrix, languages, part)
    moved = centred(matrix, languages, means, part)
    vectors.recentre(
        generation.number,
        means,
        [(one[0], one[1], row) for one, row in zip(held, moved, strict=True)],
    )


def _collect(vectors: Vectors, keep: int) -> None:
    retired = [one for one in vectors.generations() if one.state == GenerationState.RETIRED]
    for one in retired[: max(0, len(retired) - keep)]:
        vectors.drop_generation(one.number)
