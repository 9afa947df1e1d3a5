"""Deciding the messages of a DataFrame."""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
import statistics
import zlib
from typing import TYPE_CHECKING, Any, Literal

from ..engine import UnknownZones
from ..errors import Error
from ..records import checked_integer
from .engines import Target
from .frames import Table, checked_types, frame_of
from .inputs import columns_of, has_lines, keyed, located, spark_module
from .manifest import Shards
from .merging import merged
from .placing import conversation_shards, with_giants, with_home
from .problems import check_choices, worker_errors
from .progress import Clock, Metrics, at_once
from .storage import Storage
from .working import SUMMARIES, DecideSpec, summaries
from .writing import empty_file, files, merged_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SLICED_MEMBERS = 16_384
"""Messages of a shard with up to so many memberships are decided by one task, however few others
have."""
SLICES_LIMIT = 64
"""How many tasks decide the messages of a shard, at most."""
NUMBERED_FILES = 1024
"""Of more files, each row has the name."""
KEY = "id string, conversation string, at bigint, settings int, recipients bigint, pushes bigint"
ROW = "message string, conversation string, at bigint, user string, code smallint"
SCHEMAS = {
    "counts": f"{KEY}, counts map<smallint,bigint>",
    "bitmap": f"{KEY}, members bigint, bitmap binary",
    "rows": ROW,
    "held": f"{ROW}, pushAt bigint",
}
"""The columns of each output."""
PART = ", _part int, _digest bigint, _home string, _copy int"


def decide(
    messages: Table,
    shards: Shards,
    output: Literal["counts", "bitmap", "rows", "held"] = "counts",
    *,
    path: str | os.PathLike[str] | None = None,
    before: Literal["refuse", "older"] = "refuse",
    on_error: Literal["fail", "quarantine"] = "fail",
    quarantine: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    slices: int | None = None,
    metrics: Metrics | None = None,
    unknown_zones: UnknownZones = "refuse",
    time_zone: str | None = None,
) -> DataFrame:
    """Decides messages for all members of their conversations.

    Args:
        messages: a column for each field of messages.ndjson (docs/formats.md), or only the column
            ``value`` with lines of NDJSON: a DataFrame of Spark, a path or several, or a frame of
            pandas, polars or pyarrow.
        shards: the settings.
        output: ``"counts"``: a row for each message with `counts`, a map from codes to recipients;
            ``"bitmap"``: a row for each message with a bit for each member by rank, 1 for a push,
            the lowest bit first (`members` gives the ids by rank); ``"rows"``: a row for each
            recipient; ``"held"``: a row for each recipient whose push is suppressed and would be
            one later if nothing but time changed, with ``pushAt``, the first such instant in
            milliseconds (docs/replay.md, "Held messages").
        path: a folder for Parquet files, which the workers write; needed for rows and held pushes.
            Without, the others are decided when the DataFrame is used.
        before: what happens to messages from before the settings: they are refused, as bad rows,
            or decided by older settings that are still there.
        on_error: ``"fail"``: a bad message ends the job with an error that names its file, row and
            key; ``"quarantine"``: bad messages are left out and listed in files of `quarantine`.
        quarantine: a folder that does not exist yet.
        overwrite: whether complete output that is in `path` is replaced.
        slices: how many tasks decide the messages of a shard, which are shared by their ids; None
            for as many as its memberships are times those of the usual shard.
        metrics: accumulators that the workers add to.
        unknown_zones: what is done with users whose time zone a worker does not have: "refuse"
            them alone, who then are no recipients, with a warning in the worker's log and the
            counter ``refused_users``; or "ignore" the zone, and decide as if they had no quiet
            hours.
        time_zone: what timestamps without a time zone are in, such as "UTC"; None to refuse them.

    Returns:
        the DataFrame of the output.

    Raises:
        Error: what is wrong with which message, unless the DataFrame is decided later.
    """
    check_choices(on_error, unknown_zones)
    if output not in SCHEMAS:
        raise ValueError(f"output must be one of {', '.join(SCHEMAS)}, not {output!r}")
    if before not in ("refuse", "older"):
        raise ValueError(f'before must be "refuse" or "older", not {before!r}')
    if (on_error == "quarantine") != (quarantine is not None):
        raise ValueError('on_error="quarantine" and quarantine=... belong together')
    if slices is not None and checked_integer(slices, "slices") < 1:
        raise ValueError("slices must be at least 1")
    if output not in SUMMARIES and path is None:
        raise ValueError(f'output="{output}" needs path=..., a folder for Parquet files')
    if quarantine is not None and Storage(quarantine).names(""):
        raise Error(f"{os.fspath(quarantine)}: exists; name a new folder", "PF_IO")
    versions = shards.older() if before == "older" else [shards]
    counts = [_slices(version, slices) for version in versions]
    keys, names = _keyed_messages(frame_of(messages, "messages"), time_zone)
    spec = _spec(
        versions, output, on_error, path, quarantine, counts, names, metrics, unknown_zones
    )
    placed = [keys, versions, counts]
    if path is None:
        return _decided(placed, spec)
    return _write(placed, spec, overwrite)


