"""Running the server: its sockets, its end, and the folders that it watches meanwhile."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from twolane.library import Library
from twolane.model.errors import BadInput, TwolaneError
from twolane.settings import Settings

if TYPE_CHECKING:
    from uvicorn import Server

    from twolane.ingest.indexing import Report

log = logging.getLogger("twolane.http")

# How long requests that have begun may take when the server is told to stop; then searches end.
_DRAIN_SECONDS = 3

# So long after it was told to stop the server ends in any case. What was saved is safe, and a
# change that is not done by then is undone when the database is opened next.
_END_SECONDS = 8

# Connections that the system keeps for us while we are busy.
_BACKLOG = 512


def serve(
    settings: Settings,
    *,
    watch: bool = False,
    agents_only: bool = False,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve the library that the settings name until the process is told to stop.

    `watch` follows its folders as they change.
    `agents_only` serves `/mcp` without the page and the API, and changes no document.
    `started` is told the address once requests are taken.
    """
    if not all(map(find_spec, ("uvicorn", "starlette", "prometheus_client"))):
        raise BadInput("the server needs more packages; run: pip install 'twolane[serve]'")
    import uvicorn

    from twolane.interfaces.http.app import Application
    from twolane.interfaces.http.auth import Auth
    from twolane.interfaces.http.dispatch import Workers
    from twolane.interfaces.http.protocol import Patience, spoken
    from twolane.interfaces.token_files import take_over

    with ExitStack() as opened:
        told_to_stop = opened.enter_context(_ended_in_any_case())
        library = opened.enter_context(_opened(settings, create=not agents_only))
        # Who is let in is settled before anybody can ask.
        take_over(library, settings)
        auth = opened.enter_context(closing(Auth(settings, library)))
        listening = opened.enter_context(_bound(settings.server.host, settings.server.port))
        opened.enter_context(watching(library, wanted=watch))
        if not agents_only:
            library.start_worker()
        many = settings.server.processes and not agents_only
        workers = Workers(settings, settings.server.processes) if many else None
        application = Application(library, auth, settings, workers, agents_only=agents_only)
        server = _quiet(uvicorn.Server, told_to_stop)(
            uvicorn.Config(
                application,
                http=spoken(Patience.of(settings.server)),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_DRAIN_SECONDS,
            )
        )
        if workers is None:
            # Whoever asks first should not wait for the model.
            threading.Thread(target=_warm, args=(library,), daemon=True).start()
        started(_address(listening))
        try:
            server.run([listening])
        finally:
            application.close()


def _opened(settings: Settings, *, create: bool) -> Library:
    library = Library.open(settings=settings, create=create)
    if settings.embedding.gate is not None:
        from twolane.interfaces.gates import guard_by_settings

        guard_by_settings(library)
    return library


@contextmanager
def _ended_in_any_case() -> Iterator[Callable[[], None]]:
    """A call that begins the last seconds of the process, unless the block ends within them.

    Work that hangs, in a thread or in a library that we call, must not keep the server from ending.
    """
    ended = threading.Event()

    def end() -> None:
        if not ended.wait(_END_SECONDS):
            log.warning("work was given up that went on %d s after the signal", _END_SECONDS)
            os._exit(1)

    try:
        yield lambda: threading.Thread(target=end, daemon=True).start()
    finally:
        ended.set()


def _quiet(server: type[Server], told_to_stop: Callable[[], None]) -> type[Server]:
    """The server, ending in good order: it would otherwise end itself by the signal it got."""

    class Quiet(server):  # type: ignore[valid-type, misc]
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            told_to_stop()
            super().handle_exit(sig, frame)

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            before = {one: signal.signal(one, self.handle_exit) for one in _SIGNALS}
            try:
                yield
            finally:
                for one, handler in before.items():
                    signal.signal(one, handler)

    return Quiet


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _warm(library: Library) -> None:
    try:
        library.search("twolane", limit=1)
    # A server that cannot be warmed still answers, and says what is wrong when it is asked.
    except Exception:
        log.exception("the first search failed")


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; an address in use is an error before anything else happens."""
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    # Only where the protocol is named, asyncio sends without delay; the second part of an answer
    # would otherwise wait forty milliseconds for the client to say that it has the first.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((name, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise BadInput(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


# A look at a large folder may be under way when the server ends; it stops between two batches.
_WATCH_END_SECONDS = 10


@contextmanager
def watching(library: Library, *, wanted: bool) -> Iterator[None]:
    """Index the folders of the library as they change, if that is wanted, until the block ends."""
    if not wanted:
        yield
        return
    folders = [
        Path(collection.root) for collection in library.collections() if collection.root is not None
    ]
    if not folders:
        raise BadInput("there is no folder to watch; index one first with: twolane index FOLDER")
    stop = threading.Event()
    thread = threading.Thread(target=_watch, args=(library, folders, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_WATCH_END_SECONDS)


def _watch(library: Library, folders: list[Path], stop: threading.Event) -> None:
    there = [folder for folder in folders if folder.is_dir()]
    for folder in set(folders).difference(there):
        log.warning("%s is not there, and is not watched until the server starts again", folder)
    try:
        if there:
            library.watch(there, stop=stop, changed=_tell)
    except (TwolaneError, OSError) as error:
        # Whoever only searches is served all the same.
        log.error("folders are no longer watched: %s", error)  # noqa: TRY400 - it says enough


def _tell(report: Report) -> None:
    log.info(
        "%s: %d indexed, %d deleted, %d failed",
        report.collection,
        report.indexed,
        report.deleted,
        report.failed,
    )
    if report.withheld:
        log.warning(
            "notes gone from %s: %d; nothing was deleted (twolane index --prune does it)",
            report.collection,
            report.withheld,
        )
