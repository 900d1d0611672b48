"""`twolane mcp` with a real client, over standard input and output."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.builders import COLLECTION, prepared, put
from tests.interfaces.conftest import Cli, write
from twolane import Draft, Kind, Library, Scope, Settings
from twolane.ingest.chunking import estimate_tokens
from twolane.interfaces.mcp import texts
from twolane.interfaces.mcp.tools import TOOLS, checked
from twolane.model.document import Collection
from twolane.model.errors import BadInput
from twolane.ports.documents import PutCollection
from twolane.stores.memory import memory_stores

NOTES = {
    "garden/compost.md": (
        "---\ntags: [garden]\n---\n# Compost\n\nA heap of leaves.\n\n## Layers\n\n"
        "Green on brown, never green alone.\n\n### Worms\n\nThey do the work at night.\n\n"
        "## Smell\n\nA good heap smells of forest.\n"
    ),
    "bread.md": "# Bread\n\nRye, water and a quagga of salt.\n",
    "secret.md": "---\nsearch: false\n---\n# Secret\n\nNobody finds the quagga here.\n",
    "чай.md": "# Чай\n\nЗелёный чай заваривают при восьмидесяти градусах.\n",
    "line.md": "# A page\n\n" + "A numbat eats termites. " * 400 + "\n\nThe end.\n",
    "字.md": "# 字\n\n" + "天文学者は望遠鏡で惑星を観測した。" * 200 + "\n\n終わり。\n",
    "long.md": "# Long\n\n"
    + "\n\n".join(f"Paragraph {n} about okapis." for n in range(400))
    + "\n",
}

Session = Callable[[Client], Awaitable[None]]


@pytest.fixture
def library(twolane: Cli, tmp_path: Path) -> Cli:
    """A command line whose library holds the notes."""
    twolane("index", write(tmp_path / "notes", NOTES))
    twolane("collection", "describe", "notes", "What I grow, bake and drink.")
    return twolane


def over_streams(cli: Cli, session: Session) -> None:
    """Talk to a server of one's own over its standard streams."""

    async def run() -> None:
        command, *arguments = cli.arguments("mcp")
        parameters = StdioServerParameters(
            command=command, args=arguments, env=cli.environment, cwd=str(cli.home)
        )
        async with Client(stdio_client(parameters)) as client:
            await session(client)

    anyio.run(run)


