"""Other sites' pages and other names for the server get nothing."""

from __future__ import annotations

import httpx
import pytest

from tests.interfaces.http.conftest import Server
from twolane.interfaces.http.auth import Guard
from twolane.interfaces.http.problems import HttpProblem


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/search?q=tea", "/api/documents/x"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil", "["])
def test_a_foreign_host_is_refused(client: httpx.Client, path: str, host: str) -> None:
    """A name that was made to point here does not open anything."""
    assert client.get(path, headers={"Host": host}).status_code == 421


def test_local_names_are_known(server: Server) -> None:
    """The loopback names work, with any port."""
    port = server.address.rpartition(":")[2]
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "LOCALHOST"):
        assert server.client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_a_foreign_page_is_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    """A page of another site can neither read nor write, and learns of no permission."""
    refused = client.get("/api/search?q=tea", headers=headers)
    assert refused.status_code == 403
    assert refused.json()["type"] == "/problems/foreign-origin"
    assert "access-control-allow-origin" not in refused.headers


def test_our_own_page_is_welcome(server: Server) -> None:
    """A request of the page that the server served is answered."""
    headers = {"Origin": server.address, "Sec-Fetch-Site": "same-origin"}
    assert server.client.get("/api/search?q=tea", headers=headers).status_code == 200


def test_a_link_from_elsewhere_leads_to_the_page() -> None:
    """Another site may link to the page, which is not data."""
    guard = Guard.of("127.0.0.1")
    visit = {"host": "localhost", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    guard.check("GET", "/", visit)
    with pytest.raises(HttpProblem):
        guard.check("POST", "/", visit)


def test_every_answer_carries_the_guards_of_browsers(client: httpx.Client) -> None:
    """Answers and problems alike forbid foreign scripts, frames, sniffing and referrers."""
    for path in ("/healthz", "/api/search?q=a", "/nothing", "/api/search"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self';"
        )
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
