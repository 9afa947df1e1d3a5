"""Two decisions of the same messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..arrow import pyarrow_module
from ..outcomes import OUTCOMES
from .inputs import spark_module

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def compare(a: DataFrame, b: DataFrame) -> DataFrame:
    """Where two outputs of `decide` differ, which are of the same kind.

    Returns:
        for rows: ``message``, ``conversation``, ``at``, ``user``, ``a`` and ``b``, the codes,
        sorted when there are several messages of the same key (for held pushes ``code`` and
        ``pushAt``); for counts and bitmaps: ``id``,
        ``conversation``, ``at``, ``a`` and ``b``, what was counted or the bitmaps. A side is empty
        where it has no such row. No rows: both are equal.
    """
    F = spark_module()
    values = {"user": "code", "counts": "counts", "bitmap": "bitmap"}
    kinds = [next((name for name in values if name in frame.columns), None) for frame in (a, b)]
    is_held = ["pushAt" in frame.columns for frame in (a, b)]
    if kinds[0] is None or kinds[0] != kinds[1] or is_held[0] != is_held[1]:
        raise ValueError("only outputs of decide() of the same kind can be compared")
    value = F.struct("code", "pushAt") if is_held[0] else F.col(values[kinds[0]])
    keys = ["id", "conversation", "at"]
    if kinds[0] == "user":
        keys = ["message", "conversation", "at", "user"]
    if kinds[0] == "counts":
        # Maps have no order; sorted entries have one.
        value = F.array_sort(F.map_entries("counts"))
    sides = []
    for name, frame in (("a", a), ("b", b)):
        grouped = frame.groupBy(*keys).agg(F.sort_array(F.collect_list(value)).alias(name))
        sides.append(grouped)
    names = [f"_{key}" for key in keys]
    right = sides[1].toDF(*names, "b")
    equal = F.lit(True)
    for key, other in zip(keys, names):
        equal = equal & sides[0][key].eqNullSafe(right[other])
    joined = sides[0].join(right, equal, "full")
    differ = joined.where(~F.col("a").eqNullSafe(F.col("b")))
    columns = [F.coalesce(key, other).alias(key) for key, other in zip(keys, names)]
    result: DataFrame = differ.select(*columns, "a", "b")
    return result


def outcomes(spark: SparkSession) -> DataFrame:
    """The words of codes: ``code``, ``action``, ``reason`` and ``scope``, to be joined with rows or
    counts (docs/outcome-codes.csv)."""
    pa = pyarrow_module()
    rows = [(code, *outcome) for code, outcome in sorted(OUTCOMES.items())]
    types = (pa.int16(), pa.string(), pa.string(), pa.string())
    columns = [pa.array(list(column), type) for column, type in zip(zip(*rows), types)]
    return spark.createDataFrame(pa.table(columns, ["code", "action", "reason", "scope"]))
