"""The files of golden sets: our own JSON, queries with `expected_urls`, BEIR folders, TREC files.

Grades of collections are whole numbers with a meaning of their own, so they are kept as numbers.
A judged query must have its text; a query without any judgment is left out: it belongs to another
split.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

from twolane import BadGoldenSet, BadInput
from twolane.evaluation.files import numbered_lines, read_text, write_text
from twolane.evaluation.golden import Evidence, GoldenQuery, GoldenSet

FORMAT = "twolane-golden/1"

_T = TypeVar("_T")


def load_golden(path: str | os.PathLike[str], topics: Path | None = None) -> GoldenSet:
    """The golden set at `path`, whatever its format.

    - a JSON file: `twolane-golden/1`, or queries with `expected_urls`;
    - a BEIR folder (judgments of its `test` split), or one file of its `qrels` folder;
    - a TREC qrels file, with the queries in `topics`,
      or in `topics.tsv` or `queries.tsv` beside it.

    Raises `BadInput` if a file cannot be read,
    and `BadGoldenSet` with everything in it that cannot be understood.
    What can be understood but makes no sense is found by `validate`.
    """
    place = Path(path)
    if topics is not None:
        return _read_trec(place, topics)
    if place.is_dir():
        return _read_beir(place, None)
    if (folder := beir_folder(place)) is not None:
        return _read_beir(folder, place)
    text = read_text(place)
    if place.suffix.lower() == ".json" or text.lstrip().startswith(("{", "[")):
        return read_json(text, place.name, place.stem)
    for name in ("topics.tsv", "queries.tsv"):
        if (beside := place.with_name(name)).is_file() and beside != place:
            return _read_trec(place, beside)
    problem = (
        "neither JSON nor a file of a BEIR folder; if these are TREC judgments, "
        "put their queries (id, tab, text) into topics.tsv beside the file"
    )
    raise BadGoldenSet(place.name, [problem])


def open_set(path: Path, vault: str | None) -> GoldenSet:
    """The set in the file, or a new one; only our own format can be added to."""
    if not path.exists():
        return GoldenSet(name=path.stem, vault=vault)
    golden = load_golden(path)
    if path.is_dir() or f'"{FORMAT}"' not in read_text(path):
        problem = f"queries can only be added to the format {FORMAT}; start a new file"
        raise BadGoldenSet(path.name, [problem])
    return golden


def save_golden(golden: GoldenSet, path: str | os.PathLike[str]) -> None:
    """Write the set as `twolane-golden/1`; the file is complete or untouched.

    Reading it again gives an equal set. The set is not validated: drafts can be saved.
    """
    write_text(Path(path), json.dumps(as_json(golden), ensure_ascii=False, indent=2) + "\n")


# ------------------------------------------------------------------------------- JSON


class _Kind(NamedTuple):
    """What a field must be, and how it is taken over; `absent` stands for one that is not there."""

    expected: str
    fits: Callable[[Any], bool]
    take: Callable[[Any], Any]
    absent: Any


def _is_text(value: object) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can spell half of a surrogate pair, which is no character.
        return False
    return True


def _is_list(value: object, fits: Callable[[object], bool]) -> bool:
    return isinstance(value, list) and all(map(fits, value))


def _is_quotation(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"path", "quote"}
        and all(map(_is_text, value.values()))
    )


def _is_grades(value: object) -> bool:
    return isinstance(value, dict) and all(type(one) is int for one in value.values())


_TEXT = _Kind("a text", _is_text, str, None)
_FLAG = _Kind("true or false", lambda value: isinstance(value, bool), bool, False)
_TEXTS = _Kind("a list of texts", lambda value: _is_list(value, _is_text), tuple, ())
_GRADES = _Kind(
    "an object of whole numbers by document", _is_grades, lambda value: tuple(value.items()), ()
)
_EVIDENCE = _Kind(
    'a list of {"path": text, "quote": text}',
    lambda value: _is_list(value, _is_quotation),
    lambda value: tuple(Evidence(one["path"], one["quote"]) for one in value),
    (),
)
_SET_FIELDS = ("format", "name", "description", "vault", "queries")
# In the order in which they are written.
_QUERY_FIELDS: Mapping[str, _Kind] = {
    "id": _TEXT,
    "query": _TEXT,
    "relevant": _TEXTS,
    "partial": _TEXTS,
    "graded": _GRADES,
    "unanswerable": _FLAG,
    "absent": _TEXTS,
    "lang": _TEXT,
    "direction": _TEXT,
    "category": _TEXT,
    "verified": _FLAG,
    "evidence": _EVIDENCE,
    "rare": _TEXTS,
}
_ALWAYS_WRITTEN = ("id", "query", "relevant", "partial", "verified", "evidence")
# What the other shape, with `expected_urls`, may say in our words; the rest of it is left alone.
_FOREIGN_FIELDS = ("lang", "direction", "category", "verified", "unanswerable")


def read_json(text: str, source: str, name: str) -> GoldenSet:
    """The golden set in `text`; `source` names the file in errors, `name` a set without a name."""
    data = _object(text, source)
    problems: list[str] = []
    fields = _Fields(data, "the set", problems)
    found = data.get("queries")
    if not isinstance(found, list):
        problems.append(
            f'the set: field "queries" must be a list of queries, but is {_kind(found)}; add it'
        )
        found = []
    foreign = "format" not in data and any(
        isinstance(query, dict) and "expected_urls" in query for query in found
    )
    if not foreign:
        _check_format(data.get("format"), problems)
        fields.refuse_others(_SET_FIELDS)
    queries = []
    for number, query in enumerate(found, start=1):
        if not isinstance(query, dict):
            problems.append(
                f"query number {number}: must be an object, but is {_kind(query)}; correct it"
            )
        else:
            queries.append((_foreign_query if foreign else _query)(query, number, problems))
    given, described, vault = (fields.of(one, _TEXT) for one in ("name", "description", "vault"))
    if problems:
        raise BadGoldenSet(source, problems)
    return GoldenSet(name if given is None else given, described or "", vault, tuple(queries))


def as_json(golden: GoldenSet) -> dict[str, Any]:
    """The set as our own format spells it."""
    return {
        "format": FORMAT,
        "name": golden.name,
        "description": golden.description,
        **({"vault": golden.vault} if golden.vault is not None else {}),
        "queries": [_query_as_json(query) for query in golden.queries],
    }


def _query_as_json(query: GoldenQuery) -> dict[str, Any]:
    values = {name: getattr(query, name) for name in _QUERY_FIELDS}
    values["graded"] = dict(query.graded)
    values["evidence"] = [
        {"path": quotation.path, "quote": quotation.quote} for quotation in query.evidence
    ]
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if name in _ALWAYS_WRITTEN or value not in (None, False, (), {})
    }


def _object(text: str, source: str) -> dict[str, Any]:
    try:
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, column {error.colno}: not JSON ({error.msg}); correct it"
        raise BadGoldenSet(source, [problem]) from error
    except (ValueError, RecursionError) as error:
        raise BadGoldenSet(source, [f"not usable JSON ({error}); correct it"]) from error
    if not isinstance(data, dict):
        problem = f'the file must hold one object; write {{"format": "{FORMAT}", "queries": […]}}'
        raise BadGoldenSet(source, [problem])
    return data


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Plain JSON reading would keep the last of two equal keys and drop judgments in silence.
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in one object")
    return found


def _check_format(given: Any, problems: list[str]) -> None:
    if isinstance(given, str) and given != FORMAT and given.startswith("twolane-golden/"):
        problems.append(
            f"format {given!r} is not known to this Twolane, which reads {FORMAT!r}; "
            "use the version that wrote the file, or a newer one"
        )
    elif given != FORMAT:
        problems.append(
            f'the set: field "format" must be {FORMAT!r}, but is {_shown(given)}; '
            "set it, or give the queries expected_urls"
        )


def _query(data: Mapping[str, Any], number: int, problems: list[str]) -> GoldenQuery:
    fields = _Fields(data, _where(data, number), problems)
    fields.refuse_others(_QUERY_FIELDS)
    needed = ("id", "query")
    return GoldenQuery(
        **{
            name: fields.of(name, kind, needed=name in needed)
            for name, kind in _QUERY_FIELDS.items()
        }
    )


def _foreign_query(data: Mapping[str, Any], number: int, problems: list[str]) -> GoldenQuery:
    fields = _Fields(data, _where(data, number), problems)
    return GoldenQuery(
        id=fields.of("id", _TEXT) or f"q{number}",
        query=fields.of("query", _TEXT, needed=True),
        relevant=fields.of("expected_urls", _TEXTS, needed=True),
        **{name: fields.of(name, _QUERY_FIELDS[name]) for name in _FOREIGN_FIELDS},
    )


def _where(data: Mapping[str, Any], number: int) -> str:
    id = data.get("id")
    return f"query {id!r}" if isinstance(id, str) and id else f"query number {number}"


class _Fields:
    """Reads the fields of one object, and notes what is wrong instead of raising at the first."""

    def __init__(self, data: Mapping[str, Any], where: str, problems: list[str]) -> None:
        self._data = data
        self._where = where
        self._problems = problems

    def of(self, name: str, kind: _Kind, *, needed: bool = False) -> Any:
        """The value of a field; whether it says anything is for validation."""
        value = self._data.get(name)
        if value is None and not needed:
            return kind.absent
        if value is None or not kind.fits(value):
            self._problems.append(
                f'{self._where}: field "{name}" must be {kind.expected}, '
                f"but is {_shown(value)}; correct it"
            )
            return kind.absent
        return kind.take(value)

    def refuse_others(self, known: Collection[str]) -> None:
        """Note every field that the format does not have: most are misspelt."""
        for name in self._data:
            if name not in known:
                close = difflib.get_close_matches(name, list(known), n=1)
                advice = f'did you mean "{close[0]}"?' if close else "remove it"
                self._problems.append(f'{self._where}: unknown field "{name}"; {advice}')


def _shown(value: object) -> str:
    if isinstance(value, list | dict | None):
        return _kind(value)
    text = ascii(value) if isinstance(value, str) and not _is_text(value) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "missing" if value is None else names.get(type(value), "a number")


# ------------------------------------------------------------------------------- BEIR

BEIR_QUERIES = "queries.jsonl"
BEIR_CORPUS = "corpus.jsonl"
BEIR_SPLIT = "test"


def beir_folder(source: Path) -> Path | None:
    """The BEIR folder that a golden set was read from: this one, or the one of its qrels file."""
    folder = source.parent.parent if source.parent.name == "qrels" else source
    return folder.resolve() if (folder / BEIR_QUERIES).is_file() else None


def corpus(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Id, title and text of every document of a BEIR folder."""
    for id, record in _records(folder / BEIR_CORPUS):
        title = record.get("title")
        yield id, title if isinstance(title, str) else "", record["text"]


