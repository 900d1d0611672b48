"""`twolane eval golden` and `eval freshness`: golden sets, and what is out of date."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.models import TyperPath

import twolane.interfaces.cli.output as output
from twolane.interfaces import failures
from twolane.interfaces.cli.eval_options import asked_library, say_grid
from twolane.interfaces.cli.guard import group
from twolane.interfaces.cli.opening import AsJson, Call, Quiet, Verbose, open_library, typed
from twolane.interfaces.cli.output import steps_bar
from twolane.interfaces.wire import evaluation as wire
from twolane.model.errors import BadInput
from twolane.model.scope import Scope
from twolane.text.plural import counted

if TYPE_CHECKING:
    import twolane.evaluation.freshness as evaluation
    from twolane.evaluation.golden import GoldenSet

Out = Annotated[Path, typer.Argument(metavar="OUT.json", help="The file of the golden set.")]


def build(
    call: Call,
    out: Out,
    count: Annotated[int, typer.Option(metavar="N", min=1, help="How many queries in all.")] = 100,
    seed: Annotated[int, typer.Option(metavar="S", help="Another seed, other queries.")] = 0,
    kinds: Annotated[
        str, typer.Option(metavar="K,K…", help="What queries are made from.")
    ] = "title,alias,heading,anchor,phrase",
    hide_words: Annotated[
        str,
        typer.Option(
            metavar="none|own|stems",
            help="own: drop the words of the note's title; stems: use other forms of the words.",
        ),
    ] = "none",
    split: Annotated[
        str,
        typer.Option(metavar="A,B", help="Write OUT.A.json and OUT.B.json with different notes."),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Make a golden set from your own notes."""
    from twolane.evaluation.golden import Names, validate, vault_of
    from twolane.evaluation.golden_build import Hiding, Recipe
    from twolane.evaluation.golden_build import build as build_sets
    from twolane.evaluation.golden_formats import save_golden

    if hide_words not in list(Hiding):
        raise BadInput(f"--hide-words {hide_words!r} is none of {', '.join(Hiding)}")
    recipe = Recipe(count, seed, _listed(kinds), Hiding(hide_words), _listed(split) or ("",))
    files = [_beside(out, part) for part in recipe.splits]
    for file in files:
        if file.exists() and not force:
            raise BadInput(f"{file} exists; choose another name, or replace it with --force")
    settings = call.load().settings
    with steps_bar(quiet=call.quiet) as steps, open_library(settings) as library:
        steps.step("reading the notes")
        sets = build_sets(library, recipe, name=_stem(out), vault=vault_of(library, out))
        known = Names(library).known()
        for one in sets:
            validate(one, known)
    for file, one in zip(files, sets, strict=True):
        save_golden(one, file)
    _tell(list(zip(files, sets, strict=True)), call)


def add(
    call: Call,
    out: Out,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What is searched for.")],
    relevant: Annotated[
        list[str] | None, typer.Option(metavar="DOC", help="A document that answers it.")
    ] = None,
    partial: Annotated[
        list[str] | None, typer.Option(metavar="DOC", help="One that answers a part of it.")
    ] = None,
    unanswerable: Annotated[
        bool, typer.Option("--unanswerable", help="No document answers it.")
    ] = False,
    lang: Annotated[str | None, typer.Option(metavar="LANG", help="The query's language.")] = None,
    direction: Annotated[
        str | None, typer.Option(metavar="A→B", help="Languages of query and answer.")
    ] = None,
    category: Annotated[
        str | None, typer.Option(metavar="NAME", help="A group to report on its own.")
    ] = None,
) -> None:
    """Add a judged query to a golden set, or start one."""
    from twolane.evaluation.golden import GoldenQuery, Names, vault_of, with_query
    from twolane.evaluation.golden_formats import open_set, save_golden

    with call.library() as library:
        names = Names(library)

        def resolved(references: Sequence[str] | None) -> tuple[str, ...]:
            found = (library.document(typed(reference)) for reference in references or ())
            return tuple(names.of(document) for document in found)

        judged = GoldenQuery(
            id="",
            query=typed(query),
            relevant=resolved(relevant),
            partial=resolved(partial),
            unanswerable=unanswerable,
            lang=lang,
            direction=direction,
            category=category,
        )
        held = open_set(out, vault_of(library, out))
    longer = with_query(held, judged)
    save_golden(longer, out)
    _tell([(out, longer)], call)


Owner = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose results; otherwise those of nobody.")
]


