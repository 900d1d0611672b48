"""Requests that were generated from the description of the API, sensible ones and others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.http.conftest import serving_notes

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


@pytest.mark.slow
def test_no_generated_request_breaks_the_server(tmp_path: Path) -> None:
    """Several hundred requests are all answered as the description says, none with a failure."""
    with serving_notes(tmp_path / "notes", TWOLANE_SERVER_REQUESTS_PER_MINUTE="0") as running:
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from schemathesis.cli import schemathesis; schemathesis()",
                "run",
                f"{running.address}/openapi.json",
                "--phases=examples,fuzzing",
                "--max-examples=15",
                f"--checks={','.join(CHECKS)}",
                "--seed=7",
                "--warnings=off",
                "--no-color",
            ],
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
            cwd=tmp_path,
        )
        assert running.client.get("/healthz").status_code == 200
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    statuses = [line["status"] for line in map(json.loads, running.said) if "status" in line]
    assert len(statuses) > 200
    assert not [status for status in statuses if status >= 500 and status != 503]