def corpus_ids(folder: Path) -> frozenset[str]:
    """The ids of the documents of a BEIR folder: what `validate` wants as known paths."""
    return frozenset(id for id, _, _ in corpus(folder))


def _read_beir(folder: Path, qrels: Path | None) -> GoldenSet:
    """The queries of a BEIR folder that one file of its `qrels` folder judges.

    Without `qrels` that is `test.tsv`, or the only file there is.
    """
    if not (folder / BEIR_QUERIES).is_file():
        problem = f"a folder is read as a BEIR collection, but this one has no {BEIR_QUERIES}"
        raise BadGoldenSet(folder.name, [f"{problem}; name the file of the golden set instead"])
    qrels = qrels or _split(folder)

    def judgment(number: int, line: str) -> tuple[str, ...] | None:
        fields = [field.strip() for field in line.split("\t")]
        if number == 1 and fields[-1] == "score":
            return None
        if len(fields) != 3 or not all(fields):
            raise BadInput("write three fields with tabs between: query, document, grade")
        return tuple(fields)

    judgments = _judgments(qrels, f"qrels/{qrels.name}", judgment)
    texts = {id: record["text"] for id, record in _records(folder / BEIR_QUERIES)}
    return _join(f"{folder.resolve().name}.{qrels.stem}", judgments, texts, qrels, BEIR_QUERIES)


