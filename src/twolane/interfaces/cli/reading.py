"""`twolane get` and `twolane outline`: read what a search found."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.naming import reference_to, suggesting
from twolane.interfaces.cli.opening import Call
from twolane.interfaces.wire import documents as wire
from twolane.model.scope import Scope
from twolane.results.excerpts import about
from twolane.results.sections import section_ids

# Who names a document means it, archived or not.
_NAMED = Scope(archived=True)


def get(
    call: Call,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="DOC[:FROM-TO|#HEADING|#^BLOCK]",
            help="An id, path, URL, title, file name or alias; lines of the file, or a section.",
        ),
    ],
) -> None:
    """Print a document, a few lines of it, or a section."""
    with call.library() as library, suggesting(library, _NAMED):
        part = library.excerpt(reference_to(library, reference), scope=_NAMED)
        link = library.links([part.document]).get(part.document.id)
        at = library.embedded_at(part.document.id, scope=_NAMED) if call.as_json else None
    if call.as_json:
        said = wire.document_part(part.document, part.text, part.lines, part.heading, link, at)
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
    with call.library() as library, suggesting(library, _NAMED):
        document = library.document(reference_to(library, reference), scope=_NAMED)
    if call.as_json:
        output.say_json(wire.outline(document))
        return
    output.say((document.title, output.TITLE))
    width = max((len(str(one.line)) for one in document.headings), default=0)
    top = min((one.level for one in document.headings), default=1)
    texts = Counter(one.text for one in document.headings)
    for one, id in zip(document.headings, section_ids(document.headings), strict=True):
        inward = "  " * (one.level - top)
        # Where several headings have one text, only the id tells them apart.
        apart = (f"  #{id}" if texts[one.text] > 1 else "", output.DIM)
        output.say((f"{one.line:>{width}}", output.DIM), f"  {inward}{one.text}", apart, indent=2)
