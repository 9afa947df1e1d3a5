"""The parts of conversations that are split, put together."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..arrow import pyarrow_module
from .inputs import spark_module
from .manifest import Shards

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from pyspark.sql import DataFrame

KEY = ("conversation", "at", "id", "settings", "_home", "_digest", "_copy")
MAPS_KEPT = 8


def merged(parts: DataFrame, versions: list[Shards], output: str) -> DataFrame:
    """A row for each message of the rows of its parts: counts are added, bitmaps put together by
    rank."""
    if output == "counts":
        return _counts(parts)
    from .ranks import ensure_ranks

    for version in versions:
        ensure_ranks(parts.sparkSession, version)
    return _bitmaps(parts, versions)


def _counts(parts: DataFrame) -> DataFrame:
    F = spark_module()
    added = F.aggregate(
        F.collect_list("counts"),
        F.expr("CAST(map() AS map<smallint,bigint>)"),
        lambda sum, more: F.map_zip_with(
            sum, more, lambda code, a, b: F.coalesce(a, F.lit(0)) + F.coalesce(b, F.lit(0))
        ),
    )
    rows = parts.groupBy(*KEY).agg(
        F.sum("recipients").alias("recipients"), F.sum("pushes").alias("pushes"),
        F.map_from_entries(F.array_sort(F.map_entries(added))).alias("counts"),
    )  # fmt: skip
    return rows.select("id", "conversation", "at", "settings", "recipients", "pushes", "counts")


def _bitmaps(parts: DataFrame, versions: list[Shards]) -> DataFrame:
    from .deciding import SCHEMAS

    join = functools.partial(_join_bitmaps, versions[-1].path)
    spread = parts.repartition("conversation", "at", "id").sortWithinPartitions(*KEY, "_part")
    return spread.mapInArrow(join, SCHEMAS["bitmap"])


def _join_bitmaps(path: str, batches: Iterator[Any]) -> Iterator[Any]:
    import numpy as np

    pa = pyarrow_module()
    from .ranks import part_of_rank

    maps: OrderedDict[Any, Any] = OrderedDict()
    key: tuple[Any, ...] | None = None
    pieces: list[Any] = []

    def joined() -> Any:
        assert key is not None
        conversation, at, id, number, home_id = key[:5]
        home = (number, home_id)
        if home not in maps:
            maps[home] = part_of_rank(path, *home)
            while len(maps) > MAPS_KEPT:
                maps.popitem(last=False)
        parts = maps[home]
        bits: npt.NDArray[np.uint8] = np.zeros(len(parts), "uint8")
        for piece in pieces:
            part_bits = np.frombuffer(piece["bitmap"], "uint8")
            bits[parts == piece["_part"]] = np.unpackbits(
                part_bits, count=piece["members"], bitorder="little"
            )
        sums = {
            name: sum(piece[name] for piece in pieces)
            for name in ("recipients", "pushes", "members")
        }
        row = {"id": id, "conversation": conversation, "at": at, "settings": number, **sums,
               "bitmap": np.packbits(bits, bitorder="little").tobytes()}  # fmt: skip
        return pa.RecordBatch.from_pydict(
            {name: [row[name]] for name in row},
            schema=pa.schema(
                [("id", pa.string()), ("conversation", pa.string()), ("at", pa.int64()),
                 ("settings", pa.int32()), ("recipients", pa.int64()), ("pushes", pa.int64()),
                 ("members", pa.int64()), ("bitmap", pa.binary())]
            ),
        )  # fmt: skip

    for batch in batches:
        for number in range(batch.num_rows):
            row = {name: batch[name][number].as_py() for name in batch.schema.names}
            found = tuple(row[name] for name in KEY)
            if found != key:
                if pieces:
                    yield joined()
                key, pieces = found, []
            pieces.append(row)
    if pieces:
        yield joined()
