"""Everything that Twolane raises on purpose, in one tree.

    TwolaneError                      the root: catch this to catch all of ours
    ├── BadInput                      the caller asked for something that cannot be done as asked
    │   ├── BadSetting                a setting has an unknown name or an impossible value
    │   ├── BadGoldenSet              a golden set cannot be read or contradicts itself; lists why
    │   ├── NoSuchDocument            a reference names no document that the caller may see
    │   ├── AmbiguousDocument         a reference names several documents; lists them
    │   ├── BadCursor                 a cursor cannot be read or belongs to another search
    │   ├── MissingFolder             a root to index does not exist or is not a folder
    │   ├── BadDraft                  a document that cannot be saved as it is; names the field
    │   ├── HeldInFile                a document whose truth is a file: change the file instead
    │   └── KeyReused                 a key that was sent before, with another request
    ├── Conflict                      somebody else changed the document since it was read
    ├── NotPermitted                  the scope lacks the capability that the call needs
    │   └── NotYours                  an id or a collection that the scope's owner may not use
    ├── StoreError                    the store could not do its work
    │   ├── NoDatabase                there is no database yet; names the command that makes one
    │   ├── NotADatabase              the file is not a Twolane database, or is damaged
    │   ├── NewerSchema               the database was written by a newer Twolane
    │   ├── DatabaseGone              the file was deleted or replaced while it was open
    │   ├── StoreBusy                 another process holds the database; try again
    │   ├── EngineUnavailable         what searches beside the database does not answer; others do
    │   │   └── EngineTaken           what it holds under this name is of another database
    │   └── TooSlow                   the time that a question may take is over; ask for less
    ├── EmbedderError                 the embedder could not do its work
    │   ├── EmbedderUnavailable       the model or its package is not installed or does not load
    │   └── BadVectors                the embedder answered with vectors that must not be stored
    └── StageError                    a reranker or a chat model could not do its work

Each message says what to do next.
Interfaces translate a class into an exit code or an HTTP status, never a message into one.
"""

from __future__ import annotations

from collections.abc import Sequence


class TwolaneError(Exception):
    """The root of the tree."""


class BadInput(TwolaneError):
    """The caller asked for something that cannot be done as asked."""


class BadSetting(BadInput):
    """A setting has an unknown name or an impossible value."""


class BadGoldenSet(BadInput):
    """A golden set cannot be read or contradicts itself; `problems` holds every reason."""

    SHOWN = 100

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        count = len(problems)
        lines = [f"{source}: {count} {'problem' if count == 1 else 'problems'} in this golden set"]
        lines += [f"  {problem}" for problem in problems[: self.SHOWN]]
        if count > self.SHOWN:
            lines.append(f"  … and {count - self.SHOWN} more")
        super().__init__("\n".join(lines))
        self.source = source
        self.problems = tuple(problems)


class NoSuchDocument(BadInput):
    """A reference names no document that the caller may see."""

    def __init__(self, reference: str, near: Sequence[str] = ()) -> None:
        hint = f"did you mean {' or '.join(map(repr, near))}? Or " if near else ""
        super().__init__(
            f"no document is called {reference!r}; {hint}"
            "name it by id, path, URL, title, file name or alias as a search shows them"
        )
        self.reference = reference


class AmbiguousDocument(BadInput):
    """A reference names several documents; `candidates` holds their ids."""

    def __init__(self, reference: str, candidates: Sequence[str]) -> None:
        listed = "\n".join(f"  {candidate}" for candidate in candidates)
        super().__init__(f"{reference!r} names {len(candidates)} documents; use one of\n{listed}")
        self.reference = reference
        self.candidates = tuple(candidates)


class BadCursor(BadInput):
    """A cursor cannot be read or belongs to another search."""


class MissingFolder(BadInput):
    """A root to index does not exist or is not a folder."""


