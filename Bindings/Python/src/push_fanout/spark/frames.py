"""What is given as a table: DataFrames of Spark, frames of other libraries, and paths."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

from ..arrow import Parts, first_line, pyarrow_module, table_of
from ..errors import Error
from ..records import zone_named
from .inputs import located, spark_module
from .readers import read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Table = Union["DataFrame", str, "os.PathLike[str]", "list[str]", Any]
"""A DataFrame of Spark, the path of a file or folder, several of them, or a frame of pandas, polars
or pyarrow."""
KINDS_OF_TYPES = {
    "binary": "cast it to string", "date": "cast it to timestamp", "interval": "give integers",
    "map": "give a struct", "void": "",
}  # fmt: skip


def frame_of(source: Table, kind: str, spark: SparkSession | None = None) -> DataFrame:
    """A DataFrame of what was given.

    Args:
        source: see `Table`.
        kind: the name of the parameter, which errors call it by.
        spark: the session for what is none; None for the active one.

    Raises:
        TypeError: something else, or a DataFrame of Spark Connect.
    """
    module = type(source).__module__
    if module.startswith("pyspark.sql.connect"):
        raise TypeError(
            f"{kind} is a DataFrame of Spark Connect, which is not supported; a classic session is "
            "needed: SparkSession.builder.master(...)"
        )
    spark_module()
    from pyspark.sql import DataFrame, SparkSession

    if isinstance(source, DataFrame):
        use_driver_python(source.sparkSession)
        return source
    session = spark or SparkSession.getActiveSession()
    if session is None:
        raise TypeError(f"{kind} is no DataFrame of Spark, and there is no session to make one")
    use_driver_python(session)
    if isinstance(source, (str, os.PathLike)):
        return read(session, source, kind)
    is_list = isinstance(source, (list, tuple)) and source
    if is_list and all(isinstance(part, (str, os.PathLike)) for part in source):
        frames = [read(session, part, kind) for part in source]
        union = functools.partial(DataFrame.unionByName, allowMissingColumns=True)
        return functools.reduce(union, [_placed(frame) for frame in frames])
    table = table_of(source, kind)
    if table is None:
        raise TypeError(
            f"{kind} must be a DataFrame of Spark or another library, or a path, not "
            f"{type(source).__name__}"
        )
    pa = pyarrow_module("a table")
    if not isinstance(table, Parts):
        return session.createDataFrame(pa.table(table))
    try:
        parts = pa.concat_tables(
            [pa.table(part) for _, part in table.tables], promote_options="permissive"
        )
    except pa.ArrowException as error:
        raise Error(
            f"{kind}: batches of different types: {first_line(error)}", "PF_INVALID"
        ) from None
    return session.createDataFrame(parts)


def _placed(frame: DataFrame) -> DataFrame:
    """With the places of rows, which are not known of a union."""
    found = located(frame)
    return frame if found is None else found


def use_driver_python(spark: SparkSession) -> None:
    """Has the workers of a Spark on this machine run the Python that runs this: ``python3`` of the
    path, which Spark would run, need not have this package. Not if something else was asked for."""
    context = spark.sparkContext
    is_chosen = "PYSPARK_PYTHON" in os.environ or spark.conf.get("spark.pyspark.python", "")
    if not is_chosen and str(context.master).startswith("local"):
        context.pythonExec = sys.executable


def checked_types(df: DataFrame, kind: str, time_zone: str | None) -> DataFrame:
    """A DataFrame without columns that nothing can be made of, whose timestamps have a zone.

    Args:
        time_zone: that of timestamps without one; None to refuse them.

    Raises:
        Error: the column and its type.
    """
    zone_named(time_zone)
    naive = []
    for name, type in df.dtypes:
        start = type.partition("<")[0].partition("(")[0].partition(" ")[0]
        if type == "timestamp_ntz" and time_zone is not None:
            naive.append(name)
        elif "timestamp_ntz" in type:
            raise Error(
                f'{kind}: the timestamps of "{name}" have no time zone, so that nothing says which '
                'instants they are; give time_zone="UTC", or whichever they are in',
                "PF_INVALID",
            )
        elif start == "decimal" and not type.endswith(",0)"):
            raise _unreadable(kind, name, type, "cast it to bigint")
        elif KINDS_OF_TYPES.get(start):
            raise _unreadable(kind, name, type, KINDS_OF_TYPES[start])
    if not naive or time_zone is None:
        return df
    from pyspark.sql.types import StructField, StructType, TimestampType

    schema = StructType(
        [
            StructField(field.name, TimestampType() if field.name in naive else field.dataType)
            for field in df.schema
        ]
    )
    return df.mapInArrow(functools.partial(_in_zone, naive, time_zone), schema)


def _unreadable(kind: str, name: str, type: str, advice: str) -> Error:
    return Error(
        f'{kind}: "{name}" is of the type {type}, which cannot be read; {advice}', "PF_INVALID"
    )


def _in_zone(names: list[str], time_zone: str, batches: Iterator[Any]) -> Iterator[Any]:
    """Batches whose columns of local times are instants."""
    pa = pyarrow_module()
    for batch in batches:
        arrays = dict(zip(batch.schema.names, batch.columns))
        for name in names:
            try:
                moments = pa.compute.assume_timezone(arrays[name], time_zone)
            except pa.ArrowInvalid as error:
                raise Error(f'"{name}": {error}', "PF_INVALID") from None
            arrays[name] = moments.cast(pa.timestamp("us", "UTC"))
        yield pa.RecordBatch.from_arrays(list(arrays.values()), list(arrays))
