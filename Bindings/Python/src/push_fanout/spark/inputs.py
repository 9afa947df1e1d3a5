"""DataFrames of users, members, conversations and messages, with keys to place them by."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Union

from ..arrow import pyarrow_module
from ..engine import Fanout, UnknownZones
from ..errors import Error
from ..sources import given_settings

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Settings = Union[bytes, str, "os.PathLike[str]", Iterable[dict[str, Any]], None]
"""Settings that the driver reads: bytes of NDJSON, the path of a file, or records."""

KEYS = {
    "users": ("id",),
    "members": ("conversation", "user"),
    "conversations": ("id", "parent"),
    "messages": ("id", "conversation", "at"),
}
"""The fields of a record that place it."""
REQUIRED = {
    "users": ("id",),
    "members": ("conversation", "user"),
    "conversations": ("id",),
    "messages": ("id", "conversation", "at"),
}
PLACE = ("_file", "_row")
LINE = "value"
RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
"""The only column of a DataFrame of NDJSON, as `spark.read.text` gives it."""


def spark_module() -> Any:
    """pyspark.sql.functions, or what to install."""
    try:
        from pyspark.sql import functions
    except ImportError:
        raise ImportError("Spark needs pyspark: pip install 'push-fanout[spark]'") from None
    return functions


def has_lines(df: DataFrame) -> bool:
    """Whether a DataFrame has lines of NDJSON."""
    return [name for name in df.columns if name not in PLACE] == [LINE]


def keyed(df: DataFrame, kind: str) -> DataFrame:
    """A DataFrame with the columns ``_line``, the record as JSON, or ``_fields``, its columns as a
    struct, and the keys ``_id``, ``_conversation``, ...; `kind` is a name of `KEYS`."""
    if has_lines(df):
        places = [name for name in PLACE if name in df.columns]
        columns = [f"_{name} {_key_type(name)}" for name in KEYS[kind]] + ["_line string"]
        columns += [f"{name} {'string' if name == '_file' else 'bigint'}" for name in places]
        given = df.select(LINE, *places)
        return given.mapInArrow(functools.partial(_parse_lines, kind), ", ".join(columns))
    return df.select(*columns_of(df, kind))


def columns_of(df: DataFrame, kind: str) -> list[Column]:
    """The keys of a DataFrame that has a column for each field, and as ``_fields`` what else it
    has; all of it when the keys are all, because a struct cannot be empty."""
    F = spark_module()
    missing = [name for name in REQUIRED[kind] if name not in df.columns]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise Error(f"{kind}: there is no column {names}", "PF_INVALID")
    types = dict(df.dtypes)
    fields: dict[str, Any] = {
        name: (F.col(f"`{name}`").cast("string") if _is_id(name, types[name])
               else F.col(f"`{name}`")).alias(name)
        for name in df.columns
        if types[name] != "void" and name not in PLACE
    }  # fmt: skip
    keys = [_key(name, types.get(name)).alias(f"_{name}") for name in KEYS[kind]]
    if kind == "conversations":
        record = F.struct(F.lit("conversation").alias("kind"), *fields.values())
        return [*keys, F.to_json(record).alias("_line")]
    # Rows are shuffled and copied with these columns: nothing is in them twice.
    rest = [field for name, field in fields.items() if not _is_key(name, types[name], kind)]
    return [*keys, F.struct(*(rest or fields.values())).alias("_fields")]


def _is_key(name: str, type: str, kind: str) -> bool:
    """Whether a key is all that a field says."""
    return name in KEYS[kind] and (name != "at" or type in ("tinyint", "smallint", "int", "bigint"))


def _is_id(name: str, type: str) -> bool:
    names = ("id", "conversation", "user", "parent", "sender", "replyToUser")
    return name in names and type in ("tinyint", "smallint", "int", "bigint")


def _key_type(name: str) -> str:
    return "bigint" if name == "at" else "string"


def _key(name: str, type: str | None) -> Column:
    F = spark_module()
    key: Column
    if type is None:
        key = F.lit(None).cast(_key_type(name))
    elif name != "at":
        key = F.col(f"`{name}`").cast("string")
    elif type == "timestamp":
        key = F.unix_millis(F.col("at"))
    elif type == "string":
        key = F.unix_millis(F.try_to_timestamp(F.col("at")))
    else:
        key = F.col("at").cast("bigint")
    return key


def _parse_lines(kind: str, batches: Iterator[Any]) -> Iterator[Any]:
    pa = pyarrow_module()
    names = KEYS[kind]
    types = [pa.int64() if name == "at" else pa.string() for name in names]
    for batch in batches:
        batch = batch.filter(pa.compute.match_substring_regex(batch[LINE], r"\S"))
        columns: list[list[Any]] = [[] for _ in names]
        lines = []
        for line in batch[LINE].to_pylist():
            record = _record(line)
            for name, column in zip(names, columns):
                value = record.get(name)
                column.append(instant(value) if name == "at" else _text(value))
            line = line.strip()
            if kind != "messages" and record and "kind" not in record:
                line = kind_prefix(kind) + line[1:]
            lines.append(line)
        arrays = [pa.array(column, type) for column, type in zip(columns, types)]
        places = batch.schema.names[1:]
        yield pa.RecordBatch.from_arrays(
            [*arrays, pa.array(lines, pa.string()), *(batch[name] for name in places)],
            [*(f"_{name}" for name in names), "_line", *places],
        )


def kind_prefix(kind: str) -> str:
    """How a line begins that says its kind."""
    return f'{{"kind":"{kind[:-1]}",'


def _record(line: str) -> dict[str, Any]:
    """The record of a line; an empty one for what the engine will refuse."""
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def instant(value: Any) -> int | None:
    """An instant as milliseconds, if it is one.

    >>> instant("2024-06-03T00:00:00.1239+08:00"), instant(5), instant("5")
    (1717344000123, 5, None)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value < 2**53 else None
    if not isinstance(value, str):
        return None
    found = RFC_3339.fullmatch(value)
    if found is None:
        return None
    seconds, fraction, zone = found.groups()
    try:
        at = datetime.fromisoformat(
            seconds.upper().replace(" ", "T") + ("+00:00" if zone in "Zz" else zone)
        )
    except ValueError:
        return None
    return int(at.timestamp()) * 1000 + int(f"{fraction or ''}000"[:3])


