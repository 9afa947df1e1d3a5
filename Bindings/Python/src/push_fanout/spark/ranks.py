"""Members by rank: in the order of the bytes of their ids."""

from __future__ import annotations

import functools
import hashlib
import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..arrow import pyarrow_module
from .engines import Target, engine_of
from .inputs import spark_module
from .manifest import Giant, Shards
from .placing import shard_of_home, with_giants, with_home
from .progress import described
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def _folder(number: int) -> str:
    return f"ranks/{number:06}"


def _name(number: int, conversation: str) -> str:
    return f"{_folder(number)}/{hashlib.sha256(conversation.encode()).hexdigest()[:32]}.npy"


def part_of_rank(path: str, number: int, conversation: str) -> Any:
    """The part of each member of a conversation that is split, by rank, as `ensure_ranks` has
    written it. As members of a part are in the same order, this is all that its bits need."""
    import numpy as np

    return np.load(io.BytesIO(Storage(path).read(_name(number, conversation))))


def ensure_ranks(spark: SparkSession, shards: Shards) -> None:
    """Writes the parts of ranks of all conversations that are split, unless they are there. It is
    only done when bitmaps are asked for."""
    storage = Storage(shards.path)
    missing = [
        (id, giant)
        for id, giant in sorted(shards.giants.items())
        if not storage.exists(_name(shards.number, id))
    ]
    if not missing:
        return
    live = shards.live_folders()
    work = functools.partial(_write_parts, shards, live)
    with described(spark, f"decide: ranks of {len(missing)} conversations that are split"):
        spark.sparkContext.parallelize(missing, len(missing)).foreachPartition(work)


def _write_parts(shards: Shards, live: frozenset[str], giants: Iterable[tuple[str, Giant]]) -> None:
    import numpy as np

    pa = pyarrow_module()
    for conversation, giant in giants:
        ids = _ids_of_parts(shards, live, conversation, giant)
        flat = pa.array([id for part in ids for id in part], pa.string())
        order = pa.compute.sort_indices(flat).to_numpy()
        parts = np.repeat(np.arange(len(ids), dtype="uint32"), [len(part) for part in ids])
        content = io.BytesIO()
        np.save(content, parts[order])
        Storage(shards.path).write(_name(shards.number, conversation), content.getvalue())


def _ids_of_parts(
    shards: Shards, live: frozenset[str], conversation: str, giant: Giant
) -> list[list[str]]:
    found = []
    for part in range(giant.parts):
        folder = shards.folders[(giant.first + part) % len(shards.folders)]
        target = Target(shards.number, shards.at, folder)
        # Nothing is decided, so that nobody is refused.
        fanout = engine_of(
            shards.path, shards.identity, target, live, "ignore", lambda name, more: None
        )
        found.append(fanout.members(conversation)[0])
    return found


def members(shards: Shards, conversations: DataFrame) -> DataFrame:
    """The members of conversations by rank: what the bits of their bitmaps belong to.

    Args:
        shards: the settings; those of the number that bitmaps say.
        conversations: a column ``conversation``; a thread has the members of its parent.

    Returns:
        a row for each member: ``conversation``, ``rank``, ``user``.
    """
    F = spark_module()
    spark = conversations.sparkSession
    threads = None
    if shards.threads:
        threads = spark.read.parquet(*map(Storage(shards.path).place, shards.threads))
    wanted = conversations.select("conversation").distinct()
    placed = with_giants(with_home(wanted, "conversation", threads), shards.giants)
    first = F.coalesce(F.col("_first"), shard_of_home(len(shards.folders)))
    rows = placed.select("conversation", "_home", first.alias("_first"), "_parts")
    return rows.repartition("_first").mapInArrow(
        functools.partial(_list_members, shards, shards.live_folders()),
        "conversation string, rank int, user string",
    )


def _list_members(shards: Shards, live: frozenset[str], batches: Iterator[Any]) -> Iterator[Any]:
    pa = pyarrow_module()
    for batch in batches:
        for row in batch.to_pylist():
            giant = Giant(row["_first"], row["_parts"] or 1, 0)
            ids = _ids_of_parts(shards, live, row["_home"], giant)
            users = sorted((id for part in ids for id in part), key=str.encode)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array([row["conversation"]] * len(users), pa.string()),
                    pa.array(range(len(users)), pa.int32()),
                    pa.array(users, pa.string()),
                ],
                ["conversation", "rank", "user"],
            )
