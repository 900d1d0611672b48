"""`twolane` in a process of its own that need not import everything first.

A server that has imported the modules forks for each command.
The command has its own streams, environment and folder, and ends as any Python process does; so
hundreds of them take half the time, and show what a user sees.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import twolane as package

# What the interpreter itself reads when it starts; a command must have the same as its server.
STARTING = {
    "PYTHONPATH": str(Path(package.__file__).parents[1]),
    "PYTHONWARNINGS": "error",
    "LC_ALL": "C.UTF-8",
}
_LONGEST = 100_000

_SERVER = """
import contextlib, importlib, json, os, pkgutil, socket, sys
import apsw, numpy, rich.console, rich.table, typer
import twolane
from twolane.interfaces.cli import main

# Models, servers and evaluation are left to those who need them.
left_out = ("embedders", "rerankers", "postgres", "qdrant", "http", "mcp", "eval", "__main__")
for module in pkgutil.walk_packages(twolane.__path__, "twolane."):
    if not any(f".{name}" in module.name for name in left_out):
        # A package that is not installed is missed by whoever needs it.
        with contextlib.suppress(ImportError):
            importlib.import_module(module.name)

import gc
gc.collect()
gc.freeze()
channel = socket.socket(fileno=int(sys.argv[1]))
while True:
    message, streams, _, _ = socket.recv_fds(channel, 1 << 20, 4)
    if not message:
        os._exit(0)
    if os.fork() == 0:
        channel.close()
        command = os.fork()
        if command == 0:
            break
        for stream in streams[:3]:
            os.close(stream)
        _, status = os.waitpid(command, 0)
        os.write(streams[3], str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    for stream in streams:
        os.close(stream)
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass
asked = json.loads(message)
for number, stream in enumerate(streams):
    if number < 3:
        os.dup2(stream, number)
    os.close(stream)
os.chdir(asked["folder"])
os.environ.clear()
os.environ.update(asked["environment"])
sys.argv = ["twolane", *asked["words"]]
main()
"""


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    stdin: bytes,
    seconds: float,
) -> subprocess.CompletedProcess[bytes] | None:
    """Run `twolane WORDS` to its end; None where only a new interpreter would do."""
    starting = (one for one in environment.items() if one[0].startswith(("PYTHON", "LC_", "LANG")))
    if dict(starting) != STARTING:
        return None
    asked = {"words": [*words], "environment": dict(environment), "folder": str(folder)}
    try:
        message = json.dumps(asked).encode("utf-8", "strict")
    except UnicodeEncodeError:
        return None
    if len(message) > _LONGEST:
        return None
    channel = _server()
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin)
        given.seek(0)
        reading, writing = os.pipe()
        try:
            socket.send_fds(channel, [message], [*(f.fileno() for f in (given, out, err)), writing])
        finally:
            os.close(writing)
        try:
            if not select.select([reading], [], [], seconds)[0]:
                raise subprocess.TimeoutExpired([*words], seconds)
            code = int(os.read(reading, 20))
        finally:
            os.close(reading)
        for stream in (out, err):
            stream.seek(0)
        return subprocess.CompletedProcess([*words], code, out.read(), err.read())


@cache
def _server() -> socket.socket:
    """The way to the server, which ends when we do."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env={"PATH": os.environ["PATH"], **STARTING},
        stdin=subprocess.DEVNULL,
    )
    theirs.close()

    def close() -> None:
        ours.close()
        process.wait()

    atexit.register(close)
    return ours
