"""`twolane get` and `twolane outline`: read what a search found."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

import twolane.interfaces.cli.output as output
from twolane.interfaces.cli.opening import NAMED, Call, Reference, reference_to, suggesting
from twolane.interfaces.wire import documents as wire
from twolane.results.excerpts import about, section_ids


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
    with call.library() as library, suggesting(library):
        part = library.excerpt(reference_to(library, reference), scope=NAMED)
        link = library.links([part.document]).get(part.document.id)
        if call.as_json:
            at = library.embedded_at(part.document.id, scope=NAMED)
            read = (part.document, part.text, part.lines, part.heading)
            output.say_json(wire.document_part(*read, link, at, library.file))
        else:
            # Of a bookmark there is often nothing but what it says of itself.
            output.say_text(part.text or "".join(f"{line}\n" for line in about(part.document)))


def outline(call: Call, reference: Reference) -> None:
    """Print the headings of a document, each with its line."""
    with call.library() as library, suggesting(library):
        document = library.document(reference_to(library, reference), scope=NAMED)
    if call.as_json:
        output.say_json(wire.outline(document))
        return
    output.say((document.title, output.TITLE))
    width = max((len(str(heading.line)) for heading in document.headings), default=0)
    top = min((heading.level for heading in document.headings), default=1)
    texts = Counter(heading.text for heading in document.headings)
    for one, id in zip(document.headings, section_ids(document.headings), strict=True):
        inward = "  " * (one.level - top)
        # Where several headings have one text, only the id tells them apart.
        apart = (f"  #{id}" if texts[one.text] > 1 else "", output.DIM)
        output.say((f"{one.line:>{width}}", output.DIM), f"  {inward}{one.text}", apart, indent=2)
