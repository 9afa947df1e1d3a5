"""Making shards: all of them, or those that changes concern."""

from __future__ import annotations

import functools
import json
import os
import secrets
from typing import TYPE_CHECKING, Any

from ..engine import UnknownZones
from ..errors import Error
from ..records import checked_integer
from .building import CONVERSATION, MEMBER, REPORT, USER, BuildSpec, build, check_users
from .frames import Table, checked_types, frame_of
from .inputs import (
    Settings,
    SettingsParts,
    has_lines,
    kind_prefix,
    located,
    spark_module,
)
from .manifest import Shards, next_number, numbers
from .placing import (
    conversation_shards,
    member_shard,
    plan_giants,
    with_giants,
    with_home,
)
from .problems import SCHEMA, Problem, as_json, check_choices, record_of
from .progress import Clock
from .storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GIANT_LIMIT = 1 << 20
"""Conversations of more members are split; docs/spark.md has the measurement."""
MEMBERS_OF_A_SHARD = 4_000_000
"""How many memberships a shard has by default, at most."""


def prepare(
    users: Table | None,
    members: Table | None,
    *,
    path: str | os.PathLike[str],
    conversations: Table | None = None,
    settings: Settings = None,
    at: int = 0,
    shards: int | None = None,
    giant_limit: int = GIANT_LIMIT,
    on_error: str = "fail",
    unknown_zones: UnknownZones = "refuse",
    time_zone: str | None = None,
) -> Shards:
    """Splits settings into shards: snapshots of engines on the shared storage.

    Each table has a column for each field of the records (docs/formats.md), or only the column
    ``value`` with lines of NDJSON, as `spark.read.text` gives it: a DataFrame of Spark, a path or
    several, or a frame of pandas, polars or pyarrow. Runs at once.

    Args:
        users: settings of users.
        members: members of conversations.
        path: a folder that all machines see, or a URI that pyarrow knows. It gets one more set of
            shards; those that are there stay.
        conversations: records of conversations that are not plain groups.
        settings: what the driver reads by itself: bytes of NDJSON, a file or records, of the app,
            and of anything else there is little of.
        at: the instant from which on these settings hold, milliseconds since 1970.
        shards: how many; None for two a core, or more when one would have more than 4 M
            memberships.
        giant_limit: conversations of more members are split by users.
        on_error: ``"fail"``: the first bad row raises an `Error`, and nothing changes;
            ``"quarantine"``: bad rows are left out and listed in ``quarantine/``, a Parquet file a
            preparation, as `Shards.summary` says.
        unknown_zones: what is done with time zones that this machine or a worker does not have:
            "refuse" them, as bad rows, or "ignore" that; the shards have them as they are written,
            and `decide` has the same choice.
        time_zone: what timestamps without a time zone are in, such as "UTC"; None to refuse them.

    Raises:
        Error: what is wrong with which row, naming its file and key.
    """
    check_choices(on_error, unknown_zones)
    numbers_given = {
        "at": at,
        "giant_limit": giant_limit,
        "shards": 1 if shards is None else shards,
    }
    for name, number in numbers_given.items():
        checked_integer(number, name)
    if giant_limit < 1:
        raise ValueError("giant_limit must be at least 1")
    tables = {"users": users, "members": members, "conversations": conversations}
    sources = {kind: frame_of(table, kind) for kind, table in tables.items() if table is not None}
    if not sources:
        raise TypeError("users or members are needed: a DataFrame, a path, or a frame")
    spark = next(iter(sources.values())).sparkSession
    given = SettingsParts(settings, unknown_zones)
    job = Job(spark, path, "prepare", sources, on_error, unknown_zones)
    frames = {kind: checked_types(df, kind, time_zone) for kind, df in sources.items()}
    all_users = given.add_to(spark, frames.get("users"), "users")
    all_members = given.add_to(spark, frames.get("members"), "members")
    rooms = given.add_to(spark, frames.get("conversations"), "conversations")
    if all_members is None:
        all_members = spark.createDataFrame([], "_conversation string, _user string, _line string")
    known_users = job.checked_users(all_users, given.app)
    threads = job.threads(rooms)
    placed = with_home(all_members, "_conversation", threads)
    total, large = job.sizes(placed, giant_limit)
    if shards is None:
        shards = max(2 * spark.sparkContext.defaultParallelism, -(-total // MEMBERS_OF_A_SHARD))
    if not 1 <= shards <= 100_000:
        raise ValueError("shards must be 1 to 100,000")
    giants = plan_giants(large, shards, giant_limit)
    spec = BuildSpec(
        job.storage.path, job.folder, job.number, given.app, secrets.randbits(63),
        on_error == "fail", (), frozenset(giants),
    )  # fmt: skip
    rows = shard_rows(placed, known_users, rooms, threads, giants, shards)
    folders = job.build(spec, rows, shards)
    made = Shards(
        path=job.storage.path, number=job.number, at=at,
        folders=tuple(folders[shard] for shard in range(shards)),
        members=tuple(job.members[shard] for shard in range(shards)),
        giants=giants, settings=given.app, identity=spec.identity,
        users=(job.users_folder,), threads=(job.threads_folder,) if threads is not None else (),
        giant_limit=giant_limit, summary=job.summary,
    )  # fmt: skip
    return job.publish(made)


def shard_rows(
    members: DataFrame,
    users: DataFrame,
    rooms: DataFrame | None,
    threads: DataFrame | None,
    giants: dict[str, Any],
    shards: int,
) -> DataFrame:
    """The rows of all shards: a user is in each in which she has a membership."""
    F = spark_module()
    placed = with_giants(members, giants).withColumn("_shard", member_shard(shards))
    pairs = placed.groupBy("_user").agg(F.collect_set("_shard").alias("_shards"))
    people = pairs.where(F.col("_user").isNotNull()).join(
        users, pairs["_user"] == users["_id"], "left"
    )
    parts = [
        rows_of_kind(people.withColumn("_shard", F.explode("_shards")), USER, "_u"),
        rows_of_kind(placed, MEMBER, "_m"),
    ]
    if rooms is not None:
        rooms = rooms.withColumn("_conversation", F.col("_id"))
        rooms = with_giants(with_home(rooms.drop("_parent"), "_id", threads), giants)
        shard = F.explode(conversation_shards(shards))
        parts.append(rows_of_kind(rooms.withColumn("_shard", shard), CONVERSATION, ""))
    return functools.reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), parts)


