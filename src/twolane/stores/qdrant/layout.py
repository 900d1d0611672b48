"""The collections of a library, how they are made, and the aliases by which they are asked.

One collection holds the words of all documents, and each generation of vectors has one of its own.
They are asked by aliases, so that a new build takes over at once, and the old one can come back.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from qdrant_client import QdrantClient, models

from twolane.model.errors import EngineTaken
from twolane.stores.qdrant.cluster import Cluster

WORDS = "words"
TERMS = "terms"

# What a collection is made from stands in its metadata, under this key.
DATABASE = "database"
# How long searches believe that the collections are those of their database.
_SURE_SECONDS = 10.0

# Making a collection takes the agreement of the nodes.
_SECONDS = 60
# How often it is looked whether an index is done.
_POLL_SECONDS = 0.2

_KEYWORDS = ("collection", "document", "folders", "kind", "languages", "parts", "tags")
_NUMBERS = ("created", "updated", "used")


@dataclass(frozen=True, slots=True)
class Shape:
    """How the collections are called, made and asked; what each means is told in the settings."""

    name: str = "twolane"
    shards: int = 1
    replicas: int = 1
    write_consistency: int = 1
    read_consistency: str = ""
    quantisation: str = "scalar"
    oversampling: float = 2.0
    on_disk: bool = False
    exact: bool = False
    ef: int = 128
    batch: int = 100

    @property
    def consistency(self) -> models.ReadConsistencyType | None:
        """How many replicas must agree on what is read, as the client wants it."""
        asked = self.read_consistency
        return models.ReadConsistencyType(asked) if asked else None


@dataclass(frozen=True, slots=True)
class Build:
    """A collection: what it holds (`words`, or `g` and a generation), and the number it is of."""

    holds: str
    number: int

    @property
    def generation(self) -> int | None:
        """The generation whose vectors it holds; None for words."""
        return None if self.holds == WORDS else int(self.holds[1:])


@dataclass(frozen=True, slots=True)
class Builds:
    """All collections of a library, by name, and the names that are asked, by alias."""

    all: Mapping[str, Build] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)

    def of(self, generation: int | None, among: Iterable[str] | None = None) -> list[str]:
        """The names of those with the words, or the vectors of a generation."""
        chosen = self.all if among is None else among
        return sorted(name for name in chosen if self.all[name].generation == generation)


class Layout:
    """Makes, names and drops the collections of one library."""

    def __init__(self, cluster: Cluster, shape: Shape, identity: Callable[[], str]) -> None:
        """`identity` names the database, and every collection that is made from it."""
        self._cluster = cluster
        self.shape = shape
        self._identity = identity
        self._own: set[str] = set()
        self._look_again = 0.0
        self._name = re.compile(rf"{re.escape(shape.name)}-(words|g\d+)-(\d+)")

    def alias(self, generation: int | None) -> str:
        """What the words, or the vectors of a generation, are asked by."""
        return f"{self.shape.name}-{_holds(generation)}"

    def asked(self, generation: int | None) -> str:
        """The alias, for whoever searches; EngineTaken if it may name another database's."""
        if time.monotonic() >= self._look_again:
            self.builds()
            self._look_again = time.monotonic() + _SURE_SECONDS
        return self.alias(generation)

    def builds(self) -> Builds:
        """The collections that are there; EngineTaken if some of them are another database's."""

        def look(client: QdrantClient) -> Builds:
            names = [one.name for one in client.get_collections().collections]
            found = {name: match for name in names if (match := self._name.fullmatch(name))}
            self._require_own(client, found.keys() - self._own)
            return Builds(
                {name: Build(match[1], int(match[2])) for name, match in found.items()},
                {
                    one.alias_name: one.collection_name
                    for one in client.get_aliases().aliases
                    if one.collection_name in found
                },
            )

        return self._cluster.ask(look)

    def make(
        self, generation: int | None, number: int, dimensions: int = 0, *, to_fill: bool = False
    ) -> str:
        """Make a collection for the words, or the vectors of a generation; its name.

        One that is made `to_fill` has no index of its vectors before `finish`.
        """
        name = f"{self.alias(generation)}-{number}"

        def create(client: QdrantClient) -> None:
            if client.collection_exists(name):
                # The node that made it did not live to tell.
                return
            shape = self.shape
            client.create_collection(
                name,
                vectors_config={} if generation is None else self._dense(generation, dimensions),
                sparse_vectors_config={TERMS: _SPARSE} if generation is None else None,
                shard_number=shape.shards,
                replication_factor=shape.replicas,
                write_consistency_factor=shape.write_consistency,
                on_disk_payload=True,
                quantization_config=None if generation is None else self._quantised(),
                optimizers_config=_UNINDEXED if to_fill else None,
                metadata={DATABASE: self._identity()},
                timeout=_SECONDS,
            )

        def index(client: QdrantClient) -> None:
            for key, schema in _indexes(generation).items():
                client.create_payload_index(name, key, schema, wait=False)

        self._cluster.ask(create, seconds=_SECONDS)
        self._cluster.ask(index, seconds=_SECONDS)
        return name

    def finish(self, words: str, names: Iterable[str]) -> None:
        """Index the vectors of collections that were made to be filled, and wait for the end.

        `words` is a collection that was not, and so has what the cluster does by itself; what is
        left to do there is waited for, too.
        """

        def index(client: QdrantClient) -> None:
            usual = client.get_collection(words).config.optimizer_config.indexing_threshold
            for name in filled:
                client.update_collection(
                    name,
                    optimizers_config=models.OptimizersConfigDiff(indexing_threshold=usual),
                    timeout=_SECONDS,
                )

        def is_busy(client: QdrantClient) -> bool:
            statuses = [client.get_collection(name).status for name in (words, *filled)]
            return models.CollectionStatus.YELLOW in statuses

        filled = list(names)
        self._cluster.ask(index, seconds=_SECONDS)
        while self._cluster.ask(is_busy, seconds=_SECONDS):
            time.sleep(_POLL_SECONDS)

    def ask_for(self, names: Iterable[str], builds: Builds) -> None:
        """Let the aliases name these collections from now on, all at once."""
        operations: list[models.AliasOperations] = []
        for name in names:
            alias = name.rpartition("-")[0]
            if alias in builds.asked:
                operations.append(
                    models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
                )
            made = models.CreateAlias(collection_name=name, alias_name=alias)
            operations.append(models.CreateAliasOperation(create_alias=made))
        self._cluster.ask(
            lambda client: client.update_collection_aliases(operations, timeout=_SECONDS),
            seconds=_SECONDS,
        )

    def drop(self, names: Iterable[str]) -> None:
        """Drop collections, and with them the aliases that name them."""
        gone = list(names)

        def delete(client: QdrantClient) -> None:
            for name in gone:
                client.delete_collection(name, timeout=_SECONDS)

        self._cluster.ask(delete, seconds=_SECONDS)

    def _require_own(self, client: QdrantClient, names: Iterable[str]) -> None:
        for name in names:
            made_of = (client.get_collection(name).config.metadata or {}).get(DATABASE)
            if made_of != self._identity():
                raise EngineTaken(
                    f"Qdrant holds another database under the name {self.shape.name!r}; set "
                    "`qdrant.name` to another name, or delete the collections "
                    f"{self.shape.name}-* in Qdrant if nothing needs them, and then run: "
                    "twolane db reindex --into qdrant"
                )
            self._own.add(name)

    def _dense(self, generation: int, dimensions: int) -> dict[str, models.VectorParams]:
        # Vectors are of unit length, so that the dot product is the cosine.
        return {
            _holds(generation): models.VectorParams(
                size=dimensions, distance=models.Distance.DOT, on_disk=self.shape.on_disk
            )
        }

    def _quantised(self) -> models.QuantizationConfig | None:
        if self.shape.quantisation == "scalar":
            scalar = models.ScalarQuantizationConfig(
                type=models.ScalarType.INT8, quantile=0.99, always_ram=True
            )
            return models.ScalarQuantization(scalar=scalar)
        if self.shape.quantisation == "binary":
            return models.BinaryQuantization(
                binary=models.BinaryQuantizationConfig(always_ram=True)
            )
        return None


