"""`twolane generation`, and the gate of `twolane embed`."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.interfaces.conftest import Cli
from tests.interfaces.golden_sets import write_golden
from tests.waiting import PATIENCE, eventually


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Where the model's tables are kept between the tests."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def switched(twolane: Cli, vault: Path, cache: str) -> Cli:
    """A library whose vectors were made by one model and then by another."""
    twolane("index", vault)
    real = twolane.where(TWOLANE_EMBEDDING_EMBEDDER="use", TWOLANE_CACHE=cache)
    real("embed")
    return real


class TestGenerations:
    """The sets of vectors."""

    def test_they_are_listed(self, switched: Cli) -> None:
        """Each with its number, its state and how complete it is."""
        said = switched("generation", "list").stdout
        assert [line.split()[:3] for line in said.splitlines()] == [
            ["1", "retired", "hashing"],
            ["2", "serving", "use"],
        ]
        assert "0 pending" in said
        assert "generation 1" in switched("status").stdout

    def test_back_and_forth(self, switched: Cli) -> None:
        """A rollback brings the old one back; it stays until another one is activated."""
        assert "generation 1 (hashing)" in switched("generation", "rollback").stdout
        assert switched.json("embed")["took_over"] is None
        assert switched.json("status")["generation"] == 1
        switched("generation", "activate", "2")
        assert switched.json("status")["generation"] == 2
        assert switched("generation", "drop", "1", "-q").stdout == ""
        assert "1" not in switched("generation", "list").stdout.split()

    def test_mistakes_are_told(self, switched: Cli) -> None:
        """A number that is not there, and the one that serves, are refused with 2."""
        assert "no generation 7" in switched("generation", "activate", "7", code=2).stderr
        assert "answers searches" in switched("generation", "drop", "2", code=2).stderr
        switched("generation", "drop", "1")
        assert "no earlier" in switched("generation", "rollback", code=2).stderr


@pytest.fixture
def real(twolane: Cli, vault: Path, cache: str) -> Cli:
    """A library with good vectors, in which meaning decides almost alone."""
    real = twolane.where(
        TWOLANE_EMBEDDING_EMBEDDER="use",
        TWOLANE_CACHE=cache,
        TWOLANE_RANKING_LEXICAL_WEIGHT="0.0001",
    )
    real("index", vault)
    return real


class TestGate:
    """A golden set that decides whether new vectors serve."""

    def test_worse_vectors_do_not_take_over(self, real: Cli, vault: Path) -> None:
        """The command says how much worse they are and exits with 1; a wide gate lets them in."""
        golden = write_golden(vault.parent / "golden.json")
        worse = real.where(TWOLANE_EMBEDDING_EMBEDDER="hashing")
        refused = worse("embed", "--gate", golden, "--tolerance", "0", code=1)
        assert "do not take over" in refused.stdout and "ndcg@10" in refused.stdout
        assert worse.json("status")["generation"] == 1
        assert worse.json("embed")["took_over"] is None
        said = worse.json("embed", "--gate", golden, "--tolerance", "1")
        assert (said["took_over"], said["refused"]) == (2, None)

    def test_a_bad_set_is_told_before_anything_is_embedded(self, twolane: Cli, vault: Path) -> None:
        """A golden set that names unknown notes is refused at once."""
        twolane("index", vault, "--no-wait")
        golden = write_golden(
            vault.parent / "bad.json", [{"id": "a", "query": "x", "relevant": ["nowhere.md"]}]
        )
        assert "nowhere.md" in twolane("embed", "--gate", golden, code=2).stderr
        assert twolane.json("status")["embedded"] == 0


class TestGateSetting:
    """A golden set in the settings, which decides wherever vectors are made."""

    @pytest.fixture
    def worse(self, real: Cli, vault: Path) -> Cli:
        """A library with good vectors, and settings that ask for worse ones through a gate."""
        golden = write_golden(vault.parent / "golden.json")
        return real.where(
            TWOLANE_EMBEDDING_EMBEDDER="hashing",
            TWOLANE_EMBEDDING_GATE=str(golden),
            TWOLANE_EMBEDDING_GATE_TOLERANCE="0",
        )

    @pytest.mark.parametrize("command", [["watch"], ["serve", "--port", "0"]])
    def test_it_stops_worse_vectors_behind_the_scenes(self, worse: Cli, command: list[str]) -> None:
        """`watch` and `serve` keep the old vectors, and `status` says why."""
        with worse.beside(*command) as process:
            eventually(
                lambda: "held" in worse("generation", "list").stdout or process.poll() is not None
            )
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        assert "Traceback" not in errors
        said = worse("status").stdout
        assert "refused by the gate: ndcg@10" in said
        assert "refused by the gate: ndcg@10" in worse("generation", "list").stdout
        assert worse.json("status")["generation"] == 1
        assert worse.json("embed")["refused"] is None

    def test_index_and_embed_ask_it_too(self, worse: Cli, vault: Path) -> None:
        """A plain run keeps the old vectors; a wider gate that is named judges again."""
        assert "does not take over" in worse("index", vault).stderr
        assert worse.json("status")["generations"][1]["reason"].startswith("refused by the gate")
        golden = worse.environment["TWOLANE_EMBEDDING_GATE"]
        assert worse.json("embed", "--gate", golden, "--tolerance", "1")["took_over"] == 2

    def test_a_set_that_cannot_be_used_lets_nothing_through(self, worse: Cli) -> None:
        """Searches go on; `doctor` names the file beforehand, and `status` afterwards."""
        lost = worse.where(TWOLANE_EMBEDDING_GATE=str(worse.home / "lost.json"))
        assert lost.json("search", "tomatoes")["results"]
        assert "lost.json" in lost("doctor", code=1).stdout
        lost("embed", code=1)
        assert "lost.json" in lost("status").stdout


def test_options_are_idempotent(twolane: Cli, vault: Path) -> None:
    """Backfilling and retrying a complete library does nothing, any number of times."""
    twolane("index", vault)
    for _ in range(2):
        said = twolane.json("embed", "--backfill", "--retry-failed", "--all-spaces")
        assert (said["embedded"], said["pending"], said["failed"]) == (0, 0, 0)
