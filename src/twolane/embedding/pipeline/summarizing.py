"""An optional stage behind the scenes: a chat model summarises long documents that lack a summary.

A person's summary is never touched, and nothing waits for this stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from twolane.embedding.chat.asking import ask_chat, prompt_of
from twolane.embedding.stages import Stage
from twolane.ingest.chunking import estimate_tokens, plain
from twolane.ingest.chunking.splitting import longest_beginning
from twolane.ingest.saving import rewrite
from twolane.ingest.summaries import with_summary
from twolane.model.document import Document
from twolane.model.errors import Conflict, StageError
from twolane.model.scope import Except, Having, Part, Scope
from twolane.ports.chat import Chat
from twolane.ports.documents import DocumentStore
from twolane.settings import Settings

# A summary is a few sentences; what is longer or shorter is something else.
_MOST_TOKENS = 200
_SHORTEST, _LONGEST = 20, 1200

_LACKING = Scope(archived=True, filters=(Except(Having(Part.SUMMARY)), Having(Part.BODY)))

# So many documents are read at a time.
_BATCH = 100


class Summarizing:
    """Writes missing summaries, one document after the other; made for one thread."""

    def __init__(
        self, documents: DocumentStore, settings: Settings, chat: Chat, stage: Stage
    ) -> None:
        self._documents = documents
        self._settings = settings
        self._chat = chat
        self._stage = stage
        # The version of each document that needs no summary, or got none, is not looked at again.
        self._passed: dict[str, int] = {}

    def run(self, stop: Callable[[], bool]) -> int:
        """Summarise what is long and lacks a summary, until all is done or the stage fails.

        How many documents got one.
        """
        written = 0
        for document in self._long():
            if stop():
                break
            try:
                summary = self._summary(document)
            except StageError:
                # It is counted; one that pauses says so for every document, so the rest waits.
                if self._stage.is_paused:
                    break
                self._passed[document.id] = document.version
                continue
            if self._keep(document, summary):
                written += 1
        return written

    def _long(self) -> Iterator[Document]:
        ids = [place.id for place in self._documents.list(_LACKING)]
        for at in range(0, len(ids), _BATCH):
            yield from self._long_among(ids[at : at + _BATCH])

    def _long_among(self, ids: Sequence[str]) -> Iterator[Document]:
        heads = self._documents.get(ids, _LACKING, frozenset())
        passed = self._passed
        unknown = [id for id, one in heads.items() if passed.get(id) != one.document.version]
        for id, stored in self._documents.get(unknown, _LACKING).items():
            if estimate_tokens(stored.document.body) >= self._settings.summaries.min_tokens:
                yield stored.document
            else:
                passed[id] = stored.document.version

    def _summary(self, document: Document) -> str:
        """What the model says of a document; StageError if it says nothing in time."""
        text = f"{document.title}\n\n{plain(document.body)}"
        most = self._settings.summaries.max_tokens
        if estimate_tokens(text) > most:
            text = text[: longest_beginning(text, 0, len(text), most)]
        return ask_chat(self._chat, self._stage, text, read_summary, most_tokens=_MOST_TOKENS)

    def _keep(self, document: Document, summary: str) -> bool:
        """Keep the summary unless the document has changed meanwhile."""
        version = prompt_of(self._stage.name).version
        try:
            written = with_summary(document, summary, self._chat.name, version)
            rewrite(self._documents, self._settings, written)
        except Conflict:
            return False
        return True


def read_summary(text: str) -> str:
    """The summary that a chat model wrote, as one paragraph; StageError if it is none.

    Small models repeat themselves, or their own markup, without end.
    """
    words = text.split()
    summary = " ".join(words)
    if not _SHORTEST <= len(summary) <= _LONGEST or not summary.isprintable():
        raise StageError(f"the chat model's answer is no summary ({len(summary):,} characters)")
    if "<|" in summary or len(set(words)) < len(words) / 3:
        raise StageError("the chat model repeats itself or its own markup")
    return summary
