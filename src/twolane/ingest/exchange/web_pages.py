"""The text of web pages: fetched within limits, from public addresses only, and read from HTML.

An address is resolved once, checked, and connected to as it was checked, so that no name can lead
elsewhere in between; every redirect is checked in the same way.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import unescape
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from twolane.model.values import dataclass
from twolane.settings.groups import Fetch

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KINDS = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
_PIECE = 65_536

# A gateway translates these into IPv4 addresses, which may be private.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class NoPage(Exception):
    """Why the text of a page could not be had."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """What a page says: its title, what it says of itself, and its text as Markdown."""

    title: str
    description: str
    text: str


def fetch_page(url: str, limits: Fetch) -> WebPage:
    """The page at an address; raises NoPage with the reason if there is none."""
    late = threading.Event()
    too_late = NoPage(f"it did not answer within {limits.seconds:g} s")
    try:
        with _deadline(limits.seconds, late) as watch:
            page = _followed(url, limits, watch)
    except NoPage:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        if late.is_set() or isinstance(error, TimeoutError):
            raise too_late from error
        raise NoPage(f"it could not be read: {str(error) or type(error).__name__}") from error
    if late.is_set():
        # A connection that was hung up on ends like any other, only sooner.
        raise too_late
    return page


def _followed(url: str, limits: Fetch, watch: Callable[[socket.socket], None]) -> WebPage:
    for _ in range(_MOST_REDIRECTS + 1):
        split = urlsplit(url)
        if split.scheme not in ("http", "https") or not split.hostname:
            raise NoPage(f"{url[:200]} is no address of a web page")
        connection = _connected(split, limits, watch)
        try:
            response = _response(connection, split)
            target = response.getheader("location")
            if response.status in _REDIRECTS and target:
                url = urljoin(url, target)
                continue
            return _read(response, limits.max_bytes)
        finally:
            connection.close()
    raise NoPage(f"it leads elsewhere more than {_MOST_REDIRECTS} times")


def _connected(
    split: SplitResult, limits: Fetch, watch: Callable[[socket.socket], None]
) -> http.client.HTTPConnection:
    """A connection to the checked address of a host, which keeps its name for TLS and `Host`."""
    host = split.hostname or ""
    secure = split.scheme == "https"
    port = split.port or (443 if secure else 80)
    try:
        resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NoPage(f"there is no site {host}") from None
    addresses = list(dict.fromkeys(str(info[4][0]) for info in resolved))
    private = [address for address in addresses if not is_public(address)]
    if private and not limits.private:
        raise NoPage(f"{host} is in a private network ({private[0]}); see `fetch.private`")
    raw = _socket(addresses, port, limits.seconds)
    watch(raw)
    if not secure:
        connection = http.client.HTTPConnection(host, port)
        connection.sock = raw
        return connection
    connection = http.client.HTTPSConnection(host, port)
    connection.sock = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
    return connection


def _socket(addresses: list[str], port: int, seconds: float) -> socket.socket:
    """A connection to the first of the addresses that takes one."""
    for address in addresses[:-1]:
        with suppress(OSError):
            return socket.create_connection((address, port), seconds / 2)
    return socket.create_connection((addresses[-1], port), seconds)


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the open internet, also one inside of another."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo or (None, None))[1]
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast


@contextmanager
def _deadline(seconds: float, late: threading.Event) -> Iterator[Callable[[socket.socket], None]]:
    """Hang up on whatever is connected when the time is over, however slowly it still sends."""
    current: list[socket.socket] = []

    def hang_up() -> None:
        late.set()
        for sock in current:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def watch(sock: socket.socket) -> None:
        current[:] = [sock]
        if late.is_set():
            raise TimeoutError

    timer = threading.Timer(seconds, hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield watch
    finally:
        timer.cancel()


def _response(
    connection: http.client.HTTPConnection, split: SplitResult
) -> http.client.HTTPResponse:
    path = quote(split.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = f"?{quote(split.query, safe='/%:@!$&()*+,;=~-._?')}" if split.query else ""
    headers = {
        "User-Agent": "twolane (text of bookmarked pages)",
        "Accept": "text/html, text/plain;q=0.8",
        "Accept-Encoding": "identity",
    }
    connection.request("GET", path + query, headers=headers)
    return connection.getresponse()


def _read(response: http.client.HTTPResponse, most: int) -> WebPage:
    if response.status != http.HTTPStatus.OK:
        raise NoPage(f"the site answered {response.status} {response.reason}".strip())
    kind = response.headers.get_content_type()
    if kind not in _KINDS:
        raise NoPage(f"it is {kind}, no text")
    if response.getheader("content-encoding", "identity") != "identity":
        raise NoPage("it came compressed, which was not asked for")
    content = bytearray()
    while len(content) < most and (piece := response.read1(min(_PIECE, most - len(content)))):
        content += piece
    text = _decoded(bytes(content), response.headers.get_content_charset())
    return WebPage("", "", text.strip()) if kind == "text/plain" else read_html(text)


_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{2,40})""", re.IGNORECASE)