# An index that grows with the collection would be built again and again.
_UNINDEXED = models.OptimizersConfigDiff(indexing_threshold=0)

_SPARSE = models.SparseVectorParams(modifier=models.Modifier.IDF)


def vector_name(generation: int) -> str:
    """The name of a generation's vectors in its collection."""
    return _holds(generation)


def _holds(generation: int | None) -> str:
    return WORDS if generation is None else f"g{generation}"


def _indexes(generation: int | None) -> dict[str, models.PayloadSchemaType | object]:
    """What filters ask for; documents of one owner lie side by side."""
    keyword = models.KeywordIndexType.KEYWORD
    indexes: dict[str, models.PayloadSchemaType | object] = {
        "owner": models.KeywordIndexParams(type=keyword, is_tenant=True),
        **{key: models.KeywordIndexParams(type=keyword) for key in _KEYWORDS},
        **{key: models.FloatIndexParams(type=models.FloatIndexType.FLOAT) for key in _NUMBERS},
        "archived": models.BoolIndexParams(type=models.BoolIndexType.BOOL),
        "version": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER),
    }
    if generation is None:
        # Streams are split at spaces, and their stems are compared as they are.
        indexes["streams"] = models.TextIndexParams(
            type=models.TextIndexType.TEXT,
            tokenizer=models.TokenizerType.WHITESPACE,
            lowercase=False,
        )
    return indexes
