"""Making again what other rows of a damaged file refer to, so that nothing of a user's is lost.

Everything that is left of a document stays: what cannot be put back where it was goes into a
collection of its own, called `recovered`.
Fields that are gone are empty, or told by what was derived from them.
A document that is made again has no recipe and a stamp that no file has,
so that it is analysed anew, and read from its file where there is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from twolane.model.document import Kind, TitleOrigin
from twolane.stores.sql.document_rows import dumped, dumped_texts, loaded
from twolane.stores.sqlite.database import rows
from twolane.stores.sqlite.versions import free_row
from twolane.text.plural import counted
from twolane.text.tokens import fold, stream

# What is made again is called so, with a number where the name is taken.
RECOVERED = "recovered"

# So many documents are told by name.
_MOST_NAMES = 100

# What has a document analysed again, and read again if it is a file: no recipe, no file's stamp.
_AGAIN = "recipe = '', version = version + 1, size = iif(size IS NULL, NULL, -1)"

_LOST_COLLECTIONS = """
SELECT DISTINCT collection FROM documents
WHERE collection NOT IN (SELECT row FROM collections) ORDER BY 1"""

# A file's document is named after its collection, so that its id tells the name.
_FILED_UNDER = """
SELECT substr(id, 1, length(id) - length(path) - 1) AS name, count(*) FROM documents
WHERE collection = ? AND modified_ns IS NOT NULL AND substr(id, -length(path) - 1) = '/' || path
GROUP BY name HAVING name <> '' AND NOT instr(name, '/') ORDER BY 2 DESC, 1 LIMIT 1"""

_USUAL_KIND = """
SELECT kind FROM documents WHERE collection = ? GROUP BY kind ORDER BY count(*) DESC, kind LIMIT 1
"""

# Documents of which there is nothing but what somebody wrote of them elsewhere.
# Passages and sketches are not looked at: they are made from the text, and hold none of it.
_LOST_DOCUMENTS = """
SELECT row FROM texts WHERE row NOT IN (SELECT row FROM documents)
    AND octet_length(title || aliases || headings || description || url || stems || body)
UNION SELECT document FROM document_tags WHERE document NOT IN (SELECT row FROM documents)
UNION SELECT document FROM property_values WHERE document NOT IN (SELECT row FROM documents)"""

_MAKE_DOCUMENT = """
INSERT INTO documents(row, id, collection, revision, kind, searchable, archived, deleted, encrypted,
    uses, languages, title, title_key, title_origin, content_hash, version, first_line, aliases,
    description, summary, headings, links, arguments, properties, recipe)
VALUES (?, ?, ?, 0, ?, 1, 0, ?, 0, 0, '', ?, ?, 'given', '', 1, 1, ?, ?, '', '[]', '[]', '[]', ?,
    '')"""

_LOST_TAGS = """
SELECT DISTINCT tag FROM document_tags WHERE tag NOT IN (SELECT row FROM tags) ORDER BY 1"""

# A break stands between the stems of two passages; what waits to be analysed has no recipe.
LOST_PASSAGES = """
SELECT d.id FROM documents AS d JOIN texts AS x ON x.row = d.row
WHERE d.recipe <> '' AND NOT d.encrypted AND (SELECT count(*) FROM chunks WHERE document = d.row)
    <> iif(x.stems = '', min(1, (SELECT count(*) FROM chunks WHERE document = d.row)),
           length(x.stems) - length(replace(x.stems, char(10), '')) + 1)
