"""New shards from old ones and a table of changes."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from ..arrow import pyarrow_module
from ..engine import UnknownZones
from ..errors import Error
from ..records import checked_integer
from .building import CONVERSATION, KNOWN, MEMBER, REMOVED, USER, BuildSpec
from .frames import Table, frame_of
from .inputs import spark_module
from .manifest import Shards, numbers
from .placing import conversation_shards, member_shard, with_giants, with_home
from .preparing import Job, rows_of_kind
from .problems import check_choices
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KINDS = {"conversation": CONVERSATION, "user": USER, "member": MEMBER, "removeMember": REMOVED}
PARSED = (
    "_kind int, _sequence bigint, _id string, _conversation string, _user string, _parent string, "
    "_line string"
)


def update(
    shards: Shards,
    changes: Table,
    *,
    at: int,
    on_error: Literal["fail", "quarantine"] = "fail",
    unknown_zones: UnknownZones = "refuse",
) -> Shards:
    """Makes shards of changed settings; only shards that a change concerns are made again.

    Args:
        shards: the last ones of their folder.
        changes: the columns ``sequence``, a number: of several changes of a key the one with the
            highest counts; ``kind``: ``"user"``, ``"member"``, ``"conversation"`` or
            ``"removeMember"``; and ``record``: the new record as JSON (docs/formats.md), which
            replaces the old one; for ``"removeMember"`` an object with `conversation` and `user`.
        at: the instant from which on the changed settings hold.
        on_error: as for `prepare`.
        unknown_zones: as for `prepare`, but for the changes alone; zones that the shards have stay.

    Raises:
        Error: what is wrong with which change. Conversations cannot be moved to another parent,
            and the app's settings cannot be changed: `prepare` makes all shards again.
    """
    F = spark_module()
    check_choices(on_error, unknown_zones)
    changes = frame_of(changes, "changes")
    missing = {"sequence", "kind", "record"} - set(changes.columns)
    if missing:
        raise Error(f"changes: there is no column {sorted(missing)[0]!r}", "PF_INVALID")
    storage = Storage(shards.path)
    if numbers(storage)[-1:] != [shards.number]:
        raise Error(f"{shards.path}: {shards.number} are not the last shards", "PF_INVALID")
    if checked_integer(at, "at") < shards.at:
        raise ValueError(f"the shards hold from {shards.at} on; changes cannot be of before")
    spark = changes.sparkSession
    job = Job(spark, shards.path, "update", {}, on_error, unknown_zones)
    with job.step("read changes"):
        parsed = changes.select("sequence", "kind", "record").mapInArrow(_parse, PARSED)
        latest = parsed.groupBy(
            F.when(F.col("_kind") == REMOVED, MEMBER).otherwise(F.col("_kind")).alias("_of"),
            "_id", "_conversation", "_user",
        ).agg(
            F.max_by(F.struct("_kind", "_parent", "_line"), "_sequence").alias("_last")
        )  # fmt: skip
        place = storage.place(f"{job.folder}/changes")
        latest.select("_id", "_conversation", "_user", "_last.*").write.parquet(place)
        stored = spark.read.parquet(place)
        unknown = stored.where("_kind < 0").first()
    if unknown is not None:
        storage.remove(job.folder)
        raise Error(f"changes: {unknown['_line']}", "PF_INVALID")
    rows = _rows(shards, job, stored)
    spec = BuildSpec(
        shards.path, job.folder, job.number, shards.settings, shards.identity,
        on_error == "fail", shards.folders, frozenset(shards.giants),
    )  # fmt: skip
    built = job.build(spec, rows, len(shards.folders))
    folders = tuple(built.get(number, old) for number, old in enumerate(shards.folders))
    threads = shards.threads
    if storage.exists(job.threads_folder):
        threads += (job.threads_folder,)
    made = dataclasses.replace(
        shards, number=job.number, at=at, folders=folders, threads=threads,
        members=tuple(job.members.get(shard, old) for shard, old in enumerate(shards.members)),
        users=(*shards.users, job.users_folder), summary=job.summary,
    )  # fmt: skip
    return job.publish(made)


def _rows(shards: Shards, job: Job, changes: DataFrame) -> DataFrame:
    """The changes of all shards."""
    F = spark_module()
    spark = job.spark
    count = len(shards.folders)
    users = changes.where(F.col("_kind") == USER).select("_id", "_line")
    users = job.checked_users(users, shards.settings)
    rooms = changes.where(F.col("_kind") == CONVERSATION).select("_id", "_parent", "_line")
    threads = _all_threads(shards, job, rooms)
    columns = ["_kind", "_conversation", "_user", "_line"]
    members = changes.where(F.col("_kind").isin(MEMBER, REMOVED)).select(*columns)
    placed = with_giants(with_home(members, "_conversation", threads), shards.giants)
    placed = placed.withColumn("_shard", member_shard(count))
    added = placed.where(F.col("_kind") == MEMBER).select("_user", "_shard").distinct()
    known = added.join(_known_users(shards, job), F.col("_user") == F.col("_id"), "left")
    # Where each user is.
    place = Storage(shards.path).place
    ids = spark.read.schema("id string").parquet(
        *(place(f"{folder}/users.parquet") for folder in shards.folders)
    )
    shard = F.regexp_extract(F.col("_metadata.file_path"), r"shard-(\d+)/", 1).cast("int")
    homes = ids.select("id", shard.alias("_shard"))
    changed = users.join(homes, users["_id"] == homes["id"]).withColumn("_user", F.col("_id"))
    rooms = rooms.withColumn("_conversation", F.col("_id"))
    rooms = with_giants(with_home(rooms.drop("_parent"), "_id", threads), shards.giants)
    parts = [
        rows_of_kind(rooms.withColumn("_shard", F.explode(conversation_shards(count))),
                     CONVERSATION, ""),
        rows_of_kind(changed, USER, "_u"),
        rows_of_kind(known, KNOWN, "_u"),
        rows_of_kind(placed.where(F.col("_kind") == MEMBER), MEMBER, "_m"),
        rows_of_kind(placed.where(F.col("_kind") == REMOVED), REMOVED, "_m"),
    ]  # fmt: skip
    return functools.reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), parts)


def _known_users(shards: Shards, job: Job) -> DataFrame:
    """The latest settings of all users."""
    F = spark_module()
    place = Storage(shards.path).place
    frames = []
    for number, folder in enumerate((*shards.users, job.users_folder)):
        frame = job.spark.read.parquet(place(folder)).where(F.col("_problem").isNull())
        frames.append(frame.drop("_problem").withColumn("_n", F.lit(number)))
    users = functools.reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), frames)
    values = [name for name in users.columns if name not in ("_id", "_n")]
    latest = users.groupBy("_id").agg(F.max_by(F.struct(*values), "_n").alias("_last"))
    result: DataFrame = latest.select("_id", "_last.*")
    return result


def _all_threads(shards: Shards, job: Job, rooms: DataFrame) -> DataFrame | None:
    """The threads that were there, and those of changed conversations."""
    place = Storage(shards.path).place
    new = job.threads(rooms)
    old = None
    if shards.threads:
        old = job.spark.read.parquet(*map(place, shards.threads))
        both = rooms.join(old, rooms["_id"] == old["_thread"])
        moved = both.where(~rooms["_parent"].eqNullSafe(old["_parent"])).select("_id").first()
        if moved is not None:
            _refuse(job, f'the parent of "{moved[0]}" cannot be changed; prepare all shards again')
    if new is None:
        return old
    members = job.spark.read.schema("conversation string").parquet(
        *(place(f"{folder}/members.parquet") for folder in shards.folders)
    )
    fresh = new if old is None else new.join(old, "_thread", "left_anti")
    early = members.join(fresh, members["conversation"] == fresh["_thread"]).first()
    if early is not None:
        name = early["conversation"]
        _refuse(job, f'"{name}" has members and cannot become a thread; prepare all shards again')
    return new if old is None else old.unionByName(new).distinct()


def _refuse(job: Job, text: str) -> None:
    job.storage.remove(job.folder)
    raise Error(f"changes: {text}", "PF_REFUSED")


def _parse(batches: Iterator[Any]) -> Iterator[Any]:
    pa = pyarrow_module()
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for sequence, kind, text in zip(*(column.to_pylist() for column in batch.columns)):
            try:
                record = json.loads(text)
            except (TypeError, ValueError):
                record = None
            if kind not in KINDS or not isinstance(record, dict) or sequence is None:
                what = f'sequence {sequence}: "kind" cannot be {kind!r}'
                if kind in KINDS:
                    what = f"sequence {sequence}: the record is not an object of JSON: {text}"
                rows.append((-1, sequence, None, what, None, None, what))
                continue
            is_member = kind in ("member", "removeMember")
            keys_of = ("conversation", "user") if is_member else ("id",)
            keys = [record.get(name) for name in keys_of]
            if not all(isinstance(key, str) and key for key in keys):
                what = f"sequence {sequence}: the record has no {' and '.join(keys_of)}: {text}"
                rows.append((-1, sequence, None, what, None, None, what))
                continue
            line = json.dumps({**record, "kind": kind}, ensure_ascii=False)
            rows.append(
                (
                    KINDS[kind], sequence, None if is_member else keys[0],
                    keys[0] if is_member else None, keys[1] if is_member else None,
                    record.get("parent") if kind == "conversation" else None, line,
                )
            )  # fmt: skip
        types = [pa.int32(), pa.int64()] + [pa.string()] * 5
        columns = zip(*rows) if rows else [[] for _ in types]
        names = ("_kind", "_sequence", "_id", "_conversation", "_user", "_parent", "_line")
        yield pa.RecordBatch.from_arrays(
            [pa.array(list(column), type) for column, type in zip(columns, types)], list(names)
        )