def rows_of_kind(df: DataFrame, kind: int, fields: str) -> DataFrame:
    """Rows of shards, of one kind: with its keys and its fields."""
    F = spark_module()
    columns = [F.col("_shard"), F.lit(kind).alias("_kind")]
    columns += [F.col(name) for name in ("_user", "_conversation", "_line") if name in df.columns]
    if "_fields" in df.columns:
        columns.append(F.col("_fields").alias(fields))
    return df.select(*columns)


class Job:
    """A preparation: its steps, and what came of them."""

    def __init__(
        self,
        spark: SparkSession,
        path: str | os.PathLike[str],
        name: str,
        sources: dict[str, Any],
        on_error: str,
        unknown_zones: UnknownZones,
    ) -> None:
        self.spark = spark
        self.name = name
        self.sources = sources
        self.on_error = on_error
        self.unknown_zones: UnknownZones = unknown_zones
        self.storage = Storage(path)
        self.number = next_number(self.storage)
        self.folder = f"data/{self.number:06}-{secrets.token_hex(4)}"
        self.users_folder = f"{self.folder}/users"
        self.threads_folder = f"{self.folder}/threads"
        self.clock = Clock()
        self.problems: list[Problem] = []
        self.members: dict[int, int] = {}
        self.summary: dict[str, Any] = {"settings": self.number}

    def step(self, name: str) -> Any:
        return self.clock.step(self.spark, self.name, name)

    def checked_users(self, users: DataFrame | None, app: str) -> DataFrame:
        """Stores the settings of users, and gives those that are understood."""
        F = spark_module()
        place = self.storage.place(self.users_folder)
        if users is None:
            users = self.spark.createDataFrame([], "_id string, _line string")
        schema = f"{_ddl(users)}, _problem string"
        with self.step("check users"):
            check = functools.partial(check_users, app, self.unknown_zones)
            checked = users.mapInArrow(check, schema)
            checked.write.parquet(place)
            stored = self.spark.read.parquet(place)
            bad = stored.where(F.col("_problem").isNotNull())
            for row in bad.collect() if self.on_error != "fail" else bad.limit(1).collect():
                self.add_problem("users", _user_problem(row.asDict(recursive=True)))
        self.fail_for_problems()
        return stored.where(F.col("_problem").isNull() & F.col("_id").isNotNull()).drop("_problem")

    def threads(self, rooms: DataFrame | None) -> DataFrame | None:
        """Stores the parents of threads; None when there are no threads."""
        F = spark_module()
        if rooms is None:
            return None
        place = self.storage.place(self.threads_folder)
        found = rooms.where(F.col("_parent").isNotNull() & F.col("_id").isNotNull())
        with self.step("find threads"):
            if found.isEmpty():
                return None
            pairs = found.select(F.col("_id").alias("_thread"), "_parent")
            pairs.dropDuplicates(["_thread"]).write.parquet(place)
        return self.spark.read.parquet(place)

    def sizes(self, members: DataFrame, limit: int) -> tuple[int, list[Any]]:
        """The number of memberships, and the conversations above a limit with theirs."""
        F = spark_module()
        counts = members.where("_conversation = _home").groupBy("_home").count()
        large = F.when(F.col("count") > limit, F.struct("_home", "count"))
        with self.step("count members"):
            row = counts.agg(F.sum("count"), F.collect_list(large)).first()
        assert row is not None
        return int(row[0] or 0), [(found[0], found[1]) for found in row[1]]

    def build(self, spec: BuildSpec, rows: DataFrame, shards: int) -> dict[int, str]:
        """Has the workers make shards; the folder of each, and in `members` its memberships."""
        spread = rows.repartitionById(shards, "_shard")
        with self.step(f"build {shards} shards"):
            found = spread.mapInArrow(functools.partial(build, spec), REPORT).collect()
        folders: dict[int, str] = {}
        totals = {"users": 0, "members": 0, "conversations": 0, "bytes": 0}
        for shard, what, text in found:
            report = json.loads(text)
            if what == "problem":
                self.add_problem(report["kind"], report)
                continue
            folders[shard] = report["folder"]
            self.members[shard] = report.get("members", 0)
            for name in totals:
                totals[name] += report.get(name, 0)
        self.fail_for_problems()
        self.summary |= {
            "shards": shards, "shards_built": len(folders), "users_in_shards": totals["users"],
            "members": totals["members"], "conversations": totals["conversations"],
            "snapshot_bytes": totals["bytes"],
        }  # fmt: skip
        return folders

    def add_problem(self, kind: str, report: dict[str, Any]) -> None:
        self.problems.append(
            Problem(kind, report["key"], report["problem"], None, None, report["record"])
        )

    def fail_for_problems(self) -> None:
        """Ends the job because of a bad row, unless bad rows are left out."""
        if not self.problems or self.on_error != "fail":
            return
        problem = min(self.problems)
        with self.step("find the bad row"):
            problem = find_places([problem], self.sources)[0]
        self.storage.remove(self.folder)
        raise Error(problem.text(), "PF_INVALID")

    def publish(self, made: Shards) -> Shards:
        """Lists what was left out, and makes shards known."""
        unique = sorted(set(self.problems))
        self.summary["bad_rows"] = len(unique)
        if unique:
            with self.step("find bad rows"):
                unique = find_places(unique, self.sources)
            place = self.storage.place(f"quarantine/{self.number:06}")
            with self.step("write the quarantine"):
                frame = self.spark.createDataFrame(unique, SCHEMA)
                frame.coalesce(1).write.mode("overwrite").parquet(place)
            self.summary["quarantine"] = place
        self.summary["seconds"] = self.clock.steps
        if self.number in numbers(self.storage):
            raise Error(
                f"{self.storage.path}: another job has made the shards {self.number}; start again",
                "PF_IO",
            )
        made.publish()
        return made


