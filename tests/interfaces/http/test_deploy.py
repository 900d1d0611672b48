"""The files for running as a service: documented, true to the program, and as tight as they say."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer
import yaml

from tests.docs.pages import DOCS, ROOT, read
from tests.interfaces.conftest import Cli, write
from tests.interfaces.http.conftest import serving
from tests.interfaces.test_wheel import BUILT_FROM
from tests.qdrant_server import VERSION
from twolane.interfaces.cli.app import app_for
from twolane.settings import DECLARED, Settings
from twolane.settings.values import Address

DEPLOY = ROOT / "deploy"
PAGE = read(DOCS / "howto" / "run-as-a-service.md")
UNITS = ("twolane.service", "twolane-user.service")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile, instruction by instruction."""
    text = re.sub(r"^#.*\n", "", read(DEPLOY / "Dockerfile"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines if line.strip()]


def image() -> dict[str, str]:
    """The last value of each instruction of the image that is run."""
    return dict(instructions())


def environment() -> dict[str, str]:
    """The variables that the image sets."""
    return dict(word.split("=", 1) for word in shlex.split(image()["ENV"]))


def unit(name: str) -> dict[str, str]:
    """The section of a unit that says how it runs."""
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(read(DEPLOY / name))
    return dict(parser["Service"])


def known_options(words: list[str]) -> bool:
    """Whether the program has the command and each option of a command line."""
    commands: Any = typer.main.get_command(app_for())
    options = {opt for given in commands.commands[words[0]].params for opt in given.opts}
    return {word for word in words[1:] if word.startswith("-")} <= options


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda file: file.name)
def test_every_file_is_documented(file: Path) -> None:
    """The guide links to each file, and every setting that a file names is one."""
    assert f"(../../deploy/{file.name})" in PAGE
    named = set(re.findall(r"TWOLANE_(\w+)", read(file)))
    assert {one.lower() for one in named} <= {one.replace(".", "_") for one in DECLARED}


def test_the_image_is_built_from_what_the_wheel_is_built_from() -> None:
    """All that the package is made of is copied, and every extra that is installed is one."""
    copied = [value.split()[:-1] for name, value in instructions() if name == "COPY"]
    assert {word for words in copied for word in words} >= set(BUILT_FROM)
    extras = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    built = yaml.safe_load(read(DEPLOY / "cluster.yaml"))["x-twolane"]["build"]
    wanted = re.search(r"^ARG EXTRAS=([\w,]+)$", read(DEPLOY / "Dockerfile"), re.MULTILINE)
    assert wanted and '".[$EXTRAS]"' in read(DEPLOY / "Dockerfile")
    for names in (wanted[1], built["args"]["EXTRAS"]):
        assert set(names.split(",")) <= set(extras)


def test_the_image_runs_without_rights() -> None:
    """The user is not the administrator, and what lasts is in a volume that they own."""
    said = image()
    assert said["USER"] == "twolane"
    order = [name for name, _ in instructions()]
    assert order.index("USER") < order.index("ENTRYPOINT")
    for name in ("TWOLANE_DB", "TWOLANE_CACHE"):
        assert environment()[name].startswith(f"{said['VOLUME']}/")
    assert said["EXPOSE"] == str(Settings().server.port)


def test_the_image_does_not_serve_strangers(twolane: Cli, tmp_path: Path) -> None:
    """As the image starts it, the server refuses to listen without a token, and says what to do."""
    words = yaml.safe_load(image()["CMD"])
    assert known_options(words)
    settings = {**environment(), "PATH": "", "TWOLANE_DB": str(tmp_path / "a.db")}
    said = twolane(*words, "--port", "0", code=2, **settings).stderr
    assert "twolane token add" in said