def from_log(
    call: Call,
    out: Out,
    owner: Owner = None,
    least: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Documents opened so often for a query count."),
    ] = 1,
) -> None:
    """Make candidates for a golden set from opened results."""
    from twolane.evaluation.golden import vault_of
    from twolane.evaluation.golden_build import with_opened
    from twolane.evaluation.golden_formats import open_set, save_golden

    with call.library() as library:
        scope = Scope(owner=owner)
        before = open_set(out, vault_of(library, out))
        longer = with_opened(before, library, scope=scope, least=least)
        if not longer.queries:
            on = library.settings.feedback.enabled
            switch = "" if on else "; switch it on with `feedback.enabled = true`"
            raise BadInput(f"nothing was noted of opened results yet{switch}")
    save_golden(longer, out)
    _tell([(out, longer)], call)


def forget_log(
    call: Call,
    owner: Owner = None,
    everybody: Annotated[
        bool, typer.Option("--everybody", help="Forget those of all owners.")
    ] = False,
) -> None:
    """Forget which results were opened."""
    with call.library() as library:
        gone = library.forget_opened(scope=Scope(owner=owner), everybody=everybody)
    if call.as_json:
        output.say_json({"forgotten": gone})
    elif not call.quiet:
        output.say(f"{counted(gone, 'note')} of opened results deleted")


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A golden set in any format.")],
    vault: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The notes that it is about; otherwise as it says."),
    ] = None,
    as_json: AsJson = False,
    db: Annotated[
        str | None,
        typer.Option(
            "--db",
            metavar="FILE",
            click_type=TyperPath(),
            help="A database that has the notes.",
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Check a golden set, and that its notes exist."""
    from twolane.evaluation.golden import validate
    from twolane.evaluation.golden_formats import corpus_ids, load_golden

    if db is not None and vault is not None:
        raise BadInput("give the notes either as --db or as --vault, not both")
    call = Call(as_json, db, quiet, verbose)
    settings = call.load().settings
    checked = load_golden(file)
    validate(checked)
    if vault is not None:
        checked = replace(checked, vault=str(vault.expanduser().resolve()))
    if db is not None or checked.vault is not None:
        # Words are enough to know which notes there are.
        words_only = settings.changed(embedding={"embedder": "none"}) if db is None else settings
        with steps_bar(quiet=quiet) as steps:
            asked_library(checked, file, words_only, steps.step, has_db=db is not None).close()
    elif file.is_dir():
        validate(checked, corpus_ids(file))
    elif not quiet:
        output.note("it names no vault, so whether its notes exist was not checked; give --db")
    _tell([(file, checked)], call)


def _tell(sets: Sequence[tuple[Path, GoldenSet]], call: Call) -> None:
    if call.as_json:
        output.say_json(wire.golden_files(sets))
        return
    if call.quiet:
        return
    for path, one in sets:
        groups = Counter(query.category or "other" for query in one.queries)
        listed = ", ".join(f"{name} {count}" for name, count in sorted(groups.items()))
        output.say(
            (str(path), output.PLACE),
            f"  {counted(len(one.queries), 'query', 'queries')} ({listed})",
        )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _stem(out: Path) -> str:
    return out.name.removesuffix(".json")


def _beside(out: Path, part: str) -> Path:
    """The file of one part: `notes.json` becomes `notes.dev.json`."""
    return out.with_name(f"{_stem(out)}.{part}.json") if part else out


golden = group(
    "golden",
    "Make, extend and check golden sets.",
    {
        "build": build,
        "add": add,
        "check": check,
        "from-log": from_log,
        "forget-log": forget_log,
    },
)


def freshness(
    call: Call,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything is stale.")
    ] = False,
) -> int:
    """Show which documents have no vector, or an old one."""
    import twolane.evaluation.freshness as evaluation

    with call.library() as library:
        state = evaluation.freshness(library)
    if call.as_json:
        output.say_json(wire.freshness(state))
    else:
        _show(state, quiet=call.quiet)
    return failures.PROBLEMS if strict and state.stale else failures.OK


def _show(state: evaluation.Freshness, *, quiet: bool) -> None:
    if state.generations and not quiet:
        head = ["generation", "state", "embedder", "model", "dimensions", "ready", "pending"]
        rows = [
            [
                str(generation.number),
                generation.state.value,
                generation.space.embedder,
                generation.space.model,
                str(generation.space.dimensions),
                f"{progress.ready:,}",
                f"{progress.pending + progress.failed:,}",
            ]
            for generation, progress in state.generations
        ]
        say_grid([head, *rows], indent=0)
    if state.degraded:
        output.say((state.degraded, output.BAD))
    _list("no vector: not found by meaning", state.missing)
    _list("only some passages have a vector", state.partial)
    if state.pending or state.failed:
        output.say(
            f"{counted(state.pending, 'passage')} pending, {state.failed:,} failed; ",
            "run: twolane embed",
        )
    if not state.stale and not quiet:
        output.say(("every passage has its vector", output.GOOD))


def _list(title: str, ids: Sequence[str]) -> None:
    if not ids:
        return
    output.say((f"{counted(len(ids), 'document')}: ", output.BAD), title)
    output.say_first([((id, output.PLACE),) for id in ids], ": --json names them all")