ORDER BY d.id"""

# The searchable tags are those of the document one after the other, each by its stems.
_UNTAGGED = """
SELECT x.row, x.tags FROM texts AS x JOIN documents AS d ON d.row = x.row
WHERE x.tags <> '' AND x.tags IS NOT (SELECT stems FROM tag_streams WHERE row = x.row)"""

_TAGS_OF = "SELECT tag FROM document_tags WHERE document = ? ORDER BY position"

_LOST_TEXTS = """
SELECT row, id, title, aliases, headings, description, summary, arguments, url, links, encrypted
FROM documents WHERE row NOT IN (SELECT row FROM texts) ORDER BY id"""


def recover_collections(connection: apsw.Connection) -> str | None:
    """Make collections again that documents belong to, under their name if an id tells it."""
    said = []
    for (row,) in rows(connection, _LOST_COLLECTIONS):
        filed = rows(connection, _FILED_UNDER, (row,))
        name = _free(connection, "collections", filed[0][0] if filed else RECOVERED)
        ((kind,),) = rows(connection, _USUAL_KIND, (row,))
        ((count,),) = rows(
            connection, "SELECT count(*) FROM documents WHERE collection = ?", (row,)
        )
        _make_collection(connection, row, name, kind)
        said.append(f"the collection of {counted(count, 'document')} was lost; it is {name!r} now")
    return "; ".join(said) or None


def recover_documents(connection: apsw.Connection) -> str | None:
    """Make documents again of which only the text, the tags or the properties are left."""
    lost = [row for (row,) in rows(connection, _LOST_DOCUMENTS)]
    if not lost:
        return None
    name = _free(connection, "collections", RECOVERED)
    collection = free_row(connection, "collections")
    _make_collection(connection, collection, name, str(Kind.NOTE))
    for row in lost:
        _make_document(connection, row, collection, _free(connection, "documents", f"{name}/{row}"))
    said = counted(
        len(lost), "document without id and times is", "documents without id and times are"
    )
    return f"{said} in the collection {name!r} now"


def recover_tags(connection: apsw.Connection) -> str | None:
    """Make tags again that documents have, under their stems where those are known."""
    names = []
    for (row,) in rows(connection, _LOST_TAGS):
        stems = _stems_of_tag(connection, row)
        name = _free(connection, "tags", "-".join((RECOVERED, *(stems.split() or [str(row)]))))
        connection.execute(
            "INSERT INTO tags(row, name, key, stems) VALUES (?,?,?,?)",
            (row, name, fold(name), stream(name)),
        )
        # A file says what its tags are called.
        connection.execute(
            "UPDATE documents SET size = -1 WHERE size IS NOT NULL AND row IN"
            " (SELECT document FROM document_tags WHERE tag = ?)",
            (row,),
        )
        names.append(name)
    return f"tags whose names were lost: {', '.join(names)}" if names else None


def recover_tagging(connection: apsw.Connection) -> str | None:
    """Give documents the tags again that their searchable text still has."""
    known = {stems: row for row, stems in rows(connection, "SELECT row, stems FROM tags")}
    count = 0
    for document, text in rows(connection, _UNTAGGED):
        told = _tags_in(text, known)
        held = [tag for (tag,) in rows(connection, _TAGS_OF, (document,))]
        lost = [tag for tag in told if tag not in held]
        for position, tag in enumerate((*told, *(tag for tag in held if tag not in told))):
            connection.execute(
                "INSERT INTO document_tags(document, position, tag) VALUES (?,?,?)"
                " ON CONFLICT DO UPDATE SET position = excluded.position",
                (document, position, tag),
            )
        count += bool(lost)
    return f"the tags of {counted(count, 'document')} were put back" if count else None


def _tags_in(text: str, known: Mapping[str, int]) -> list[int]:
    """The tags whose stems make up the text; none if they do not."""
    found = []
    while text:
        stems = max((one for one in known if one and text.startswith(one)), key=len, default="")
        if not stems:
            return []
        found.append(known[stems])
        text = text[len(stems) :]
    return list(dict.fromkeys(found))


def recover_passages(connection: apsw.Connection) -> str | None:
    """Have documents analysed again that lack passages; their texts are whole."""
    lost = [id for (id,) in rows(connection, LOST_PASSAGES)]
    for id in lost:
        connection.execute(
            f"UPDATE documents SET {_AGAIN} WHERE id = ?",
            (id,),
        )
    return f"the passages of {counted(len(lost), 'document')} are made again" if lost else None


def recover_texts(connection: apsw.Connection) -> str | None:
    """Give documents whose text is gone a text of the headings and links that it had."""
    lost = rows(connection, _LOST_TEXTS)
    for (
        row,
        _,
        title,
        aliases,
        headings,
        description,
        summary,
        arguments,
        url,
        links,
        secret,
    ) in lost:
        body = "" if secret else _skeleton(loaded(headings), loaded(links))
        said = "\n".join((description, summary, *loaded(arguments)))
        stems = stream(body)
        connection.execute(
            "INSERT INTO texts(row, listed, words, title, aliases, tags, headings, description,"
            " url, stems, body) VALUES (?, 0, ?, ?, ?, '', ?, ?, ?, ?, ?)",
            (
                row,
                stems.count(" ") // 2,
                stream(title),
                stream("\n".join(loaded(aliases))),
                stream("\n".join(heading[1] for heading in loaded(headings))),
                stream(said),
                stream(url or ""),
                stems,
                body,
            ),
        )
        for derived in ("chunks", "sketches"):
            connection.execute(f"DELETE FROM {derived} WHERE document = ?", (row,))
        connection.execute(
            f"UPDATE documents SET {_AGAIN}, first_line = 1 WHERE row = ?",
            (row,),
        )
    if not lost:
        return None
    names = listed([id for _, id, *_ in lost])
    return (
        f"the text of {counted(len(lost), 'document')} was lost, all else is kept: {names}"
        " (`twolane index` reads the text of files again)"
    )


def listed(ids: Sequence[str]) -> str:
    """The ids as they are told to people: as many as one looks through."""
    return ", ".join(ids[:_MOST_NAMES]) + (", …" if len(ids) > _MOST_NAMES else "")


def make_readable(connection: apsw.Connection, row: int) -> None:
    """Keep of a damaged document what can be read, and have it analysed and read again."""
    names = (*_WRITTEN, "kind", "title_origin")
    found = rows(connection, f"SELECT {', '.join(names)} FROM documents WHERE row = ?", (row,))[0]
    held = dict(zip(names, found, strict=True))
    for name, shape in _WRITTEN.items():
        if not _is_shaped(held[name], shape):
            held[name] = dumped(_properties(connection, row)) if shape is dict else "[]"
    held["kind"] = held["kind"] if held["kind"] in set(Kind) else str(Kind.NOTE)
    origins = {str(one) for one in TitleOrigin}
    held["title_origin"] = held["title_origin"] if held["title_origin"] in origins else "given"
    connection.execute(
        f"UPDATE documents SET {', '.join(f'{name} = ?' for name in held)}, {_AGAIN} WHERE row = ?",
        (*held.values(), row),
    )
    for derived in ("chunks", "sketches"):
        connection.execute(f"DELETE FROM {derived} WHERE document = ?", (row,))


# What is kept as JSON: a list of texts, of lists, or an object.
_WRITTEN: dict[str, type] = {
    "aliases": str,
    "arguments": str,
    "headings": list,
    "links": list,
    "properties": dict,
}


def _is_shaped(text: str, shape: type) -> bool:
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if shape is dict:
        return isinstance(read, dict)
    # What the text says is read from it again; here it must only not stop anybody.
    return isinstance(read, list) and all(
        isinstance(one, shape) and (not isinstance(one, list) or len(one) in (3, 4)) for one in read
    )


def _make_collection(connection: apsw.Connection, row: int, name: str, kind: str) -> None:
    connection.execute("INSERT INTO collections(row, name, kind) VALUES (?,?,?)", (row, name, kind))


def _make_document(connection: apsw.Connection, row: int, collection: int, id: str) -> None:
    found = rows(
        connection,
        "SELECT listed, title, aliases, description, url, body FROM texts WHERE row = ?",
        (row,),
    )
    listed, title, aliases, description, url, body = (found or [(1, "", "", "", "", "")])[0]
    # Of the title and its like only stems are left; they find the document as they did before.
    first = next((line for one in body.split("\n") if (line := one.strip(" \t#>*-"))), "")
    named = " ".join((first or " ".join(title.split()) or id).split())
    others = [" ".join(one.split()) for one in (title, aliases) if one.split()]
    connection.execute(
        _MAKE_DOCUMENT,
        (
            row,
            id,
            collection,
            str(Kind.NOTE),
            not listed,
            named,
            fold(named),
            dumped_texts([one for one in others if fold(one) != fold(named)]),
            " ".join((description + url).split()),
            dumped(_properties(connection, row)),
        ),
    )


def _properties(connection: apsw.Connection, row: int) -> dict[str, Any]:
    """The properties of a lost document, as far as their values are kept to be compared."""
    held: dict[str, list[str]] = {}
    for name, text in rows(
        connection, "SELECT name, text FROM property_values WHERE document = ?", (row,)
    ):
        held.setdefault(name, []).append(text)
    return {name: values[0] if len(values) == 1 else values for name, values in held.items()}


def _stems_of_tag(connection: apsw.Connection, tag: int) -> str:
    """The stems of a lost tag: what a document's searchable tags hold beside its other tags."""
    for document, stems in rows(
        connection,
        "SELECT x.row, x.tags FROM document_tags AS dt JOIN texts AS x ON x.row = dt.document"
        " WHERE dt.tag = ? LIMIT 100",
        (tag,),
    ):
        held = rows(
            connection,
            "SELECT dt.tag, t.stems FROM document_tags AS dt LEFT JOIN tags AS t ON t.row = dt.tag"
            " WHERE dt.document = ? ORDER BY dt.position",
            (document,),
        )
        place = [row for row, _ in held].index(tag)
        others = [known for row, known in held if row != tag]
        if None in others:
            continue
        before, after = "".join(others[:place]), "".join(others[place:])
        if len(stems) > len(before + after) and stems.startswith(before) and stems.endswith(after):
            return str(stems[len(before) : len(stems) - len(after)])
    return ""


def _skeleton(headings: list[Any], links: list[Any]) -> str:
    """A text of the headings and links that are left of one."""
    lines = [f"{'#' * level} {text}" for level, text, *_ in headings]
    lines += [
        f"- [[{target}|{anchor}]]" if wiki else f"- [{anchor}]({target})"
        for target, anchor, wiki in links
    ]
    return "\n\n".join(lines)


def _free(connection: apsw.Connection, table: str, name: str) -> str:
    """The name, or the name with a number if there is such a row already."""
    column = "id" if table == "documents" else "name"
    free, number = name, 2
    while rows(connection, f"SELECT 1 FROM {table} WHERE {column} = ?", (free,)):
        free = f"{name}-{number}"
        number += 1
    return free
