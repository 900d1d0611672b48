"""`twolane fetch`: the texts of bookmarked pages, over real HTTP, within limits."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.interfaces.conftest import Cli
from twolane.ingest.exchange.web_pages import NoPage, fetch_page, is_public, read_html
from twolane.settings.groups import Fetch

PAGE = """<!doctype html><html><head><meta charset="windows-1251"><title>Лук-порей  зимой</title>
<meta name="description" content="Как хранить лук-порей"></head><body>
<nav><a href="/">Главная</a></nav><script>var secret = 1;</script>
<main><h1>Хранение</h1><p>Лук-порей держат в <b>песке</b> до весны, при температуре около нуля.</p>
<ul><li>песок влажный</li></ul><p>{}</p></main><footer>Контакты</footer></body></html>"""


class Site(BaseHTTPRequestHandler):
    """Pages as sites have them, well-behaved and otherwise."""

    def do_GET(self) -> None:
        """Answer by path."""
        path = self.path.partition("?")[0]
        if path == "/leeks":
            self._send(PAGE.format("Стебли не моют. " * 20).encode("windows-1251"), "text/html")
        elif path == "/plain":
            self._send(b"Just a text.", "text/plain; charset=utf-8")
        elif path == "/large":
            self._send(b"<p>" + b"word " * 400_000, "text/html")
        elif path == "/picture":
            self._send(b"\x89PNG", "image/png")
        elif path == "/empty":
            self._send(b"<script>app()</script>", "text/html")
        elif path == "/moved":
            self._redirect("/leeks")
        elif path == "/loop":
            self._redirect("/loop")
        elif path == "/inside":
            self._redirect("http://169.254.169.254/latest/meta-data")
        elif path == "/file":
            self._redirect("file:///etc/passwd")
        elif path == "/slow":
            self._drip()
        else:
            self.send_error(404)

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _redirect(self, target: str) -> None:
        self.send_response(302)
        self.send_header("Location", target)
        self.end_headers()

    def _drip(self) -> None:
        """Send a header every tenth of a second: no single read ever times out."""
        for number in range(100):
            try:
                self.wfile.write(f"{'X' if number else 'HTTP/1.0 200 OK'}-{number}: 1\r\n".encode())
            except OSError:
                return
            time.sleep(0.1)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of a site on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        server.daemon_threads = True
        threading.Thread(target=partial(server.serve_forever, 0.01), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


LOCAL = Fetch(seconds=2, max_bytes=100_000, private=True)


def test_the_text_of_a_page(site: str) -> None:
    """Title, description and text in its own encoding, without menus and scripts; redirects too."""
    page = fetch_page(f"{site}/moved?a=b c", LOCAL)
    assert (page.title, page.description) == ("Лук-порей зимой", "Как хранить лук-порей")
    assert page.text.startswith("# Хранение\n\nЛук-порей держат в песке до весны,")
    assert "- песок влажный" in page.text
    for hidden in ("Главная", "secret", "Контакты"):
        assert hidden not in page.text
    assert fetch_page(f"{site}/plain", LOCAL).text == "Just a text."


def test_a_large_page_is_cut(site: str) -> None:
    """No more is read than the limit allows."""
    assert 90_000 < len(fetch_page(f"{site}/large", LOCAL).text) < 100_000


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/nowhere", "the site answered 404"),
        ("/picture", "it is image/png, no text"),
        ("/loop", "it leads elsewhere more than 5 times"),
        ("/file", "file:///etc/passwd is no address of a web page"),
    ],
)
def test_what_cannot_be_read_says_why(site: str, path: str, reason: str) -> None:
    """Each reason is told in words."""
    with pytest.raises(NoPage, match=reason):
        fetch_page(site + path, LOCAL)


def test_a_site_that_sends_slowly_is_left_in_time(site: str) -> None:
    """The limit is on the whole page, not on each piece of it."""
    began = time.monotonic()
    with pytest.raises(NoPage, match=r"did not answer within 0\.5 s"):
        fetch_page(f"{site}/slow", Fetch(seconds=0.5, private=True))
    # All of it takes ten seconds.
    assert time.monotonic() - began < 9


def test_private_addresses_are_refused(site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By number, by name, and at the end of a redirect."""
    public = Fetch(seconds=2)
    for url in (site, site.replace("127.0.0.1", "localhost"), "http://[::1]/", "http://10.1.2.3/"):
        with pytest.raises(NoPage, match="private network"):
            fetch_page(url, public)
    # This site counts as public, and where it leads to does not.
    monkeypatch.setattr(
        "twolane.ingest.exchange.web_pages.is_public",
        lambda address: address == "127.0.0.1" or is_public(address),
    )
    assert fetch_page(f"{site}/plain", public).text == "Just a text."
    with pytest.raises(NoPage, match=r"169\.254\.169\.254 is in a private network"):
        fetch_page(f"{site}/inside", public)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("192.168.1.1", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::5db8:d822", True),
        ("2002:7f00:1::", False),
    ],
)
def test_which_addresses_are_public(address: str, *, public: bool) -> None:
    """Also those that hold an address of the other kind."""
    assert is_public(address) is public