def _split(folder: Path) -> Path:
    found = sorted((folder / "qrels").glob("*.tsv"))
    for path in found:
        if path.stem == BEIR_SPLIT or len(found) == 1:
            return path
    if not found:
        raise BadGoldenSet(folder.name, ["no judgments; a BEIR folder has them in qrels/test.tsv"])
    names = ", ".join(f"qrels/{path.name}" for path in found)
    raise BadGoldenSet(folder.name, [f"several splits and no test.tsv; name one of {names}"])


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The `_id` and the fields of every line of a JSON lines file; `text` is one of them."""
    seen: set[str] = set()

    def record(_: int, line: str) -> tuple[str, dict[str, Any]]:
        try:
            data: Any = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadInput(f"column {error.colno}: not JSON ({error.msg}); correct it") from error
        except (ValueError, RecursionError) as error:
            raise BadInput(f"not usable JSON ({error}); correct it") from error
        if not isinstance(data, dict):
            raise BadInput("not a JSON object; write one per line")
        for name in ("_id", "text"):
            if not isinstance(data.get(name), str):
                raise BadInput(f'field "{name}" must be a text; correct it')
        if data["_id"] in seen:
            raise BadInput(f"the _id {data['_id']!r} is used before; give each its own")
        seen.add(data["_id"])
        return data["_id"], data

    yield from _each_line(path, path.name, record)


# ------------------------------------------------------------------------------- TREC

# Only ASCII blanks separate fields, as in trec_eval: other blanks may be part of a foreign id.
_FIELD = re.compile(r"\S+", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


def _read_trec(qrels: Path, topics: Path) -> GoldenSet:
    """The queries of a topics file that a qrels file judges."""
    return _join(qrels.stem, read_qrels(qrels), read_topics(topics), qrels, topics.name)


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Query → document → grade, from lines of query, iteration, document and grade.

    A grade below 1 means judged and not relevant.
    Raises `BadGoldenSet` with the number of every line that cannot be read.
    """

    def judgment(_: int, line: str) -> tuple[str, ...]:
        fields = _FIELD.findall(line)
        if len(fields) != 4:
            raise BadInput(f"{len(fields)} fields; write four: query, iteration, document, grade")
        return _decoded(fields[0]), _decoded(fields[2]), fields[3]

    return _judgments(path, path.name, judgment)