class BadDraft(BadInput):
    """A document that cannot be saved as it is; `field` names the part that is wrong."""

    def __init__(self, id: str, field: str, reason: str) -> None:
        super().__init__(f"{id or 'a document without an id'}: {field}: {reason}")
        self.id = id
        self.field = field
        self.reason = reason

    def __reduce__(self) -> tuple[type[BadDraft], tuple[str, str, str]]:
        """It travels between processes, where an error is made anew from its arguments."""
        return type(self), (self.id, self.field, self.reason)


class HeldInFile(BadInput):
    """A document whose truth is a file: what is changed here would be lost with the next index."""

    def __init__(self, id: str, collection: str) -> None:
        super().__init__(
            f"{id!r} comes from a file of the collection {collection!r}; "
            "change the file and run `twolane index`"
        )
        self.id = id
        self.collection = collection


class KeyReused(BadInput):
    """A key that was sent before, with another request; nothing was changed."""

    def __init__(self, key: str) -> None:
        super().__init__(
            f"the key {key!r} was sent before with another request; nothing was changed: "
            "give each request a key of its own, and repeat it only with the same content"
        )
        self.key = key


class Conflict(TwolaneError):
    """Somebody else changed the document since it was read; nothing was changed.

    `expected` is the version that was asked for, `held` the one that is there (0 for none).
    """

    def __init__(self, id: str, expected: int, held: int) -> None:
        there = f"it has version {held}" if held else "it is not there"
        wanted = f"not version {expected}" if expected else "and was to be new"
        super().__init__(f"{id!r}: {there}, {wanted}; read it again and repeat the change")
        self.id = id
        self.expected = expected
        self.held = held


class NotPermitted(TwolaneError):
    """The scope lacks the capability that the call needs."""

    def __init__(self, capability: str) -> None:
        # A member of an enumeration would show itself as Python writes it.
        self.capability = str(capability)
        super().__init__(
            f"this needs the capability {self.capability!r}; ask for a scope that has it"
        )


class NotYours(NotPermitted):
    """An id or a collection that the scope's owner may not use; what is there is not told."""

    def __init__(self, what: str, name: str) -> None:
        TwolaneError.__init__(self, f"the {what} {name!r} is not yours to use; choose another")
        self.capability = f"the {what} {name}"


class StoreError(TwolaneError):
    """The store could not do its work; `location` is what the message calls the store."""

    def __init__(self, message: str, location: str = "") -> None:
        super().__init__(message)
        self.location = location


class NoDatabase(StoreError):
    """There is no database yet."""

    def __init__(self, location: str) -> None:
        super().__init__(
            f"no database at {location}; make one with: twolane index FOLDER", location
        )


class NotADatabase(StoreError):
    """The file is not a Twolane database, or is damaged."""


class NewerSchema(StoreError):
    """The database was written by a newer Twolane."""


class DatabaseGone(StoreError):
    """The file was deleted or replaced while it was open; what is written would be lost."""

    def __init__(self, location: str, *, replaced: bool) -> None:
        what = "replaced by another file" if replaced else "deleted or moved"
        first = "" if replaced else "put it, or a backup, in its place, and "
        super().__init__(
            f"{location} was {what} while it was open, so nothing is saved or found any more; "
            f"{first}start this program again",
            location,
        )


class StoreBusy(StoreError):
    """Another process holds the database."""


class EngineUnavailable(StoreError):
    """What searches beside the database does not answer; a search goes on without its lanes."""


class EngineTaken(EngineUnavailable):
    """What searches beside the database holds another one under the same name."""


class TooSlow(StoreError):
    """The time that a question may take is over."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; ask for less, or again later")
        self.reason = reason


class EmbedderError(TwolaneError):
    """The embedder could not do its work."""


class EmbedderUnavailable(EmbedderError):
    """The model or its package is not installed or does not load."""


class BadVectors(EmbedderError):
    """The embedder answered with vectors that must not be stored."""


class StageError(TwolaneError):
    """A reranker or a chat model could not do its work; a search answers without it."""