@pytest.mark.parametrize(
    "broken", ["<!--", "<", "<p", "<nav>", "<p a", "<title>", "<meta a", "&", "</p", "<script>"]
)
def test_broken_html_takes_no_time(broken: str) -> None:
    """A page cannot keep the reader busy."""
    began = time.process_time()
    read_html(broken * 200_000)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a < b &amp; c<br>d", "a < b & c\n\nd"),
        ("x<!-- <p>no</p> --><p>yes", "x\n\nyes"),
        ("<script>if (a<b) '</p>'</script>after", "after"),
        ("<!DOCTYPE html><?xml ?><P CLASS='a'>Big</P>", "Big"),
        ("<svg><title>icon</title></svg><h2>Head</h2>body", "## Head\n\nbody"),
    ],
)
def test_what_is_read_of_html(html: str, text: str) -> None:
    """Text as a reader sees it, block by block."""
    assert read_html(html).text == text


def test_bookmarks_are_found_by_the_text_of_their_pages(twolane: Cli, site: str) -> None:
    """Nothing is fetched without the setting; with it, each page once, and problems are kept."""
    twolane("save", f"{site}/leeks")
    twolane("save", f"{site}/gone", "--title", "My own title")
    assert "fetch.pages" in twolane("fetch", code=2).stderr
    assert not twolane.json("search", "--mode", "lexical", "песке")["results"]

    allowed = {"TWOLANE_FETCH_PAGES": "true", "TWOLANE_FETCH_PRIVATE": "true"}
    done = twolane("fetch", **allowed)
    assert "1 page fetched" in done.stdout
    assert "/gone  the site answered 404" in done.stdout
    (found,) = twolane.json("search", "--mode", "lexical", "песке")["results"]
    assert (found["title"], found["kind"]) == ("Лук-порей зимой", "bookmark")
    (failed,) = twolane.json("search", "has:fetch_problem")["results"]
    assert failed["title"] == "My own title"
    assert twolane.json("fetch", **allowed)["problems"] == []
    assert len(twolane.json("fetch", "--again", code=1, **allowed)["problems"]) == 1

    # One save, and an import, fetch at once; what is there already is not lost.
    assert "1 page fetched" in twolane("save", f"{site}/plain", **allowed).stdout
    row = f'<DT><A HREF="{site}/moved">Leeks</A>\n<DT><A HREF="{site}/leeks">Old</A>\n'
    html = f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n{row}</DL>"
    told = twolane("import", "bookmarks", "-", "--json", stdin=html.encode(), **allowed).stdout
    assert json.loads(told)["pages"]["fetched"] == 1
    assert len(twolane.json("search", "--mode", "lexical", "песке")["results"]) == 2
