"""The texts of bookmarked pages, where the setting `fetch.pages` allows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import field, replace
from datetime import UTC, datetime

from twolane.ingest.drafting import title_of
from twolane.ingest.exchange.web_pages import NoPage, WebPage, fetch_page
from twolane.model.document import Document
from twolane.model.draft import Draft
from twolane.model.problem import Problem, ProblemCode
from twolane.model.values import dataclass
from twolane.settings.groups import Fetch

# The properties of a bookmark whose page was fetched, or could not be.
FETCHED = "fetched"
FETCH_PROBLEM = "fetch_problem"


@dataclass(slots=True)
class FetchReport:
    """How many pages were fetched, which could not be, and how long that took."""

    fetched: int = 0
    problems: list[Problem] = field(default_factory=list)
    seconds: float = 0.0


def fetch_texts(
    documents: Sequence[Document],
    limits: Fetch,
    save: Callable[[Draft, Document], None],
    progress: Callable[[int, int], None],
) -> FetchReport:
    """Give each bookmark the text of its page; what fails is noted in it, and not tried again."""
    report = FetchReport()
    began = time.perf_counter()
    for done, (document, page) in enumerate(_fetched(documents, limits), start=1):
        if isinstance(page, NoPage):
            report.problems.append(Problem(document.url or "", ProblemCode.UNREADABLE, str(page)))
            save(_with_properties(document, {FETCH_PROBLEM: str(page)}), document)
        else:
            report.fetched += 1
            save(_with_page(document, page), document)
        progress(done, len(documents))
    report.seconds = time.perf_counter() - began
    return report


def _fetched(
    documents: Sequence[Document], limits: Fetch
) -> Iterator[tuple[Document, WebPage | NoPage]]:
    """Every document with its page, as they come."""
    pool = ThreadPoolExecutor(max_workers=limits.connections, thread_name_prefix="fetch")
    try:
        running = {
            pool.submit(_page_or_problem, document.url or "", limits): document
            for document in documents
        }
        for future in as_completed(running):
            yield running[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _page_or_problem(url: str, limits: Fetch) -> WebPage | NoPage:
    try:
        page = fetch_page(url, limits)
    except NoPage as problem:
        return problem
    return page if page.text else NoPage("there is no text in it")


def _with_page(document: Document, page: WebPage) -> Draft:
    draft = _with_properties(document, {FETCHED: datetime.now(UTC).date().isoformat()})
    is_named = document.title != title_of(document.url, "")
    return replace(
        draft,
        title=document.title if is_named else page.title or document.title,
        description=document.description or page.description,
        body=page.text,
    )


def _with_properties(document: Document, properties: dict[str, str]) -> Draft:
    others = {
        name: value
        for name, value in document.properties.items()
        if name not in (FETCHED, FETCH_PROBLEM)
    }
    return replace(Draft.of(document), properties={**others, **properties})
