"""The files of the web page as the server sends them."""

from __future__ import annotations

import gzip

import httpx
import pytest


@pytest.mark.parametrize("path", ["/", "/style.css", "/js/app.js"])
def test_files_are_packed_for_those_who_take_it(client: httpx.Client, path: str) -> None:
    """Whoever takes gzip gets a fraction of the bytes, and everybody gets the same file."""
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    with client.stream("GET", path, headers={"Accept-Encoding": "gzip, br"}) as packed:
        raw = b"".join(packed.iter_raw())
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw) == plain.content
    assert len(raw) < 0.6 * len(plain.content)
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    assert plain.headers["etag"] != packed.headers["etag"]


def test_a_file_that_was_seen_is_not_sent_again(client: httpx.Client) -> None:
    """The browser's copy is good as long as the file is the same."""
    first = client.get("/js/app.js")
    again = client.get("/js/app.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
