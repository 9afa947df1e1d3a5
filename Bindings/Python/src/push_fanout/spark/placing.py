"""Which shard a row belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .inputs import spark_module
from .manifest import Giant

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def with_home(df: DataFrame, conversation: str, threads: DataFrame | None) -> DataFrame:
    """Adds ``_home``: the conversation that has the members; a thread is placed with its parent.

    Args:
        df: rows with a conversation.
        conversation: the name of that column.
        threads: ``_thread`` and ``_parent``; None when there are no threads.
    """
    F = spark_module()
    if threads is None:
        return df.withColumn("_home", F.col(conversation))
    joined = df.join(threads, df[conversation] == threads["_thread"], "left")
    home = F.coalesce(F.col("_parent"), F.col(conversation))
    return joined.withColumn("_home", home).drop("_thread", "_parent")


def giants_frame(spark: SparkSession, giants: dict[str, Giant]) -> DataFrame:
    """The giants as a DataFrame that every executor gets."""
    from ..arrow import pyarrow_module

    F = spark_module()
    pa = pyarrow_module()
    table = pa.table(
        {
            "_giant": pa.array(giants, pa.string()),
            "_first": pa.array([giant.first for giant in giants.values()], pa.int32()),
            "_parts": pa.array([giant.parts for giant in giants.values()], pa.int32()),
        }
    )
    frame: DataFrame = F.broadcast(spark.createDataFrame(table))
    return frame


def shard_of_home(count: int) -> Column:
    """The shard of a conversation that is not split. A row without one is in the first shard, which
    says what is wrong with it."""
    F = spark_module()
    column: Column = F.coalesce(F.pmod(F.xxhash64("_home"), F.lit(count)).cast("int"), F.lit(0))
    return column


def with_giants(df: DataFrame, giants: dict[str, Giant]) -> DataFrame:
    """Adds ``_first`` and ``_parts``, null for a conversation that is not split."""
    F = spark_module()
    if not giants:
        null = F.lit(None).cast("int")
        return df.withColumn("_first", null).withColumn("_parts", null)
    frame = giants_frame(df.sparkSession, giants)
    return df.join(frame, df["_home"] == frame["_giant"], "left").drop("_giant")


def member_shard(count: int) -> Column:
    """The shard of a membership: that of its conversation, or of its user's part of it."""
    F = spark_module()
    part = F.pmod(F.xxhash64("_user"), F.col("_parts").cast("bigint")).cast("int")
    column: Column = F.when(
        F.col("_parts").isNotNull(), F.pmod(F.col("_first") + part, F.lit(count)).cast("int")
    ).otherwise(shard_of_home(count))
    return column


def conversation_shards(count: int) -> Column:
    """The shards of a conversation's own record: all that have a part of it."""
    F = spark_module()
    parts = F.transform(
        F.sequence(F.lit(0), F.col("_parts") - 1),
        lambda part: F.pmod(F.col("_first") + part, F.lit(count)).cast("int"),
    )
    column: Column = F.when(F.col("_parts").isNotNull(), parts).otherwise(
        F.array(shard_of_home(count))
    )
    return column


def plan_giants(rows: list[Any], shards: int, limit: int) -> dict[str, Giant]:
    """Giants for conversations with their numbers of members, in parts of at most `limit` members,
    as far as there are shards. They begin one behind the other, so that parts are spread evenly."""
    giants: dict[str, Giant] = {}
    first = 0
    if shards < 2:
        return giants
    for id, members in sorted(rows):
        parts = max(2, min(shards, -(-members // limit)))
        giants[id] = Giant(first, parts, members)
        first = (first + parts) % shards
    return giants
