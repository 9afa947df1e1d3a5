"""What a day takes on Spark, each figure beside its must: time, bytes shuffled, memory of an
executor; one process on the same files; Spark SQL alone on a sample, whose answers have to be
equal; one, two and four cores; and the tasks when one conversation has half of all memberships.

Each run is a process of its own, with a Spark of its own, whose event log is read. A part that
fails does not end the others. The table is also written to a file, line by line.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from table import PROGRAM, Table, world_files

from push_fanout.spark.preparing import GIANT_LIMIT

FOLDER = Path(".build/spark-bench")
TABLE = Table(FOLDER / "table.txt")
say, row = TABLE.say, TABLE.row
FULL = 2_000_000
"""Users and messages of a world whose figures have to hold; those of others only tell something."""
MEMORY = 22e9
"""What the processes of a Spark may have together, in bytes."""


class Failed(Exception):
    """A part of the benchmark that gave no figures."""


# ------------------------------------------------------------------------- One run, in a process


SHORT_JOBS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""What docs/spark.md advises for executors of one core that decide a day and end."""


def session(master: str, log: Path, memory: str, java: str) -> Any:
    """A Spark whose events are logged."""
    from pyspark.sql import SparkSession

    log.mkdir(parents=True, exist_ok=True)
    cores = int(re.findall(r"\d+", master)[0])
    spark = (
        SparkSession.builder.master(master)
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", memory)
        .config("spark.sql.shuffle.partitions", str(4 * cores))
        .config("spark.default.parallelism", str(cores))
        .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", log.absolute().as_uri())
        .config("spark.eventLog.rolling.enabled", "false")
        .config("spark.eventLog.compress", "false")
        .config("spark.eventLog.logStageExecutorMetrics", "true")
        .config("spark.executor.processTreeMetrics.enabled", "true")
        .config("spark.executor.metrics.pollingInterval", "2s")
        .config("spark.driver.extraJavaOptions", java)
        .config("spark.executor.extraJavaOptions", java)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def sql_answers(spark: Any, folder: Path, messages: Any) -> Any:
    """Recipients and pushes of each message by SQL alone: a join, and a case."""
    from day_world import offsets

    settings = json.loads((folder / "settings.ndjson").read_text().splitlines()[0])
    zone = settings.get("timeZone", "UTC")
    for name in ("users", "members"):
        spark.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
    messages.createOrReplaceTempView("messages")
    first, last = spark.sql("SELECT min(at), max(at) FROM messages").first()
    zones = [found[0] for found in spark.sql(
        f"SELECT DISTINCT coalesce(timeZone, '{zone}') FROM users").collect()]  # fmt: skip
    spark.createDataFrame(
        list(zip(zones, offsets(zones, first, last))), "zone string, minutes int"
    ).createOrReplaceTempView("offsets")
    minutes = "(CAST(split_part({0}, ':', 1) AS int) * 60 + CAST(split_part({0}, ':', 2) AS int))"
    return spark.sql(f"""
      WITH given AS (
        SELECT id, level, {minutes.format("quietHours.start")} AS first,
          {minutes.format("quietHours.end")} AS past,
          coalesce(timeZone, '{zone}') AS zone FROM users
      ), moved AS (
        SELECT id, level, pmod(first - minutes, 1440) AS start,
          coalesce(first <> 0 OR past <> 0, false) AS is_set,
          CASE WHEN first = past THEN 1440 ELSE pmod(past - first, 1440) END AS span
        FROM given JOIN offsets USING (zone)
      ), decided AS (
        SELECT messages.id AS id,
          CASE WHEN is_set AND pmod(CAST(floor(at / 60000) AS bigint) - start, 1440) < span
            THEN false
            WHEN coalesce(members.level, moved.level, 'all') = 'all' THEN true
            WHEN coalesce(members.level, moved.level, 'all') = 'none' THEN false
            ELSE coalesce(mentionsAll, false)
              OR coalesce(array_contains(mentions, members.user), false) END AS is_push
        FROM messages JOIN members USING (conversation)
        LEFT JOIN moved ON moved.id = members.user
        WHERE NOT (members.user <=> messages.sender) AND coalesce(since, 0) <= at
      )
      SELECT id, count(*) AS recipients, count_if(is_push) AS pushes FROM decided GROUP BY id""")


def processor_seconds() -> float:
    """What this process and all that it has started have used so far: less disturbed by what else
    the machine does than time is."""
    ticks: dict[int, tuple[int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks[int(stat.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while more := {child for child, (parent, _) in ticks.items() if parent in own} - own:
        own |= more
    return sum(ticks[number][1] for number in own if number in ticks) / os.sysconf("SC_CLK_TCK")


def warm_up(batches: Any) -> Any:
    """The first tasks of a Spark start its workers, which import the package; long enough that each
    core starts one."""
    import push_fanout.spark.writing  # noqa: F401

    time.sleep(0.3)
    yield from batches


def tasks_of_largest(shards: Any) -> list[int]:
    """The partitions that the messages of the shard with most memberships are in."""
    from push_fanout.spark.deciding import _slices

    counts = _slices(shards, None)
    largest = shards.members.index(max(shards.members))
    return list(range(sum(counts[:largest]), sum(counts[: largest + 1])))


SMALL = 1
"""Percent of the messages: a job that is nearly all fixed cost."""


AGAIN = "push-fanout.bench.again"
"""The property of jobs whose bytes and tasks are not counted."""


def run_job(options: argparse.Namespace) -> dict[str, Any]:
    """Prepares or decides, and says how long it took."""
    import push_fanout.spark as pf

    folder, place = Path(options.folder), Path(options.place)
    is_short = options.master.startswith("local-cluster") and options.job in ("counts", "rows")
    java = SHORT_JOBS if is_short else ""
    spark = session(options.master, Path(options.log), options.memory, java)
    files = {name: str(folder / f"{name}.parquet") for name in ("users", "members", "messages")}
    spark.sparkContext.setLocalProperty(AGAIN, "warm-up")
    spark.range(16, numPartitions=16).mapInArrow(warm_up, "id bigint").collect()
    spark.sparkContext.setLocalProperty(AGAIN, None)
    start = time.monotonic()
    found: dict[str, Any] = {}
    if options.job == "prepare":
        shutil.rmtree(place, ignore_errors=True)
        shards = pf.prepare(
            spark.read.parquet(files["users"]), spark.read.parquet(files["members"]),
            settings=str(folder / "settings.ndjson"), path=place, shards=options.shards,
            giant_limit=options.limit,
        )  # fmt: skip
        found = shards.summary
    elif options.job == "sql":
        messages = spark.read.parquet(files["messages"]).where("pmod(hash(id), 100) < 5")
        messages = messages.coalesce(8).cache()
        found["messages"] = messages.count()
        start = time.monotonic()
        answers = sql_answers(spark, folder, messages)
        answers.write.mode("overwrite").parquet(str(place / "sql"))
        found["sql"] = time.monotonic() - start
        start = time.monotonic()
        ours = pf.decide(messages, pf.Shards.open(options.shards_path))
        ours.write.mode("overwrite").parquet(str(place / "ours"))
        found["ours"] = time.monotonic() - start
        ours = spark.read.parquet(str(place / "ours")).where("recipients > 0")
        answers = spark.read.parquet(str(place / "sql"))
        names = ["id", "recipients", "pushes"]
        found["differences"] = (
            ours.select(*names).exceptAll(answers).count()
            + answers.exceptAll(ours.select(*names)).count()
        )
        found["decisions"] = answers.groupBy().sum("recipients").first()[0]
    else:
        messages = spark.read.parquet(files["messages"])
        sample = messages.where(f"pmod(hash(id), 100) < {min(options.sample, SMALL)}")
        if options.sample < 100:
            messages = messages.where(f"pmod(hash(id), 100) < {options.sample}")

        def decide(decided: Any) -> tuple[float, float]:
            begun, used = time.monotonic(), processor_seconds()
            shards = pf.Shards.open(options.shards_path)
            pf.decide(decided, shards, options.job, path=place, overwrite=True)
            return time.monotonic() - begun, processor_seconds() - used

        found["wall"], found["used"] = decide(messages)
        if options.again:
            # What a job costs before its first message, and what each message adds to it.
            spark.sparkContext.setLocalProperty(AGAIN, "small")
            found["small"], found["small_used"] = min(decide(sample) for _ in range(2))
            spark.sparkContext.setLocalProperty(AGAIN, "all")
            found["warm"], found["warm_used"] = decide(messages)
            found["largest"] = tasks_of_largest(pf.Shards.open(options.shards_path))
        if options.job == "counts":
            counted = spark.read.parquet(str(place))
            found["decisions"] = counted.groupBy().sum("recipients").first()[0]
        else:
            found |= json.loads((place / "_summary.json").read_text())
            found["decisions"] = found["rows"]
    found.setdefault("wall", time.monotonic() - start)
    spark.stop()
    return found


def events_of(log: Path) -> dict[str, Any]:
    """Bytes shuffled, memory of the executor that has most and of all together, and the tasks of
    the longest stage that decides or builds, with their partitions: of the first job, and of the
    same once more."""
    shuffled = 0
    memory: dict[str, int] = {}
    tasks: dict[int, list[tuple[int, float]]] = {}
    names: dict[int, str] = {}
    # The stages of later jobs and of the warm-up, and whether they decide all messages.
    again: dict[int, bool] = {}
    for file in log.iterdir():
        for line in file.read_text().splitlines():
            event = json.loads(line)
            kind = event["Event"]
            metrics = event.get("Task Metrics") or {}
            if kind == "SparkListenerStageSubmitted" and AGAIN in (event.get("Properties") or {}):
                again[event["Stage Info"]["Stage ID"]] = event["Properties"][AGAIN] == "all"
            if kind == "SparkListenerTaskEnd" and metrics:
                stage = event["Stage ID"]
                if stage not in again:
                    shuffled += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                partition = event["Task Info"]["Partition ID"]
                tasks.setdefault(stage, []).append((partition, metrics["Executor Run Time"] / 1000))
            if kind == "SparkListenerStageSubmitted":
                names[event["Stage Info"]["Stage ID"]] = json.dumps(event["Stage Info"]["RDD Info"])
            if kind == "SparkListenerStageExecutorMetrics":
                peak = event["Executor Metrics"]
                used = peak["ProcessTreeJVMRSSMemory"] + peak["ProcessTreePythonRSSMemory"]
                who = event["Executor ID"]
                memory[who] = max(memory.get(who, 0), used)
    own = {stage: found for stage, found in tasks.items() if "MapInArrow" in names.get(stage, "")}
    first = [found for stage, found in own.items() if stage not in again]
    later = [found for stage, found in own.items() if again.get(stage)]
    # The executors of local-cluster are processes that the driver has started: it has their memory,
    # too.
    together = memory.pop("driver", 0)
    return {
        "shuffled": shuffled, "memory": max(memory.values(), default=together),
        "all_memory": together, "tasks": max(first, key=total_time, default=[]),
        "later_tasks": max(later, key=total_time, default=[]),
    }  # fmt: skip


def total_time(tasks: list[tuple[int, float]]) -> float:
    return sum(seconds for _, seconds in tasks)


def run(options: argparse.Namespace, job: str, folder: Path, **more: Any) -> dict[str, Any]:
    """A run in a process of its own."""
    name = f"{folder.name}-{job}-{len(list(FOLDER.glob('log-*')))}"
    log = FOLDER / f"log-{name}"
    shutil.rmtree(log, ignore_errors=True)
    given = {
        "job": job, "folder": folder, "log": log, "place": FOLDER / f"out-{folder.name}-{job}",
        "shards-path": FOLDER / f"out-{folder.name}-prepare", "memory": options.memory,
        "master": f"local[{options.cores}]", "shards": options.shards, "limit": GIANT_LIMIT,
        "sample": 100, "again": 0, **more,
    }  # fmt: skip
    arguments = [f"--{name}={value}" for name, value in given.items()]
    done = subprocess.run(
        [sys.executable, __file__, "--run", *arguments], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PUSH_FANOUT_CACHE": str((FOLDER / "cache").absolute())},
    )  # fmt: skip
    if done.returncode != 0:
        raise Failed(f"{name}: exit status {done.returncode}")
    return {**json.loads(done.stdout.splitlines()[-1]), **events_of(log)}


# --------------------------------------------------------------------------------------- The table


def size(count: float) -> str:
    return f"{count / 1e6:,.0f} MB"


def memory_rows(found: dict[str, Any]) -> None:
    """The memory of a run."""
    row("  memory of an executor, at most", size(found["memory"]))
    together = found["all_memory"]
    must = f"≤ {MEMORY / 1e9:.0f} GB"
    row("  of all processes together", size(together), must, together <= MEMORY)


def part_text(value: float, unit: str) -> str:
    """A part of a time that is a difference of others; those of tiny worlds are lost in noise."""
    return f"{value:.1f} {unit}" if value >= 0.05 else "lost in noise"


def one_process(folder: Path, form: str, messages: Path, threads: int) -> tuple[float, float]:
    """Seconds to load, and to decide and write, of python -m push_fanout evaluate."""
    done = subprocess.run(
        [sys.executable, "-m", "push_fanout", "evaluate", "--settings", folder / "settings.ndjson",
         "--users", folder / "users.parquet", "--members", folder / "members.parquet",
         "--messages", messages, "--output", FOLDER / "one-process.parquet",
         "--format", form, "--threads", str(threads)],
        stderr=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found = re.search(r"loaded in ([\d.]+) s, decided and written in ([\d.]+) s", done.stderr)
    assert found is not None, done.stderr
    return float(found[1]), float(found[2])


def sampled(folder: Path, percent: int) -> Path:
    """The messages that Spark's `pmod(hash(id), 100)` samples; about as many, by their numbers."""
    import duckdb

    path = FOLDER / f"{folder.name}-sample-{percent}.parquet"
    duckdb.execute(
        f"COPY (SELECT * FROM '{folder}/messages.parquet' WHERE hash(id) % 100 < {percent}) "
        f"TO '{path}' (FORMAT parquet)"
    )
    return path


class OneProcess(NamedTuple):
    """The seconds of one process with as many threads as Spark has cores."""

    load: float
    counts: float
    rows: float


def measure_one_process(options: argparse.Namespace, folder: Path) -> OneProcess:
    """Loading, deciding all to counts, and a sample to rows, each with Parquet in and out."""
    cores, percent = options.cores, options.rows_percent
    say(f"\none process, {cores} threads")
    load, counts = one_process(folder, "counts", folder / "messages.parquet", cores)
    row("load", f"{load:.1f} s")
    row("decide to counts", f"{counts:.1f} s")
    _, rows = one_process(folder, "rows", sampled(folder, percent), cores)
    row(f"decide {percent} % to rows of Parquet", f"{rows:.1f} s")
    (FOLDER / "one-process.parquet").unlink()
    return OneProcess(load, counts, rows)


def measure_master(
    options: argparse.Namespace, folder: Path, master: str, alone: OneProcess
) -> tuple[float, float, float]:
    """Preparing, and deciding to counts and rows; seconds to counts."""
    cores = options.cores
    say(f"\n{master}")
    ready = run(options, "prepare", folder, master=master)
    rate = ready["members"] / ready["wall"] / 1e6
    row("prepare", f"{ready['wall']:.1f} s, {rate:.2f} M members/s")
    row("  shuffled / snapshots", f"{size(ready['shuffled'])} / {size(ready['snapshot_bytes'])}")
    memory_rows(ready)
    for step, seconds in ready["seconds"].items():
        row(f"  {step}", f"{seconds:.1f} s")
    counts = run(options, "counts", folder, master=master, again=1)
    share = alone.counts / counts["wall"]
    row("decide to counts, the first job of a Spark", f"{counts['wall']:.1f} s")
    row("  counts, of one process's speed", f"{share:.2f} ×", "≥ 0.5 ×", share >= 0.5)
    row("  of one process's speed, its loading included",
        f"{(alone.load + alone.counts) / counts['wall']:.2f} ×")  # fmt: skip
    row("  of one process's speed, as a later job",
        f"{alone.counts / counts['warm']:.2f} ×")  # fmt: skip
    parts = parts_of(counts)
    if options.messages < FULL:
        more = FULL / options.messages
        longer = counts["wall"] + parts["the messages"] * (more - 1)
        row(f"  of one process's speed, {FULL:,} messages by the parts",
            f"{alone.counts * more / longer:.2f} ×")  # fmt: skip
    used = parts_of(counts, "_used")
    for name, seconds in parts.items():
        row(f"  {name}", f"{part_text(seconds, 's')} / {part_text(used[name], 'core s')}")
    row("  decisions", f"{counts['decisions'] / 1e6:,.0f} M, "
        f"{counts['decisions'] / counts['wall'] / 1e6:,.0f} M/s")  # fmt: skip
    row("  shuffled", size(counts["shuffled"]))
    memory_rows(counts)
    rows = run(options, "rows", folder, master=master, sample=options.rows_percent)
    rate = rows["decisions"] / rows["wall"] / 1e6
    share = alone.rows / rows["wall"]
    row(f"decide {options.rows_percent} % to rows of Parquet", f"{rows['wall']:.1f} s")
    row("  rows, bytes of one", f"{rows['rows'] / 1e6:,.0f} M, {rate:.1f} M/s, "
        f"{rows['bytes'] / max(rows['rows'], 1):.2f} B")  # fmt: skip
    row("  rows, of one process's speed", f"{share:.2f} ×", "≥ 0.5 ×", share >= 0.5)
    row("  shuffled", size(rows["shuffled"]))
    memory_rows(rows)
    messages = options.messages
    on_paper({
        "member_seconds": ready["wall"] * cores / ready["members"],
        "member_shuffled": ready["shuffled"] / ready["members"],
        "member_snapshot": ready["snapshot_bytes"] / ready["members"],
        "message_seconds": max(used["the messages"], 0.0) / messages,
        "job_seconds": max(used["each job, without messages"], 0.0),
        "message_shuffled": counts["shuffled"] / messages,
        "message_decisions": counts["decisions"] / messages,
        "row_seconds": rows["wall"] * cores / rows["rows"],
        "row_bytes": rows["bytes"] / rows["rows"],
    })  # fmt: skip
    return times(counts)


# By executor cores, seconds of a first job to counts, of a later one, and of its messages.
Times = dict[int, tuple[float, float, float]]


def times(counts: dict[str, Any]) -> tuple[float, float, float]:
    return counts["wall"], counts["warm"], parts_of(counts)["the messages"]


def parts_of(counts: dict[str, Any], kind: str = "") -> dict[str, float]:
    """What a first job costs a Spark once, what each job costs without messages, and what all
    messages cost: of a first job, one of `SMALL` percent of the messages, and one of all again."""
    first, small, warm = (counts[f"{name}{kind}".strip("_")] for name in (
        "wall" if not kind else "", "small", "warm"))  # fmt: skip
    messages = (warm - small) / (1 - SMALL / 100)
    return {
        "only the first job of a Spark": first - warm,
        "each job, without messages": small - messages * SMALL / 100,
        "the messages": messages,
    }


def cluster(options: argparse.Namespace, cores: int) -> str:
    """Executors of one core."""
    return f"local-cluster[{cores},1,{options.executor_memory}]"


BILLION = 1e9


def on_paper(constants: dict[str, float]) -> None:
    """What a billion users take: docs/scale.md."""
    c = constants
    members, messages = 10 * BILLION, BILLION
    rows = messages * c["message_decisions"]
    say("constants: " + ", ".join(f"{name} {value:.3g}" for name, value in c.items()))
    say("on paper, 1 G users, 10 G memberships, 1 G messages a day:")
    for name, seconds, data in (
        ("prepare, once", members * c["member_seconds"], members * c["member_shuffled"]),
        ("  snapshots", 0.0, members * c["member_snapshot"]),
        ("a day to counts", messages * c["message_seconds"], messages * c["message_shuffled"]),
        ("  each job of it", c["job_seconds"], 0.0),
        (f"a day to {rows / 1e12:.2f} T rows", rows * c["row_seconds"], rows * c["row_bytes"]),
    ):
        hours = [f"{seconds / 3600:,.3g} core hours"] if seconds else []
        row(name, ", ".join(hours + ([f"{data / 1e9:,.0f} GB"] if data else [])))


def measure_sql(options: argparse.Namespace, folder: Path) -> None:
    """Spark SQL alone, on the same Spark."""
    found = run(options, "sql", folder)
    if found["differences"]:
        row("messages that SQL answers otherwise", str(found["differences"]), "0", False)
        return
    ratio = found["sql"] / found["ours"]
    say(f"\n{found['messages']:,} messages, {found['decisions']:,} decisions")
    row("messages that SQL answers otherwise", "0", "0")
    row(
        "Spark SQL, a join and a case / push-fanout",
        f"{found['sql']:.1f} s / {found['ours']:.1f} s",
    )
    row("  faster", f"{ratio:.1f} ×", "≥ 10 ×", ratio >= 10)


def measure_scaling(options: argparse.Namespace, folder: Path, known: Times) -> None:
    """The same on one, two and four cores, without those that are known."""
    say("\nexecutor cores: the first job of a Spark, a later one, and the messages of that")
    cores = 1
    while cores <= options.cores:
        if cores not in known:
            known[cores] = times(
                run(options, "counts", folder, master=cluster(options, cores), again=1)
            )
        shares = zip(known[cores], known[1], strict=True)
        row(f"decide to counts, {cores}",
            ", ".join(f"{now:.1f} s {one / now:.2f} ×" for now, one in shares))  # fmt: skip
        cores *= 2


def measure_giant(options: argparse.Namespace) -> None:
    """A conversation that has half of all memberships."""
    users = max(options.users // 4, 10_000)
    folder = world_files(
        options.program, FOLDER / f"giant-{users}-{options.messages}", "--users", str(users),
        "--giants", str(users), "--memberships", str(2 * users),
        "--messages", str(options.messages),
    )  # fmt: skip
    say(f"\n{users:,} users are in one conversation, and in others: {2 * users:,} memberships, "
        f"{options.messages:,} messages")  # fmt: skip
    for limit in (GIANT_LIMIT, 262_144, 65_536):
        run(options, "prepare", folder, limit=limit)
        found = run(options, "counts", folder, again=1)
        name = f"split above {limit:,}" if limit < GIANT_LIMIT else "not split, the default"
        row(f"decide to counts, {name}", f"{found['wall']:.1f} s, later {found['warm']:.1f} s")
        for tasks, job in (("tasks", "first"), ("later_tasks", "later")):
            seconds = [time for _, time in found[tasks]]
            median = statistics.median(seconds)
            row(f"  longest task / median, {job} job", f"{max(seconds):.2f} / {median:.2f} s")
            if limit == GIANT_LIMIT:
                # Messages to other conversations have other tasks, which may be longer. The first
                # tasks of a Spark open snapshots.
                own = max(time for number, time in found[tasks] if number in found["largest"])
                row(f"    longest of the conversation's {len(found['largest'])} tasks",
                    f"{own:.2f} s", "≤ 2 ×" if job == "later" else "",
                    job == "first" or own <= 2 * median)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--users", type=int, default=2_000_000)
    parser.add_argument("--messages", type=int, default=2_000_000)
    parser.add_argument("--cores", type=int, default=4)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--rows-percent", type=int, default=5)
    parser.add_argument("--memory", default="6g", help="of the driver, which is all of local[*]")
    parser.add_argument("--executor-memory", type=int, default=1536, help="MB")
    parser.add_argument("--only", choices=("day", "sql", "scaling", "giant"))
    # Of one run.
    for name in ("job", "folder", "log", "place", "shards-path", "master"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--again", type=int)
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run_job(options)))
        return 0
    return measure(options)


def measure(options: argparse.Namespace) -> int:
    """All that is wanted; 0 if it was measured and, in a world of full size, held."""
    begun = time.monotonic()
    FOLDER.mkdir(parents=True, exist_ok=True)
    assert TABLE.file is not None
    TABLE.file.unlink(missing_ok=True)
    for old in FOLDER.glob("log-*"):
        shutil.rmtree(old)
    # Eighteen Sparks are started; the rest was estimated for four idle cores.
    minutes = 4 + 17 * max(options.users, options.messages) / FULL
    say(f"all of it takes about {minutes:.0f} minutes; the table goes to {TABLE.file}")
    say(f"{options.users:,} users, {10 * options.users:,} memberships, {options.messages:,} "
        f"messages; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")  # fmt: skip
    folder = world_files(
        options.program, FOLDER / f"day-{options.users}-{options.messages}",
        "--users", str(options.users), "--memberships", str(10 * options.users),
        "--messages", str(options.messages),
    )  # fmt: skip
    known: Times = {}

    def day() -> None:
        alone = measure_one_process(options, folder)
        measure_master(options, folder, f"local[{options.cores}]", alone)
        full = cluster(options, options.cores)
        known[options.cores] = measure_master(options, folder, full, alone)

    parts = {
        "day": day, "sql": lambda: measure_sql(options, folder),
        "scaling": lambda: measure_scaling(options, folder, known),
        "giant": lambda: measure_giant(options),
    }  # fmt: skip
    failed = []
    for name, part in parts.items():
        if options.only not in (None, name):
            continue
        start = time.monotonic()
        try:
            part()
        except (Failed, subprocess.CalledProcessError) as error:
            failed.append(name)
            say(f"FAILED: {error}")
        say(f"{name}: {time.monotonic() - start:.0f} s")
    is_full = min(options.users, options.messages) >= FULL
    missed = ", ".join(TABLE.missed) or "nothing"
    say(f"\n{time.monotonic() - begun:.0f} s; load at the end {os.getloadavg()[0]:.1f}; "
        f"failed: {', '.join(failed) or 'nothing'}; missed: {missed}"
        f"{'' if is_full else f', which counts with {FULL:,} users and messages'}")  # fmt: skip
    return 1 if failed or (is_full and TABLE.missed) else 0


if __name__ == "__main__":
    sys.exit(main())
