"""`twolane index`."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path

import apsw

from tests.interfaces.conftest import Cli, write
from tests.waiting import PATIENCE, eventually


def counts(cli: Cli, *words: str | Path, code: int = 0) -> dict[str, int]:
    """What a run did to the first folder, without what is zero."""
    first = cli.json("index", *words, code=code)["collections"][0]
    names = ("indexed", "unchanged", "skipped", "failed", "deleted", "withheld")
    return {name: first[name] for name in names if first[name]}


def test_a_run_says_what_became_of_the_files(twolane: Cli, vault: Path) -> None:
    """The report counts what was indexed and says why a file was skipped."""
    done = twolane("index", vault)
    assert "4 indexed, 0 unchanged, 1 skipped, 0 failed, 0 deleted" in done.stdout
    assert "_templates/day.md  skipped: '_templates' begins with an underscore" in done.stdout
    assert "passages embedded" in done.stdout
    assert done.stderr == ""


def test_the_report_says_how_long_all_of_it_took(twolane: Cli, vault: Path) -> None:
    """The vectors and the whole command have their times, in text and in JSON."""
    last = twolane("index", vault).stdout.splitlines()[-1]
    embedding, whole = map(float, re.findall(r"embedded in ([\d.]+) s; ([\d.]+) s in all", last)[0])
    assert embedding <= whole
    said = twolane.json("index", vault)
    assert said["seconds"] >= said["collections"][0]["seconds"] + said["embedding"]["seconds"]
    assert re.fullmatch(r"0 passages embedded; [\d.]+ s in all", twolane("embed").stdout.strip())


def test_what_did_not_change_is_left_alone(twolane: Cli, vault: Path) -> None:
    """A second run reads only what changed, and takes out what is gone."""
    twolane("index", vault)
    assert counts(twolane, vault) == {"unchanged": 4, "skipped": 1}
    (vault / "garden" / "Tomatoes.md").write_text("# Tomatoes\n\nWater them.\n")
    (vault / "kitchen" / "green tea.md").unlink()
    assert counts(twolane, vault) == {"indexed": 1, "unchanged": 2, "skipped": 1, "deleted": 1}
    found = twolane.json("search", "tomatoes", "--mode", "lexical")["results"]
    assert "Water them." in found[0]["snippet"]
    assert len(found) == 1


def test_json_report(twolane: Cli, vault: Path) -> None:
    """The report as JSON has a part for each folder and one for the embedding."""
    write(vault, {"blob.md": b"\x00\x01\x02" * 100})
    report = twolane.json("index", vault)
    assert set(report) == {"collections", "embedding", "degraded", "seconds"}
    (one,) = report["collections"]
    assert one["collection"] == "Мои notes"
    assert [(each["path"], each["code"]) for each in one["problems"]] == [("blob.md", "binary")]
    assert report["embedding"]["embedded"] == twolane.json("status")["chunks"]
    assert report["embedding"]["stopped"] is None
    assert report["degraded"] == []


def test_no_wait_leaves_the_vectors_for_later(twolane: Cli, vault: Path) -> None:
    """--no-wait makes the text searchable and embeds nothing."""
    assert twolane.json("index", vault, "--no-wait")["embedding"] is None
    status = twolane.json("status")
    assert status["documents"] == 4
    assert (status["embedded"], status["pending"]) == (0, status["chunks"])
    assert twolane.json("search", "green tea", "--mode", "lexical")["results"]


def test_all_spaces_is_accepted(twolane: Cli, vault: Path) -> None:
    """With one space, waiting for all of them is waiting for it."""
    assert twolane.json("index", vault, "--all-spaces")["embedding"]["embedded"] > 0
    assert twolane.json("status")["pending"] == 0


def test_strict_fails_where_a_file_failed(twolane: Cli, vault: Path) -> None:
    """A bad file leaves the exit code at 0, and turns it into 1 with --strict."""
    twolane("index", vault, "--strict")
    write(vault, {"blob.md": b"\x00\x01\x02" * 100})
    assert "blob.md  binary: " in twolane("index", vault).stdout
    twolane("index", vault, "--strict", code=1)


def test_quiet_says_only_what_went_wrong(twolane: Cli, vault: Path) -> None:
    """-q is silent about a good run and names a bad file."""
    done = twolane("index", vault, "-q")
    assert (done.stdout, done.stderr) == ("", "")
    write(vault, {"blob.md": b"\x00\x01\x02" * 100})
    done = twolane("index", vault, "-q")
    assert done.stdout.startswith("  blob.md  binary: ")
    assert done.stdout.count("\n") == 1


def test_many_problems_do_not_flood_the_screen(twolane: Cli, tmp_path: Path) -> None:
    """After twenty files the report says how many more there are and where to see them."""
    write(tmp_path / "v", {f"{number:02}.md": b"\x00\x01" * 50 for number in range(25)})
    said = twolane("index", tmp_path / "v").stdout
    assert said.count("binary: ") == 20
    assert "and 5 more: twolane status --files" in said
    assert twolane("status", "--files").stdout.count("failed  ") >= 25


def test_several_folders(twolane: Cli, vault: Path, tmp_path: Path) -> None:
    """Each folder is a collection; two of one name are told apart."""
    first = write(tmp_path / "a" / "notes", {"one.md": "An okapi."})
    second = write(tmp_path / "b" / "notes", {"one.md": "A quagga."})
    report = twolane.json("index", first, second, vault)
    assert [collection["collection"] for collection in report["collections"]] == [
        "notes",
        "notes-2",
        "Мои notes",
    ]
    (found,) = twolane.json("search", "quagga", "--mode", "lexical")["results"]
    assert (found["collection"], found["path"]) == ("notes-2", "one.md")


def test_a_missing_folder_does_not_stop_the_others(twolane: Cli, vault: Path) -> None:
    """A wrong path among several is named and exits with 2; the others are indexed."""
    done = twolane("index", "nowhere", vault, code=2)
    assert "nowhere does not exist" in done.stderr
    assert "4 indexed" in done.stdout


def test_the_name_of_a_collection_is_no_folder(twolane: Cli, vault: Path) -> None:
    """Whoever names a collection is told which folder it has."""
    twolane("index", "--no-wait", str(vault))
    said = twolane("index", vault.name, code=2).stderr
    assert f"the folder of the collection {vault.name!r} is {vault.resolve()}: name that" in said


def test_a_missing_embedder_leaves_the_text_indexed(
    twolane: Cli, vault: Path, no_model: Callable[[Cli], Cli]
) -> None:
    """Without its model a run indexes the text, says which lane is missing, and exits with 0."""
    broken = no_model(twolane)
    done = broken("index", vault)
    assert done.stderr.startswith("warning: ")
    assert "pip install" in done.stderr
    assert "not all of it can be found by meaning yet" in done.stdout
    assert broken.json("search", "green tea")["results"]
    broken("index", vault, "--strict", code=1)
    assert broken.json("index", vault)["degraded"][0]["lane"] == "dense"
    # Once the model is back, the same command completes what is missing.
    assert twolane.json("index", vault)["embedding"]["embedded"] > 0


def test_words_only_is_a_choice_and_no_problem(twolane: Cli, vault: Path) -> None:
    """With the embedder switched off nothing is missing, not even for --strict."""
    off = twolane.where(TWOLANE_EMBEDDING_EMBEDDER="none")
    done = off("index", vault, "--strict")
    assert "words only" in done.stdout
    assert done.stderr == ""


def test_a_terminal_sees_progress_and_a_pipe_does_not(twolane: Cli, vault: Path) -> None:
    """Progress is for people: it is drawn on a terminal and never in a pipe."""
    said = twolane.on_terminal("index", vault)
    assert "reading Мои notes" in said
    assert "embedding passages" in said
    assert twolane("index", vault).stderr == ""
    assert "reading" not in twolane.on_terminal("index", vault, "--quiet")


def test_interrupting_keeps_what_is_done(twolane: Cli, tmp_path: Path) -> None:
    """Ctrl-C ends with 130 and a message; the same command goes on from there."""
    number = 1500
    notes = {f"{one}.md": f"# Note {one}\n\n{'a few words ' * 40}\n" for one in range(number)}
    folder = write(tmp_path / "many", notes)
    small = twolane.where(TWOLANE_INDEX_BATCH="20")
    with small.beside("index", folder) as process:
        eventually(lambda: _has_documents(twolane.db))
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert complaint == (
        "error: interrupted; what was indexed is kept; run the same command to go on\n"
    )
    kept = twolane.json("status")["documents"]
    assert 0 < kept < number
    assert "is sound" in twolane("doctor", code=1).stdout
    assert counts(twolane, folder, "--no-wait") == {"indexed": number - kept, "unchanged": kept}


def _has_documents(db: Path) -> bool:
    try:
        reading = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
        return bool(reading.execute("SELECT count(*) FROM documents").get)
    except apsw.Error:
        return False
