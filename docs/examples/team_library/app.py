"""The application: its lists come from its own tables, and their order by relevance from Twolane.

TEAM_LIBRARY=postgresql://team@localhost/team uvicorn app:app
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from feeder import item_of, keep_feeding
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from twolane import Answer, Kind, Library, Scope

KINDS = ("bookmark", "note", "prompt")

# The rows of a page, by kind and id.
_ROWS = """
SELECT '{kind}' AS kind, id, title, description, updated_at::text, archived_at::text
FROM {kind}s WHERE id = ANY(%s) AND user_id = %s AND deleted_at IS NULL"""

# The newest of all items; {all} are those of each kind.
_NEWEST = """
SELECT kind, id, title, description, updated_at::text, archived_at::text FROM ({all}) AS items
ORDER BY items.updated_at DESC, kind, id LIMIT %(limit)s"""
_ALL = """
SELECT '{kind}' AS kind, id, title, description, updated_at, archived_at FROM {kind}s
WHERE user_id = %(user)s AND deleted_at IS NULL AND archived_at IS NULL"""


class AsyncLibrary:
    """Twolane's library for `async` code: every question is asked in a thread."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def search(self, text: str, scope: Scope, limit: int) -> Answer:
        """The best documents in scope."""
        return await run_in_threadpool(self._library.search, text, scope=scope, limit=limit)


@dataclass(frozen=True)
class Services:
    """What requests need."""

    rows: AsyncConnectionPool[Any]
    library: AsyncLibrary


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Open the library and the application's own database, and feed one from the other."""
    url = os.environ["TEAM_LIBRARY"]
    stopping = threading.Event()
    # Twolane's tables are in a schema of their own, in the same database.
    with Library.open(url) as library:
        library.start_worker()
        feeder = threading.Thread(target=keep_feeding, args=(url, library, stopping))
        feeder.start()
        try:
            async with AsyncConnectionPool(url, open=False) as pool:
                app.state.services = Services(pool, AsyncLibrary(library))
                yield
        finally:
            stopping.set()
            feeder.join()


async def items(request: Request) -> JSONResponse:
    """`/bookmarks`, `/notes`, `/prompts` and `/content`: newest first, or best first for `q`."""
    user = int(request.headers["x-user"])
    asked = request.query_params
    own = request.path_params.get("kinds")
    kinds = (own[:-1],) if own else tuple(asked.getlist("type")) or KINDS
    if unknown := set(kinds) - set(KINDS):
        return JSONResponse({"error": f"there is no type {unknown.pop()!r}"}, 400)
    text, limit = asked.get("q", ""), min(int(asked.get("limit", "20")), 100)
    services: Services = request.app.state.services
    if not text and not asked.get("tag"):
        return JSONResponse({"items": await newest(services, user, kinds, limit)})
    scope = Scope(
        owner=str(user),
        kinds=tuple(Kind(kind) for kind in kinds),
        tags=tuple(asked.getlist("tag")),
    )
    if asked.get("archived") == "true":
        scope = replace(scope, archived=True)
    answer = await services.library.search(text, scope, limit)
    return JSONResponse(
        {
            "items": await joined(services, user, answer),
            "degraded": [one.reason for one in answer.degraded],
        }
    )


async def newest(
    services: Services, user: int, kinds: tuple[str, ...], limit: int
) -> list[dict[str, Any]]:
    """The items that changed last, by the application's own tables alone."""
    every = " UNION ALL ".join(_ALL.format(kind=kind) for kind in kinds)
    statement = _NEWEST.format(all=every)
    async with services.rows.connection() as connection:
        cursor = connection.cursor(row_factory=dict_row)
        await cursor.execute(statement.encode(), {"user": user, "limit": limit})
        return await cursor.fetchall()


async def joined(services: Services, user: int, answer: Answer) -> list[dict[str, Any]]:
    """The rows of what was found, in the order in which it was found.

    What was deleted a moment ago may still be found, and has no row any more.
    """
    wanted: dict[str, list[int]] = {}
    for result in answer.results:
        kind, item = item_of(result.id)
        wanted.setdefault(kind, []).append(item)
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    async with services.rows.connection() as connection:
        cursor = connection.cursor(row_factory=dict_row)
        for kind, ids in wanted.items():
            await cursor.execute(_ROWS.format(kind=kind).encode(), (ids, user))
            rows |= {(kind, row["id"]): row for row in await cursor.fetchall()}
    return [
        {**rows[item_of(one.id)], "snippet": one.snippet, "relevance": one.relevance}
        for one in answer.results
        if item_of(one.id) in rows
    ]


app = Starlette(
    routes=[Route("/content", items), Route("/{kinds:str}", items)],
    lifespan=lifespan,
)
