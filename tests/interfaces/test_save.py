"""`twolane save`."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from tests.interfaces.conftest import Cli, write
from tests.waiting import PATIENCE


def test_a_bookmark_is_saved_and_added_to(twolane: Cli) -> None:
    """A second time adds tags and keeps what is not given again."""
    twolane("save", "https://Example.org/ants/", "--title", "Ants", "--tag", "to read")
    told = json.loads(
        twolane("save", "https://example.org/ants", "--tag", "insects", "--json").stdout
    )
    assert told["documents"][0] == {
        "id": "bookmarks/https://example.org/ants",
        "version": 2,
        "changed": True,
        "created": False,
    }
    held = twolane.json("get", "Ants")
    assert (held["kind"], held["tags"]) == ("bookmark", ["to read", "insects"])
    assert "unchanged" in twolane("save", "https://example.org/ants").stdout


def test_texts_are_saved(twolane: Cli, tmp_path: Path) -> None:
    """From a file or from standard input, as a note or a prompt."""
    file = tmp_path / "bees.md"
    file.write_text("# Bees\n\nThey dance.")
    assert "saved/bees.md  saved" in twolane("save", file).stdout
    twolane("save", "-", "--kind", "prompt", "--id", "p", "--title", "Ask", stdin=b"Why {{x}}?")
    assert twolane.json("get", "p")["kind"] == "prompt"
    assert twolane.json("search", "dance")["results"][0]["title"] == "Bees"


def test_what_makes_no_sense_is_refused(twolane: Cli, tmp_path: Path) -> None:
    """No text, no address, no file: told, and nothing is saved."""
    twolane("save", "-", code=2)
    twolane("save", "example.org", "--kind", "bookmark", code=2)
    twolane("save", "https://example.org", "--kind", "note", code=2)
    assert "nowhere.md" in twolane("save", tmp_path / "nowhere.md", code=2).stderr
    assert not twolane.db.exists()


def test_a_text_is_not_taken_for_a_file(twolane: Cli) -> None:
    """Who gives a text in place of a file is told how to save it."""
    said = twolane("save", "a thought about kites", code=2).stderr
    assert "there is no file 'a thought about kites'" in said
    assert "echo TEXT | twolane save -" in said
    assert not twolane.db.exists()


def test_one_passage_is_embedded_at_once(twolane: Cli) -> None:
    """The model of this machine is loaded and asked before the command ends."""
    real = twolane.where(TWOLANE_EMBEDDING_EMBEDDER="use")
    assert "embed" not in real("save", "-", stdin=b"A kite flies in the evening.").stderr
    assert real.json("status")["pending"] == 0
    assert real.json("search", "toys in the wind", "--mode", "semantic")["results"]


def test_what_has_no_vectors_yet_is_told_of(twolane: Cli, tmp_path: Path) -> None:
    """A save does not wait long for vectors; who saves is told how to add what is left."""
    note = write(tmp_path, {"a.md": "# Kites\n\nThey fly.\n"}) / "a.md"
    said = twolane("save", note, TWOLANE_EMBEDDING_SAVE_SECONDS="0").stderr
    assert "1 passage can be found by words only so far; run: twolane embed" in said
    twolane("embed")
    assert "embed" not in twolane("save", note, "--tag", "toys").stderr
    assert (
        "embed" not in twolane("save", note, "--tag", "x", TWOLANE_EMBEDDING_EMBEDDER="none").stderr
    )


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(twolane: Cli, tmp_path: Path) -> None:
    """A named pipe without a writer, and a device without an end, are refused with what to do."""
    import os

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Each of them waits for a while, so they do that at the same time.
    with (
        twolane.beside("save", pipe) as saving,
        twolane.beside("import", "jsonl", pipe) as importing,
        twolane.beside("save", "/dev/zero") as endless,
    ):
        for process in (saving, importing, endless):
            _, said = process.communicate(timeout=PATIENCE)
            assert process.returncode == 2
            assert "standard input" in said, process.args
            assert "Traceback" not in said


def test_a_pipe_that_somebody_writes_to_is_read(twolane: Cli, tmp_path: Path) -> None:
    """What a shell puts together with `<(…)` is saved."""
    import os

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("A quagga from a pipe.\n",))
    writer.start()
    twolane("save", pipe)
    writer.join()
    assert "pipe" in twolane("search", "quagga").stdout