def _slices(shards: Shards, wanted: int | None) -> list[int]:
    """How many tasks decide the messages of each shard."""
    if wanted is not None:
        return [wanted] * len(shards.folders)
    usual = max(statistics.median(shards.members), SLICED_MEMBERS)
    return [max(1, min(SLICES_LIMIT, round(count / usual))) for count in shards.members]


def _spec(
    versions: list[Shards], output: str, on_error: str, path: Any, quarantine: Any,
    slices: list[list[int]], names: dict[int, str], metrics: Metrics | None,
    unknown_zones: UnknownZones,
) -> DecideSpec:  # fmt: skip
    last = versions[-1]
    targets = [
        Target(version.number, version.at, folder)
        for version, counts in zip(versions, slices, strict=True)
        for folder, count in zip(version.folders, counts, strict=True)
        for _ in range(count)
    ]
    return DecideSpec(
        path=last.path, identity={version.number: version.identity for version in versions},
        targets=tuple(targets), live=last.live_folders(), output=output,
        is_strict=on_error == "fail", place="" if path is None else Storage(path).path,
        quarantine="" if quarantine is None else Storage(quarantine).path,
        unknown_zones=unknown_zones, files=names,
        counters={} if metrics is None else metrics.counters,
    )  # fmt: skip


def _keyed_messages(messages: DataFrame, time_zone: str | None) -> tuple[DataFrame, dict[int, str]]:
    """Messages with keys and the places that they are from, and the names of files of which rows
    have numbers."""
    found = located(messages)
    files = [] if found is None or "_file" in messages.columns else messages.inputFiles()
    # What is known of places is lost when columns are converted.
    messages = checked_types(messages, "messages", time_zone)
    found = None if found is None else checked_types(found, "messages", time_zone)
    names: dict[int, str] = {}
    if has_lines(messages):
        keys = keyed(messages if found is None else found, "messages")
    elif found is None:
        keys = messages.select(*columns_of(messages, "messages"))
    else:
        # The columns of fields are those of the messages alone.
        fields = columns_of(messages.drop("_file", "_row"), "messages")
        if "_file" not in messages.columns:
            found, names = _numbered_files(found, files)
        keys = found.select(*fields, "_file", "_row")
    return keys, names


def _numbered_files(found: DataFrame, names: list[str]) -> tuple[DataFrame, dict[int, str]]:
    """Replaces the names of files, which each row would be shuffled and copied with, by numbers:
    checksums of as much of their ends as the shortest has behind its scheme, since Spark writes
    ``file:/`` in rows and ``file:///`` elsewhere."""
    F = spark_module()
    length = min((len(re.sub(r"^\w+:/*", "", name)) for name in names), default=0)
    numbers = {zlib.crc32(name[-length:].encode()): name for name in names}
    if not len(numbers) == len(names) <= NUMBERED_FILES or length == 0:
        return found, {}
    end = F.substring("_file", -length, length).cast("binary")
    return found.withColumn("_file", F.crc32(end)), numbers


def _with_digest(messages: DataFrame) -> DataFrame:
    """Adds ``_digest``, of what a message says: it tells the parts of equal ids apart."""
    F = spark_module()
    content = [name for name in ("_line", "_fields") if name in messages.columns]
    text = [F.to_json(name) if name == "_fields" else F.col(name) for name in content]
    return messages.withColumn("_digest", F.xxhash64(*text))


