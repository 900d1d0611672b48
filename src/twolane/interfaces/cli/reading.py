"""`twolane get` and `twolane outline`: read what a search found."""

from __future__ import annotations

from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.naming import reference_to
from twolane.interfaces.cli.opening import Call
from twolane.interfaces.wire import documents as wire
from twolane.model.scope import Scope
from twolane.results.excerpts import about

# Who names a document means it, archived or not.
_NAMED = Scope(archived=True)


def get(
    call: Call,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="DOC[:FROM-TO|#HEADING]",
            help="An id, path, URL, title or alias; lines of the file, or a heading or a path.",
        ),
    ],
) -> None:
    """Print a document, a few lines of it, or a section."""
    with call.library() as library:
        part = library.excerpt(reference_to(library, reference), scope=_NAMED)
        link = library.links([part.document]).get(part.document.id)
    if call.as_json:
        said = wire.document_part(part.document, part.text, part.lines, part.heading, link)
        output.say_json(said)
    else:
        # Of a bookmark there is often nothing but what it says of itself.
        output.say_text(part.text or "".join(f"{line}\n" for line in about(part.document)))


def outline(
    call: Call,
    reference: Annotated[
        str, typer.Argument(metavar="DOC", help="An id, path, URL, unique title or alias.")
    ],
) -> None:
    """Print the headings of a document, each with its line."""
    with call.library() as library:
        document = library.document(reference_to(library, reference), scope=_NAMED)
    if call.as_json:
        output.say_json(wire.outline(document))
        return
    output.say((document.title, output.TITLE))
    width = max((len(str(one.line)) for one in document.headings), default=0)
    top = min((one.level for one in document.headings), default=1)
    for one in document.headings:
        inward = "  " * (one.level - top)
        output.say((f"{one.line:>{width}}", output.DIM), f"  {inward}{one.text}", indent=2)
