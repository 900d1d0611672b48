"""Messages between two of our own processes: a length, then as many bytes.

What they say is pickled, which is safe only because both ends of the pipe are ours.
"""

from __future__ import annotations

import pickle
from typing import Any, BinaryIO

_LENGTH_BYTES = 8


def packed(value: Any) -> bytes:
    """A value as bytes; raises what pickling raises."""
    return pickle.dumps(value, protocol=5)


def unpacked(data: bytes) -> Any:
    """The value that was packed."""
    return pickle.loads(data)  # noqa: S301


def send(pipe: BinaryIO, data: bytes) -> None:
    """Write one message; raises OSError if nobody reads any more."""
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "little") + data)
    pipe.flush()


def receive(pipe: BinaryIO) -> bytes | None:
    """Read one message; None if the other end is gone, be it in the middle of one."""
    length = pipe.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        return None
    wanted = int.from_bytes(length, "little")
    data = pipe.read(wanted)
    return data if len(data) == wanted else None