def test_the_image_knows_whether_it_is_well(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """The health check passes while the server runs and asks for tokens, and fails after."""
    *_, program = yaml.safe_load(image()["HEALTHCHECK"].partition("CMD ")[2])
    twolane("index", vault)
    twolane("token", "add", "phone")
    with serving(twolane, tmp_path, "--watch") as server:
        assert f":{Settings().server.port}/healthz" in program
        asked = program.replace(f"http://127.0.0.1:{Settings().server.port}", server.address)
        check = [sys.executable, "-c", asked]
        assert subprocess.run(check, check=False, timeout=30).returncode == 0
        assert server.stop() == 0
    gone = subprocess.run(check, check=False, timeout=30, capture_output=True)
    assert gone.returncode == 1


def test_compose_publishes_to_this_machine_alone() -> None:
    """The port is bound to loopback, notes are read-only, and no rights are left."""
    service = yaml.safe_load(read(DEPLOY / "compose.yaml"))["services"]["twolane"]
    port = Settings().server.port
    assert service["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert service["volumes"][1].endswith(":ro")
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


CLUSTER = yaml.safe_load(read(DEPLOY / "cluster.yaml"))["services"]
OURS = [name for name, service in CLUSTER.items() if service["image"] == "twolane"]
NODES = [name for name, service in CLUSTER.items() if service["image"].startswith("qdrant/")]


@pytest.mark.parametrize("name", OURS)
def test_the_cluster_starts_what_there_is(name: str, twolane: Cli) -> None:
    """A service calls a command that the program takes, with settings that it understands."""
    service = CLUSTER[name]
    words = service["command"].split()
    assert known_options(words)
    assert "Usage" in twolane(*words, "--help").stdout
    given = {
        key: re.sub(r"\$\{PASSWORD:\?[^}]*\}", "secret", value)
        for key, value in service["environment"].items()
    }
    settings = Settings.load(environment={**environment(), **given}).settings
    assert isinstance(settings.db, Address)
    where = urlsplit(settings.db.url)
    postgres = CLUSTER[where.hostname]["environment"]
    assert where.username == postgres["POSTGRES_USER"] == where.path.strip("/")
    assert postgres["POSTGRES_PASSWORD"] in service["environment"]["TWOLANE_DB"]
    assert [urlsplit(url).hostname for url in settings.qdrant.urls] == NODES
    assert {urlsplit(url).port for url in settings.qdrant.urls} == {6333}
    assert 1 < settings.qdrant.replicas < len(NODES) <= settings.qdrant.shards
    assert set(service["depends_on"]) <= set(CLUSTER)
    # Whoever comes to the published port comes to the one that the server listens at.
    inside = {port.rpartition(":")[2] for port in service.get("ports", ())}
    assert inside <= {str(settings.server.port)}


@pytest.mark.parametrize("name", NODES)
def test_the_cluster_runs_the_qdrant_that_is_tested(name: str) -> None:
    """Each node is of that version, named as the others call it, and keeps what it holds."""
    service = CLUSTER[name]
    assert service["image"] == f"qdrant/qdrant:v{VERSION}"
    words = service["command"].split()
    assert words[words.index("--uri") + 1] == f"http://{name}:6335"
    joins = words[words.index("--bootstrap") + 1] if "--bootstrap" in words else None
    assert joins == (None if name == NODES[0] else f"http://{NODES[0]}:6335")
    assert service["environment"]["QDRANT__CLUSTER__ENABLED"] == "true"
    volume, _, place = service["volumes"][0].partition(":")
    assert place == "/qdrant/storage"
    assert volume in yaml.safe_load(read(DEPLOY / "cluster.yaml"))["volumes"]


def test_no_two_services_of_the_cluster_share_a_port() -> None:
    """Ports are published to this machine alone, each once."""
    outside = [port.rpartition(":")[0] for one in CLUSTER.values() for port in one.get("ports", ())]
    assert len(outside) == len(set(outside)) > 2
    assert all(one.startswith("127.0.0.1:") for one in outside)


@pytest.mark.parametrize("name", UNITS)
def test_units_start_what_there_is(name: str) -> None:
    """A unit calls a command and options that the program has, and leaves time to end."""
    service = unit(name)
    program, *words = service["ExecStart"].split()
    assert Path(program).name == "twolane"
    assert known_options(words)
    assert service["NoNewPrivileges"] == "yes"
    assert int(service["TimeoutStopSec"]) > 20


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    """No line of the system unit is unknown to systemd, and it finds little to worry about."""
    text = read(DEPLOY / "twolane.service").replace("/usr/local/bin/twolane", sys.executable)
    write(tmp_path, {"twolane.service": text})
    copy = str(tmp_path / "twolane.service")
    told = _analysed("verify", "--man=no", copy)
    assert told.returncode == 0 and "twolane.service" not in told.stderr, told.stderr
    found = re.search(
        r"exposure level.*?: ([\d.]+)", _analysed("security", "--offline=yes", copy).stdout
    )
    assert found and float(found[1]) < 2


def _analysed(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("name", ["Caddyfile", "nginx.conf"])
def test_proxies_lead_to_the_servers(name: str) -> None:
    """A proxy knows the port, encrypts, and leaves tokens to the server, which checks them."""
    text = re.sub(r"^\s*#.*\n", "", read(DEPLOY / name), flags=re.MULTILINE)
    assert text.count("{") == text.count("}")
    assert set(re.findall(r"127\.0\.0\.1:(\d+)", text)) == {str(Settings().server.port)}
    assert "Strict-Transport-Security" in text
    assert "Authorization" not in text
