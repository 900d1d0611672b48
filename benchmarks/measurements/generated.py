"""Twenty thousand requests that are generated from the server's own description.

`twolane serve` runs over a small library; schemathesis makes requests from `/openapi.json`, by each
limit of every parameter and at random, sensible ones and others, and checks each answer against the
description: status, type, headers and schema.
How many requests came, and how they were answered, is counted in the server's own log.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import processes
import synthetic_library
from measurements.serve import serving
from outcome import Goal, Outcome, Room, Table

_CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_headers_conformance,response_schema_conformance"
)


def measure(room: Room) -> Outcome:
    """Let the requests come, and count."""
    path = synthetic_library.library(room.folder, 500)
    variables = processes.environment(
        room.folder, TWOLANE_EMBEDDING_EMBEDDER="hashing", TWOLANE_SERVER_REQUESTS_PER_MINUTE="0"
    )
    with serving(path, variables, "--processes", "0") as server:
        words = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()"]
        words += ["run", f"{server.address}/openapi.json", f"--checks={_CHECKS}", "--seed=1"]
        words += [f"--max-examples={room.size(1_000, 15)}", "--warnings=off", "--no-color"]
        words += ["--phases=examples,coverage,fuzzing", "--continue-on-failure"]
        done = subprocess.run(
            words, env=variables, cwd=room.folder, capture_output=True, text=True, check=False
        )
    log = path.with_suffix(".log").read_text("utf-8").splitlines()
    lines = [json.loads(line) for line in log if line.startswith("{")]
    counted = Counter((line["endpoint"], line["status"]) for line in lines if "status" in line)
    total = counted.total()
    broken = sum(n for (_, status), n in counted.items() if status >= 500 and status != 503)
    summary = done.stdout.rpartition("= SUMMARY =")[2][-1500:]
    return Outcome(
        goals=[
            Goal("Generated requests", total, "", at_least=room.size(20_000, 300)),
            Goal("Answers with 5xx other than 503", broken, "", at_most=0),
            Goal("Answers unlike the description", done.returncode, "", at_most=0),
        ],
        tables=[
            Table(
                "Answers by endpoint and status",
                ("endpoint", "status", "requests"),
                [(name, status, n) for (name, status), n in sorted(counted.items())],
            )
        ],
        rows=[{"endpoint": a, "status": b, "requests": n} for (a, b), n in sorted(counted.items())],
        facts={"summary": summary},
    )