async def told(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool answers."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    text: str = content.text  # type: ignore[union-attr]
    assert not result.is_error, text
    return text


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says to a call that it cannot answer."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    text: str = result.content[0].text  # type: ignore[union-attr]
    return text


async def search_outline_get(client: Client) -> None:
    """The way of an agent: search, look at the headings, read the section."""
    said = await told(client, "search", query="green on brown layers")
    assert said.splitlines()[0].startswith("What I grow") or "What I grow" in said
    assert "garden/compost.md" in said
    assert "> Layers" in said
    assert re.search(r"lines \d+-\d+", said)
    headings = await told(client, "outline", doc="garden/compost.md")
    assert "  Layers (line 8)" in headings
    listed = await told(client, "get", doc="compost", toc_path=["Layers", "Worms"])
    section = await told(client, "get", doc="garden/compost.md", toc_path="Layers > Worms")
    assert listed == section
    assert "at night" in section
    assert "forest" not in section
    lines = await told(client, "get", doc="garden/compost.md", lines="14-16")
    assert "Worms" in lines or "Smell" in lines or "night" in lines


def test_a_session_over_streams(library: Cli) -> None:
    """Search, outline and get over standard input and output."""
    over_streams(library, search_outline_get)


def test_everything_over_one_connection(library: Cli) -> None:
    """Each tool, resource and refusal answers as it promises, in one session."""

    async def session(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [
            "search",
            "similar",
            "get",
            "outline",
            "why",
            "status",
        ]
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        await _instructions(client)
        await _searches(client)
        await _others(client)
        await _resources(client)
        await _refusals(client)

    over_streams(library, session)


def test_copies_are_told() -> None:
    """A result names a few of its copies, and a copy names what it is a copy of."""
    letter = "The wheel of the tide mill was mended in spring, when the water stood low and clear."
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(store, *(prepared(f"mill-{number}", letter, title="Tide mill") for number in range(5)))
    with Library(store, Settings(), None) as library:
        first, *_, last = (
            line
            for line in texts.found(library, Scope(), library.search("tide mill"), 1000).split("\n")
            if "[mill-" in line
        )
    assert first.endswith("; also as mill-1, mill-2, mill-3 and 1 more")
    assert last.startswith("5. Tide mill [mill-4]")
    assert last.endswith("; a copy of mill-0")


def test_a_document_without_text_has_no_lines_to_read(tmp_path: Path) -> None:
    """What a bookmark says of itself is told without lines; its address is told once."""
    with Library.open(tmp_path / "marks.db") as library:
        mill, pond = "https://e.org/mill", "https://e.org/pond"
        library.save(Draft("a", kind=Kind.BOOKMARK, url=mill, title="Tide mill"))
        saying = "With ducks."
        library.save(Draft("b", kind=Kind.BOOKMARK, url=pond, title="Mill", description=saying))
        answer = library.search("mill", mode="lexical")
        told = texts.found(library, Scope(), answer, 1000)
    assert {one.lines for one in answer.results} == {None}
    assert "lines" not in told
    assert told.count(mill) == 1
    assert told.count("\n>") == 1
    assert f"> {saying}" in told


def test_a_filter_that_cannot_be_read_is_told() -> None:
    """An agent learns which of its filters was searched as words, and what it could write."""
    with Library(memory_stores(), Settings(), None) as library:
        said = texts.found(library, Scope(), library.search("mill after:someday"), 1000)
    assert "\nafter:someday was searched as words: 'someday' is not a date; write 2024" in said


def test_a_tag_that_no_document_has_is_told() -> None:
    """An agent learns that the tag is not there, and which ones are like it."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(store, prepared("mill", "The tide mill.", tags=("water/mills",)))
    with Library(store, Settings(), None) as library:
        said = texts.found(library, Scope(), library.search("mill tag:mills"), 1000)
    assert "no document here has the tag mills; near it: water/mills\n" in said


async def _instructions(client: Client) -> None:
    """They are made from the live index."""
    text = client.instructions or ""
    assert "6 notes" in text
    assert "What I grow, bake and drink." in text
    assert "en" in text
    assert "ru" in text


async def _searches(client: Client) -> None:
    """Budgets hold, hidden notes stay hidden, filters and wordings count."""
    assert "Secret" not in await told(client, "search", query="quagga", limit=10)
    assert "Bread" in await told(client, "search", query="quagga")
    assert "nothing found" in await told(client, "search", query='"no such phrase anywhere"')
    only = await told(client, "search", query="heap", filter="tag:garden")
    assert "Compost" in only
    assert "Bread" not in only
    assert "Чай" in await told(client, "search", query="зеленый чай", mode="lexical")
    for tokens in (50, 200, 1000):
        said = await told(client, "search", query="okapis paragraph", max_tokens=tokens)
        assert estimate_tokens(said) <= tokens + 40
    # A small budget still has room for the beginning of a passage.
    said = await told(client, "search", query="okapis paragraph", max_tokens=150)
    assert re.search(r"^ *> .*okapis", said, re.MULTILINE | re.IGNORECASE)
    plain = await told(client, "search", query="what lives there", limit=4)
    led = await told(
        client,
        "search",
        query="what lives there",
        limit=4,
        short_query="worms night",
        rephrased_query="worms in the heap",
        expected_answer="They do the work at night.",
    )
    assert led != plain
    assert led.splitlines()[1].startswith("1. Compost")


async def _others(client: Client) -> None:
    """Reading, similar, why and status."""
    cut = await told(client, "get", doc="long.md", max_tokens=200)
    assert estimate_tokens(cut) <= 240
    after = int(re.findall(r"read on with lines (\d+)-", cut)[0])
    on = await told(client, "get", doc="long.md", lines=f"{after}-{after + 1}")
    assert "Paragraph" in on
    for doc, first in (("line.md", "numbat"), ("字.md", "天文学")):
        line = await told(client, "get", doc=doc, lines="3-3", max_tokens=100)
        assert first in line
        assert estimate_tokens(line) <= 100
        assert line.endswith("[cut within line 3: raise max_tokens]")
        line = await told(client, "get", doc=doc, lines="3-5", max_tokens=100)
        assert line.endswith("[cut within line 3: raise max_tokens, or read on with lines 4-5]")
        assert estimate_tokens(await told(client, "search", query=first, max_tokens=100)) <= 100
    assert "like" in await told(client, "similar", doc="garden/compost.md", limit=1)
    assert "not" in await told(client, "why", query="quagga", doc="garden/compost.md")
    hidden = await told(client, "why", query="quagga", doc="secret.md")
    assert "None" not in hidden
    assert hidden.startswith("notes/secret.md: ")
    assert "None" not in hidden
    status = await told(client, "status")
    assert "6 documents" in status
    assert "What I grow" in status


def test_prompts_are_offered_and_filled(twolane: Cli, tmp_path: Path) -> None:
    """Prompts of the library are prompts of the protocol, with their arguments; notes are not."""
    text = "---\ntitle: Shorten\narguments: [words]\n---\nCut {{text}} to {{words}} words.\n"
    (tmp_path / "shorten.md").write_text(text)
    twolane("import", "prompts", tmp_path / "shorten.md")
    twolane("save", "-", "--id", "n", "--title", "A note", stdin=b"Cut {{text}}.")

    async def session(client: Client) -> None:
        (prompt,) = (await client.list_prompts()).prompts
        assert prompt.title == "Shorten"
        assert [argument.name for argument in prompt.arguments or []] == ["words", "text"]
        told = await client.get_prompt(prompt.name, {"text": "this", "words": "9"})
        assert told.messages[0].content.text == "Cut this to 9 words.\n"  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="no document"):
            await client.get_prompt("n", {})

    over_streams(twolane, session)


async def _resources(client: Client) -> None:
    """A search and a document are resources, too."""
    templates = (await client.list_resource_templates()).resource_templates
    assert {template.name for template in templates} == {"search", "document"}
    found = await client.read_resource("twolane://search/quagga%20salt")
    assert "Bread" in found.contents[0].text  # type: ignore[union-attr]
    read = await client.read_resource("twolane://document/bread.md")
    assert "quagga" in read.contents[0].text  # type: ignore[union-attr]
    assert {resource.name for resource in (await client.list_resources()).resources} >= {
        "Bread",
        "Чай",
    }
    with pytest.raises(MCPError, match="no document"):
        await client.read_resource("twolane://document/secret.md")
    with pytest.raises(MCPError, match="no resource"):
        await client.read_resource("twolane://elsewhere/x")


async def _refusals(client: Client) -> None:
    """Bad calls are answered with what to do, and the session goes on."""
    assert "no document" in await refused(client, "get", doc="secret.md")
    assert "no document" in await refused(client, "outline", doc="nowhere.md")
    assert "needs the argument 'query'" in await refused(client, "search")
    assert "no argument 'colour'" in await refused(client, "search", query="x", colour="red")
    assert "between 1 and 50" in await refused(client, "search", query="x", limit=0)
    assert "must be one of" in await refused(client, "search", query="x", mode="magic")
    assert "must be a text" in await refused(client, "search", query=7)
    plain = await refused(client, "search", query="x", filter="tag:garden rye")
    assert "'tag:garden rye' holds plain words; put them into the query" in plain
    unread = await refused(client, "search", query="x", filter="after:someday")
    assert "after:someday: 'someday' is not a date; write 2024" in unread
    assert "must look like" in await refused(client, "get", doc="bread.md", lines="a-b")
    assert "not both" in await refused(client, "get", doc="bread.md", lines="1", toc_path="x")
    assert "has no heading" in await refused(client, "get", doc="bread.md", toc_path="Nope")
    assert "list of texts" in await refused(client, "get", doc="bread.md", toc_path=[1])
    assert "there is no tool" in await refused(client, "delete", doc="bread.md")
    assert "Bread" in await told(client, "search", query="rye")


def test_schemas_are_cheap() -> None:
    """All tools together cost an agent little before its first question."""
    spelled = [
        {"name": one.name, "description": one.description, "inputSchema": one.schema}
        for one in TOOLS
    ]
    assert len(TOOLS) <= 6
    assert len(json.dumps(spelled)) <= 6000


def test_the_least_relevance_can_be_asked_for() -> None:
    """An agent may leave out what is less likely than it wants; the number is checked."""
    store = memory_stores()
    store.documents.apply(PutCollection(Collection(COLLECTION)))
    put(store, prepared("mill", "The tide mill.", title="Tide mill"), prepared("pond", "A pond."))
    (search,) = (tool for tool in TOOLS if tool.name == "search")
    with Library(store, Settings(), None) as library:

        def told(least: object) -> str:
            arguments = {"query": "tide mill", "min_relevance": least}
            return search.run(library, Scope(), checked(search, arguments))

        assert "[mill]" in told(0.1)
        assert "[mill]" not in told(1)
        for wrong in (2, "much", True):
            with pytest.raises(BadInput, match="min_relevance"):
                told(wrong)