def _ddl(df: DataFrame) -> str:
    return ", ".join(f"`{name}` {type}" for name, type in df.dtypes)


def _user_problem(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "key": as_json({"id": row["_id"]}), "problem": row["_problem"],
        "record": record_of(row, "users"),
    }  # fmt: skip


def find_places(problems: list[Problem], sources: dict[str, Any]) -> list[Problem]:
    """Problems with the files and rows that they are in, as far as Spark can tell."""
    found = {problem: problem for problem in problems}
    for kind, source in sources.items():
        wanted = [problem for problem in problems if problem.kind == kind]
        df = located(source) if wanted and source is not None else None
        if df is None:
            continue
        places = _places_of_lines if has_lines(df) else _places_of_fields
        where = places(df, kind, wanted)
        for problem in wanted:
            if problem in where:
                file, row = where[problem]
                found[problem] = problem._replace(file=file, row=row)
    return [found[problem] for problem in problems]


def _places_of_fields(df: DataFrame, kind: str, wanted: list[Problem]) -> dict[Problem, Any]:
    """The last row of each key: of several it is the one that is too many."""
    F = spark_module()
    names = ("conversation", "user") if kind == "members" else ("id",)
    key = F.to_json(F.struct(*(F.col(name).cast("string").alias(name) for name in names)))
    keys = df.select("_file", "_row", key.alias("_key"))
    return _found(keys, {problem.key: problem for problem in wanted})


def _places_of_lines(df: DataFrame, kind: str, wanted: list[Problem]) -> dict[Problem, Any]:
    F = spark_module()
    prefix = kind_prefix(kind)
    records = {problem.record: problem for problem in wanted}
    # Lines that do not say their kind were given it.
    for problem in wanted:
        if problem.record.startswith(prefix):
            records["{" + problem.record[len(prefix) :]] = problem
    return _found(df.select("_file", "_row", F.trim("value").alias("_key")), records)


def _found(keys: DataFrame, wanted: dict[str, Problem]) -> dict[Problem, Any]:
    F = spark_module()
    rows = keys.where(F.col("_key").isin(list(wanted))).collect()
    rows.sort(key=lambda row: (row["_file"], row["_row"] or 0))
    return {wanted[row["_key"]]: (row["_file"], row["_row"]) for row in rows}
