"""The engine past one machine: a Qdrant cluster that answers by words and by meaning.

Documents, the queue and tokens stay in SQLite or PostgreSQL, which also answers what Qdrant cannot:
letters, names, similar terms, the order of words, patterns.
Its outbox names what changed, and a follower brings that to the cluster.
"""

from __future__ import annotations

from dataclasses import replace

from twolane.model.errors import StoreError
from twolane.ports import Stores
from twolane.stores.qdrant.cluster import Cluster
from twolane.stores.qdrant.follower import Follower
from twolane.stores.qdrant.layout import Layout, Shape
from twolane.stores.qdrant.lexical import QdrantLexical
from twolane.stores.qdrant.maintenance import QdrantMaintenance
from twolane.stores.qdrant.vectors import QdrantVectors

__all__ = ["Cluster", "Follower", "Shape", "follower_of", "with_qdrant"]


def with_qdrant(
    stores: Stores,
    cluster: Cluster,
    shape: Shape,
    *,
    lag_seconds: float = 30.0,
    follow: bool = False,
) -> Stores:
    """The stores of a library whose searches ask the cluster.

    An answer says so when the cluster is more than `lag_seconds` behind the database.
    With `follow` a thread brings changes there until the stores are closed.
    """
    follower = follower_of(stores, cluster, shape)
    if follow:
        follower.start()
    maintenance = QdrantMaintenance(stores.maintenance, follower, lag_seconds)
    searched = replace(
        stores.searched,
        lexical=QdrantLexical(cluster, follower.layout, stores.searched.lexical, stores.documents),
        vectors=QdrantVectors(cluster, follower.layout, stores.vectors, stores.documents),
        maintenance=maintenance,
        replica=None,
    )
    return replace(stores, maintenance=maintenance, replica=searched, follower=follower)


def follower_of(stores: Stores, cluster: Cluster, shape: Shape) -> Follower:
    """What keeps the cluster in step with the stores."""
    if stores.outbox is None:
        raise StoreError("this store has no outbox, by which Qdrant could follow it")
    return Follower(stores, stores.outbox, cluster, Layout(cluster, shape, stores.outbox.identity))