def located(df: DataFrame) -> DataFrame | None:
    """A DataFrame with the columns ``_file`` and ``_row``, where each row is in which file, as far
    as Spark knows; None if it does not."""
    from pyspark.errors import AnalysisException
    from pyspark.logger import PySparkLogger

    F = spark_module()
    if "_file" in df.columns:
        return df
    if not df.inputFiles():
        return None
    # pyspark logs what it then raises, by a logger of a class of its own: `logging.getLogger`
    # would make one that it cannot use.
    logger = PySparkLogger.getLogger("DataFrameQueryContextLogger")
    was_disabled, logger.disabled = logger.disabled, True
    try:
        names = df.select("_metadata.*").columns
    except AnalysisException:
        return None
    finally:
        logger.disabled = was_disabled
    row = F.col("_metadata.row_index") + 1 if "row_index" in names else F.lit(None).cast("bigint")
    return df.select("*", F.col("_metadata.file_path").alias("_file"), row.alias("_row"))


class SettingsParts:
    """Settings that the driver has read, by kind: the app's line, and DataFrames of lines."""

    def __init__(self, settings: Settings, unknown_zones: UnknownZones) -> None:
        name, data = ("", b"") if settings is None else given_settings(settings)
        self.app = ""
        # The latest of each key, as in a file.
        found: dict[str, dict[tuple[str, ...], str]] = {kind: {} for kind in KEYS}
        for number, line in enumerate(data.decode("utf-8", "surrogatepass").split("\n"), 1):
            if not line.strip():
                continue
            record = _record(line)
            kind = record.get("kind")
            if kind in ("user", "member", "conversation"):
                kind += "s"
                key = tuple(str(record.get(name)) for name in REQUIRED[kind])
                found[kind][key] = line
                continue
            try:
                lines = f"{self.app}{line}\n".encode("utf-8", "surrogatepass")
                Fanout.from_ndjson(lines, threads=1, unknown_zones=unknown_zones).close()
            except Error as error:
                text = str(error).split(": ", 1)[-1]
                raise Error(f"{name}:{number}: {text}", error.status) from None
            self.app += f"{line}\n"
        if not self.app:
            self.app = '{"kind":"app"}\n'
        self._lines = {kind: list(lines.values()) for kind, lines in found.items()}

    def add_to(self, spark: SparkSession, df: DataFrame | None, kind: str) -> DataFrame | None:
        """A keyed DataFrame, and what the settings have of its kind."""
        keys = keyed(df, kind) if df is not None else None
        if not self._lines[kind]:
            return keys
        lines = keyed(line_frame(spark, self._lines[kind]), kind)
        return lines if keys is None else keys.unionByName(lines, allowMissingColumns=True)


def line_frame(spark: SparkSession, lines: list[str]) -> DataFrame:
    """Lines as a DataFrame."""
    pa = pyarrow_module()
    return spark.createDataFrame(pa.table({LINE: pa.array(lines, pa.string())}))