def _placed(placed: list[Any], is_split: bool) -> DataFrame | None:
    """Messages with the number of their partition; those to conversations that are split, once for
    each part, or the others. None when there cannot be any."""
    F = spark_module()
    messages, versions, slices = placed
    frames = []
    total = 0
    for index, version in enumerate(versions):
        count = len(version.folders)
        starts = list(itertools.accumulate(slices[index], initial=total))
        total = starts.pop()
        if version.giants or not is_split:
            chosen = _of_version(messages, versions, index)
            threads = _threads(messages, version)
            rows = with_giants(with_home(chosen, "_conversation", threads), version.giants)
            rows = rows.where(F.col("_parts").isNotNull() == F.lit(is_split))
            if is_split:
                parts = F.posexplode(conversation_shards(count)).alias("_part", "_shard")
                rows = _with_digest(rows).select("*", parts)
            else:
                rows = rows.withColumn("_shard", conversation_shards(count)[0])
            shard = F.col("_shard") + 1
            number = F.pmod(F.xxhash64("_id"), F.element_at(F.lit(slices[index]), shard))
            partition = F.element_at(F.lit(starts), shard) + number
            frames.append(
                rows.withColumn("_partition", partition.cast("int")).drop(
                    "_first", "_parts", "_shard", *([] if is_split else ["_home"])
                )
            )
    if not frames:
        return None
    union: DataFrame = functools.reduce(lambda a, b: a.unionByName(b), frames)
    keys = ["_at", "_conversation", *(["_id", "_digest", "_part"] if is_split else [])]
    spread = union.repartitionById(total, "_partition")
    result: DataFrame = spread.sortWithinPartitions(*keys).drop("_partition")
    return result


def _of_version(messages: DataFrame, versions: list[Shards], index: int) -> DataFrame:
    """The messages that settings decide: those from their instant on, until the next ones'."""
    F = spark_module()
    at = F.coalesce(F.col("_at"), F.lit(versions[-1].at))
    if index > 0:
        messages = messages.where(at >= versions[index].at)
    if index + 1 < len(versions):
        messages = messages.where(at < versions[index + 1].at)
    return messages


def _threads(messages: DataFrame, version: Shards) -> DataFrame | None:
    if not version.threads:
        return None
    storage = Storage(version.path)
    return messages.sparkSession.read.parquet(*map(storage.place, version.threads))


def _decided(placed: list[Any], spec: DecideSpec) -> DataFrame:
    """The rows of all messages, decided when they are read."""
    schema = SCHEMAS[spec.output]
    whole = _placed(placed, False)
    assert whole is not None
    decided = whole.mapInArrow(functools.partial(summaries, spec), schema)
    split = _placed(placed, True)
    if split is None:
        return decided
    return decided.unionByName(_merged(split, placed[1], spec))


def _merged(split: DataFrame, versions: list[Shards], spec: DecideSpec) -> DataFrame:
    """The summaries of messages to conversations that are split."""
    parts = split.mapInArrow(functools.partial(summaries, spec), SCHEMAS[spec.output] + PART)
    return merged(parts, versions, spec.output)


def _write(placed: list[Any], spec: DecideSpec, overwrite: bool) -> DataFrame:
    """Has the workers write files, and gives them their names when all are there."""
    spark = placed[0].sparkSession
    storage = Storage(spec.place)
    if storage.exists("_SUCCESS") and not overwrite:
        raise Error(
            f"{spec.place}: has complete output; give overwrite=True to replace it", "PF_IO"
        )
    storage.remove("_attempts")
    clock = Clock()
    jobs = []
    kinds = []
    for is_split in (False, True):
        frame = _placed(placed, is_split)
        if frame is None:
            continue
        name = f"{spec.output} of {'conversations that are split' if is_split else 'messages'}"
        work = files
        if is_split and spec.output in SUMMARIES:
            with worker_errors():
                frame = _merged(frame, placed[1], spec)
            work = merged_files
        written = frame.mapInArrow(functools.partial(work, spec), "report string")
        jobs.append(functools.partial(_collected, clock, name, written))
        kinds.append(is_split)
    reports = [
        (is_split, json.loads(row[0]))
        for is_split, rows in zip(kinds, at_once(spark, jobs))
        for row in rows
    ]
    for name in storage.names(""):
        if name != "_attempts":
            storage.remove(name)
    summary = {"messages": 0, "rows": 0, "bytes": 0}
    for is_split, report in reports:
        kind = "split" if is_split else "whole"
        if report["rows"]:
            storage.move(report["file"], f"{kind}-{report['partition']:05}.parquet")
        summary["rows"] += report["rows"]
        summary["bytes"] += report["bytes"]
        summary["messages"] += report["messages"]
    storage.remove("_attempts")
    if not summary["rows"]:
        # Readers find the columns.
        storage.write("none.parquet", empty_file(spec.output))
    details = {"seconds": clock.steps, "tasks": [report for _, report in reports]}
    storage.write("_summary.json", json.dumps({**summary, **details}).encode())
    storage.write("_SUCCESS", b"")
    result: DataFrame = spark.read.parquet(storage.path)
    return result


def _collected(clock: Clock, name: str, frame: DataFrame) -> list[Any]:
    """The rows of a DataFrame, as a step of a clock."""
    with clock.step(frame.sparkSession, "decide", name):
        return frame.collect()
