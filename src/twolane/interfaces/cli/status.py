"""`twolane status`, `doctor` and `settings`: how the index and its surroundings are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.opening import Call, open_library
from twolane.interfaces.cli.output import duration
from twolane.interfaces.wire import indexing as wire
from twolane.model.errors import BadSetting, StoreError
from twolane.model.scope import Scope
from twolane.model.values import dataclass
from twolane.settings import DECLARED, cache_path, database_place
from twolane.text.plural import counted

if TYPE_CHECKING:
    from twolane.library import Library
    from twolane.library.completeness import FileStatus, Status
    from twolane.model.document import Collection
    from twolane.settings import Settings

# A damaged file can have a problem per row; the first few say what is wrong.
_MOST_PROBLEMS = 10


def status(
    call: Call,
    files: Annotated[
        bool, typer.Option("--files", help="Show what became of each document and file, too.")
    ] = False,
) -> None:
    """Show how complete the index is."""
    with call.library() as library:
        found = library.status()
        collections = library.collections()
        each = library.files() if files else None
    if call.as_json:
        output.say_json(wire.status(found, each, collections))
        return
    if not call.quiet:
        _show(found, collections)
    for lane in found.degraded:
        output.say((f"{lane.lane.value} lane", output.BAD), f"  {lane.reason}")
    if each is not None:
        _show_files(each, has_vectors=found.generation is not None)


def _show(found: Status, collections: Sequence[Collection]) -> None:
    stats, progress = found.stats, found.progress
    languages = ", ".join(f"{name} {count:,}" for name, count in stats.languages.items())
    space = found.generation.space if found.generation else None
    rows = [
        ("documents", f"{stats.documents:,}"),
        ("passages", f"{stats.chunks:,}"),
        (
            "vectors",
            f"{progress.ready:,} ready, {progress.pending:,} pending, {progress.failed:,} failed"
            f"{_shared(found)}",
        ),
        *_others(found),
        ("files", f"{found.skipped:,} skipped, {found.failed:,} failed"),
        ("languages", languages or "none"),
        ("embedder", f"{space.embedder} ({space.model})" if space else "no vectors yet"),
        ("database", f"{found.location} ({stats.bytes / 1e6:,.1f} MB)"),
        *(
            ("collection", "  ".join(filter(None, (collection.name, collection.root))))
            for collection in collections
        ),
        *_stages(found),
        *_lag(found),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        output.say((f"{name:<{width}}", output.DIM), f"  {value}")


def _shared(found: Status) -> str:
    """Why there are fewer vectors than passages."""
    progress = found.progress
    fewer = progress.ready + progress.pending + progress.failed < found.stats.chunks
    return "; equal passages share one" if fewer else ""


def _others(found: Status) -> list[tuple[str, str]]:
    """A line for each set of vectors that is not complete, or waits for its turn."""
    rows = []
    for generation in found.generations:
        serves = (
            found.generation is not None and found.generation.number == generation.generation.number
        )
        if serves and not generation.progress.pending:
            continue
        left = generation.seconds_left
        about = f", about {duration(left)} left" if left is not None else ""
        state = generation.generation.state.value
        progress = generation.progress
        done = f"{progress.ready:,} of {progress.ready + progress.pending:,}"
        name = f"generation {generation.generation.number}"
        rows.append((name, f"{generation.generation.space.embedder}, {state}: {done}{about}"))
        if generation.generation.reason is not None:
            rows.append(("", generation.generation.reason))
    return rows


def _lag(found: Status) -> list[tuple[str, str]]:
    if found.lag is None:
        return []
    waits = f"{found.lag.changes:,} changes wait, {duration(found.lag.seconds)} behind"
    return [("qdrant", waits if found.lag.changes else "in step")]


def _stages(found: Status) -> list[tuple[str, str]]:
    """A line for each optional stage that ever ran, and one for what is kept of their answers."""
    rows = []
    for record in found.stages.records:
        per_call = f", {record.seconds / record.calls * 1000:,.0f} ms each" if record.calls else ""
        told = [f"{record.calls:,} calls{per_call}", f"{record.failures:,} failed"]
        told += [f"{count:,} {name}" for name, count in (("skipped", record.skipped),) if count]
        told += [f"{count:,} {name}" for name, count in (("cached", record.cached),) if count]
        told += [f"{record.tokens:,} tokens"] if record.tokens else []
        rows.append((record.stage, f"{record.model}: {', '.join(told)}"))
        if (wait := record.paused_until - time.time()) > 0:
            rows.append(("", f"pauses for {duration(wait)} more: {record.last_failure}"))
        elif record.in_a_row:
            rows.append(("", f"failed the last time: {record.last_failure}"))
    if found.stages.answers:
        size = f"{found.stages.bytes / 1e6:,.1f} MB"
        rows.append(("answers", f"{found.stages.answers:,} of chat models kept ({size})"))
    return rows


def _show_files(files: Sequence[FileStatus], *, has_vectors: bool) -> None:
    for file in files:
        stage = wire.file_stage(file, has_vectors=has_vectors)
        style = output.BAD if stage == wire.FileStage.FAILED else output.DIM
        reason = file.failure.reason if file.failure else file.record.reason
        at = file.embedded_at
        output.say(
            (f"{stage.value:<8}", style),
            "  ",
            (file.id or f"{file.collection}/{file.record.path}", output.PLACE),
            f"  {reason}" if reason else "",
            (f"  {at.astimezone():%Y-%m-%d %H:%M}" if at else "", output.DIM),
        )


# ------------------------------------------------------------------------------------- check-up


def doctor(
    call: Call,
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair what can be repaired; a copy is kept first.")
    ] = False,
) -> int:
    """Check the settings, the database and the embedder."""
    checkup = _Checkup(fix=fix)
    try:
        loaded = call.load()
    except BadSetting as error:
        checkup.add("settings", str(error), well=False)
    else:
        file = loaded.file
        checkup.add("settings", str(file) if file.is_file() else f"defaults; no file {file}")
        checkup.examine(loaded.settings)
    if call.as_json:
        output.say_json(wire.checkup(checkup.seen))
    else:
        for name, well, seen in checkup.seen:
            if not (well and call.quiet):
                verdict = ("ok     ", output.GOOD) if well else ("problem", output.BAD)
                output.say(verdict, f"  {name:<10}  {seen}")
    return failures.OK if all(well for _, well, _ in checkup.seen) else failures.PROBLEMS


@dataclass(slots=True)
class _Checkup:
    """What was looked at, whether it is well, and what was seen."""

    fix: bool = False
    seen: list[tuple[str, bool, str]] = field(default_factory=list)

    def add(self, name: str, seen: str, *, well: bool = True) -> None:
        self.seen.append((name, well, seen))

    def examine(self, settings: Settings) -> None:
        from twolane.library import embedder_problem, engine

        self.add("engine", engine(settings))
        try:
            with open_library(settings) as library:
                self._examine_database(library)
                self._examine_contents(library)
        except StoreError as error:
            self.add("database", str(error), well=False)
        if settings.embedding.embedder == "none":
            self.add("embedder", "none: search by words only")
            return
        wrong = embedder_problem(settings)
        self.add("embedder", wrong or f"{settings.embedding.embedder} answers", well=wrong is None)

    def _examine_database(self, library: Library) -> None:
        from twolane.library import keep_copy

        problems = library.check()
        if problems and self.fix:
            kept = keep_copy(library.settings)
            for done in library.repair():
                self.add("mended", done.reason)
            told = f"the database as it was is kept in {kept}"
            self.add("copy", told if kept else "none was kept: only pg_dump copies a server's")
            problems = library.check()
        for problem in problems[:_MOST_PROBLEMS]:
            self.add("database", f"{problem.path}: {problem.reason}", well=False)
        if len(problems) > _MOST_PROBLEMS:
            self.add("database", f"and {len(problems) - _MOST_PROBLEMS} more", well=False)
        if not problems:
            self.add("database", f"{library.location} is sound")
            self.add("digest", library.digest())
        elif self.fix:
            self.add("database", "what is left cannot be mended: restore a backup", well=False)
        else:
            self.add("database", "mend it with: twolane doctor --fix", well=False)

    def _examine_contents(self, library: Library) -> None:
        found = library.status()
        self.add(
            "documents",
            f"{found.stats.documents:,} in {counted(found.stats.chunks, 'passage')}",
        )
        if found.failed:
            # A file that cannot be read is told to its owner, but Twolane is not ill from it.
            self.add("files", f"{found.failed:,} could not be indexed: twolane status --files")
        for collection in library.collections():
            # A folder that is gone and has no notes here any more is nobody's trouble.
            gone = collection.root is not None and not Path(collection.root).is_dir()
            if gone and library.status(scope=Scope(collections=(collection.name,))).stats.documents:
                self.add(collection.name, f"the folder {collection.root} is gone", well=False)
        self._examine_gate(library)
        if library.settings.embedding.embedder == "none":
            return
        for lane in found.degraded:
            self.add("vectors", lane.reason, well=False)
        if not found.degraded:
            left = found.progress.pending + found.progress.failed
            missing = f"{counted(left, 'passage has', 'passages have')} none; run: twolane embed"
            self.add("vectors", missing if left else "complete", well=not left)

    def _examine_gate(self, library: Library) -> None:
        if library.settings.embedding.gate is None:
            return
        from twolane.interfaces.gates import gate_problem

        wrong = gate_problem(library)
        self.add(
            "gate", wrong or f"{library.settings.embedding.gate} can be asked", well=wrong is None
        )


def settings(
    call: Call,
    every: Annotated[
        bool, typer.Option("--all", help="Show every setting, not only the usual ones.")
    ] = False,
) -> None:
    """Show the settings, where they come from, what they mean."""
    loaded = call.load()
    # A place that is not set is where it is by default.
    places = {"db": database_place(loaded.settings), "cache": cache_path(loaded.settings)}
    values = {**loaded.settings.flat(), **places}
    file = loaded.file
    if call.as_json:
        rows = [
            (name, values[name], loaded.origins[name], one.metadata["meaning"])
            for name, one in DECLARED.items()
        ]
        output.say_json(wire.settings_list(str(file), rows))
        return
    hidden = 0
    for name, one in DECLARED.items():
        origin = loaded.origins[name]
        if not (every or one.metadata["shown"] or origin != "default"):
            hidden += 1
            continue
        output.say(
            (name, output.TITLE), f" = {_shown(values[name])}", (f"  ({origin})", output.DIM)
        )
        output.say(one.metadata["meaning"], indent=4)
    if not call.quiet:
        output.say()
        if hidden:
            output.say(f"{hidden} more are rarely changed; --all shows them.")
        output.say(
            f"Set search.limit as limit below [search] in {file} "
            "(TWOLANE_CONFIG names another file), "
            "or in the environment: TWOLANE_SEARCH_LIMIT=10."
        )


def _shown(value: Any) -> str:
    """The value as a file of settings or the environment would spell it."""
    if value is None:
        return "(unset)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(value) or "(empty)"
    return f"{value:g}" if isinstance(value, float) else str(value)