def _decoded(content: bytes, charset: str | None) -> str:
    written = _CHARSET.search(content[:4096])
    for name in (charset, written and written[1].decode("ascii")):
        with suppress(LookupError, UnicodeError):
            if name:
                return content.decode(name, "replace")
    return content.decode("utf-8-sig", "replace")


# ------------------------------------------------------------------------------------- reading HTML

_HIDDEN = frozenset(
    "script style noscript template svg nav header footer aside form button select iframe "
    "dialog object".split()
)
_BLOCKS = frozenset(
    "p div section article main ul ol li table tr br hr blockquote pre dl dt dd figure figcaption "
    "h1 h2 h3 h4 h5 h6".split()
)
_MAIN = frozenset({"main", "article"})
# A main part with less is a teaser, and the page is read whole.
_ENOUGH = 200


def read_html(html: str) -> WebPage:
    """What a reader sees of a page, without its menus, forms and scripts.

    Takes time in proportion to the length of any text; `html.parser` does not.
    """
    reader = _Reader()
    text, *pieces = html.split("<")
    reader.text(text)
    for piece in pieces:
        reader.piece(piece)
    reader.end_block()
    main = [block for is_main, block in reader.blocks if is_main]
    if sum(map(len, main)) < _ENOUGH:
        main = [block for _, block in reader.blocks]
    title = " ".join(unescape("".join(reader.title)).split())
    return WebPage(title, reader.description, "\n\n".join(main))


_TAG = re.compile(r"(/?)([a-zA-Z][a-zA-Z0-9]{0,20})(?=[\s/>])")
_ATTRIBUTE = re.compile(r"""([\w:-]{1,40})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
# What stands in these is no HTML, up to their end.
_RAW = frozenset({"script", "style", "title", "textarea"})


class _Reader:
    """Reads a page piece by piece: a tag, and the text up to the next one."""

    def __init__(self) -> None:
        self.title: list[str] = []
        self.description = ""
        self.blocks: list[tuple[bool, str]] = []
        self._words: list[str] = []
        self._prefix = ""
        self._hidden: list[str] = []
        self._main = 0
        self._raw = ""

    def piece(self, piece: str) -> None:
        """Read what stands between two `<`."""
        tag = _TAG.match(piece)
        if self._raw == "!--":
            _, end, rest = piece.partition("-->")
            if end:
                self._raw = ""
                self.text(rest)
        elif self._raw:
            if tag and tag[1] and tag[2].lower() == self._raw:
                self._raw = ""
                self._end(tag[2].lower())
                self.text(piece.partition(">")[2])
            else:
                self.text(f"<{piece}")
        elif piece.startswith("!--"):
            self._raw = "" if "-->" in piece else "!--"
            self.text(piece.partition("-->")[2])
        elif tag:
            self._end(tag[2].lower()) if tag[1] else self._start(tag[2].lower(), piece)
            self.text(piece.partition(">")[2])
        elif piece.startswith(("!", "?", "/")):
            self.text(piece.partition(">")[2])
        else:
            self.text(f"<{piece}")

    def text(self, text: str) -> None:
        """Take what a reader sees."""
        if self._raw == "title":
            self.title.append(text)
        elif not self._hidden and self._raw != "!--":
            self._words.append(text)

    def end_block(self) -> None:
        """Keep what was read since the last block as a paragraph of its own."""
        text = " ".join(unescape("".join(self._words)).split())
        if text:
            self.blocks.append((self._main > 0, self._prefix + text))
        self._words.clear()
        self._prefix = ""

    def _start(self, tag: str, piece: str) -> None:
        # An icon has a title, too; that of the page comes first.
        if tag in _RAW and not (tag == "title" and (self.title or self._hidden)):
            self._raw = tag
        if tag in _HIDDEN:
            self._hidden.append(tag)
        elif tag == "meta":
            self._meta(piece[:4000])
        elif tag in _BLOCKS:
            self.end_block()
            self._main += tag in _MAIN
            self._prefix = _prefix(tag)

    def _end(self, tag: str) -> None:
        if tag in self._hidden:
            while self._hidden.pop() != tag:
                pass
        elif tag in _BLOCKS:
            self.end_block()
            self._main -= tag in _MAIN and self._main > 0

    def _meta(self, piece: str) -> None:
        given = {name.lower(): "".join(value) for name, *value in _ATTRIBUTE.findall(piece)}
        name = (given.get("name") or given.get("property") or "").lower()
        if name in ("description", "og:description") and not self.description:
            self.description = " ".join(unescape(given.get("content", "")).split())


def _prefix(tag: str) -> str:
    """How Markdown marks the block of a tag."""
    if tag == "li":
        return "- "
    return "#" * int(tag[1]) + " " if tag[0] == "h" and tag[1:].isdigit() else ""