def read_topics(path: Path) -> dict[str, str]:
    """Query id → text, from lines of id, tab and text."""
    topics: dict[str, str] = {}

    def topic(_: int, line: str) -> None:
        id, tab, text = line.partition("\t")
        id = _decoded(id.strip())
        if not (tab and id and text.strip()):
            raise BadInput("write the id of the query, a tab, and its text")
        if id in topics:
            raise BadInput(f"the id {id!r} is used before; give each query its own")
        topics[id] = text.strip()

    list(_each_line(path, path.name, topic))
    return topics


def _decoded(field: str) -> str:
    """The id that a field stands for: ids hold no blanks in TREC files, so `%20` stands for one."""
    try:
        return unquote(field, errors="strict")
    except UnicodeDecodeError:  # A percent sign that encodes nothing is just a percent sign.
        return field


# ------------------------------------------------------------------------------- both


def _each_line(path: Path, source: str, read: Callable[[int, str], _T | None]) -> Iterator[_T]:
    """What is read of each line; in the end `BadGoldenSet` with every line that cannot be read."""
    problems = []
    for number, line in numbered_lines(path):
        try:
            found = read(number, line)
        except BadInput as error:
            problems.append(f"line {number}: {error}")
            continue
        if found is not None:
            yield found
    if problems:
        raise BadGoldenSet(source, problems)


def _judgments(
    path: Path, source: str, read: Callable[[int, str], tuple[str, ...] | None]
) -> dict[str, dict[str, int]]:
    judgments: dict[str, dict[str, int]] = {}

    def judge(number: int, line: str) -> None:
        fields = read(number, line)
        if fields is None:
            return
        query, document, grade = fields
        if not _INTEGER.fullmatch(grade):
            raise BadInput(f"the grade {grade!r} is not a whole number; write 0, 1, 2 …")
        if document in judgments.setdefault(query, {}):
            raise BadInput(f"{document!r} is judged twice for query {query!r}; keep one line")
        judgments[query][document] = int(grade)

    list(_each_line(path, source, judge))
    return judgments


def _join(
    name: str,
    judgments: Mapping[str, Mapping[str, int]],
    texts: Mapping[str, str],
    qrels: Path,
    asked_in: str,
) -> GoldenSet:
    problems = [
        f"query {id!r}: judged in {qrels.name}, but {asked_in} has no such query; add its text"
        for id in judgments
        if id not in texts
    ]
    if problems:
        raise BadGoldenSet(qrels.name, problems)
    queries = [
        GoldenQuery(id=id, query=text, graded=tuple(judgments[id].items()))
        for id, text in texts.items()
        if id in judgments
    ]
    return GoldenSet(name=name, queries=tuple(queries))
