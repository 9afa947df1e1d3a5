"""What the Python package costs, beside what it must cost, and other tools on the same tables.

Times are of the best of several rounds; those of single calls are processor time of the thread.
Other tools answer before they are timed, and one difference ends the run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from push_fanout import Fanout

NOON = 1_717_387_200_000
HERE = Path(__file__).parent
MISSED: list[str] = []


def row(name: str, value: str, must: str = "", holds: bool = True) -> None:
    """A line of the table."""
    if not holds:
        MISSED.append(name)
    print(f"{name:<58}{value:>22}  {must}{'' if holds else '  MISSED'}", flush=True)


def best(
    rounds: int, call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> float:
    """The seconds of the fastest call."""
    found = []
    for _ in range(rounds):
        start = clock()
        call()
        found.append(clock() - start)
    return min(found)


# ---------------------------------------------------------------------------------- Single calls


def measure_decide(swift: str) -> None:
    """The world and the messages of decide-speed."""
    fanout = Fanout.from_ndjson(
        [
            {"kind": "member", "conversation": f"room{room}", "user": f"user{room * 50 + member}"}
            for room in range(64)
            for member in range(200)
        ],
        threads=1,
    )
    messages = [
        {
            "id": "m",
            "conversation": f"room{number % 64}",
            "at": NOON + number,
            "sender": f"user{number % 64 * 50 + number % 200}",
        }
        for number in range(1024)
    ]

    def decide() -> None:
        call = fanout.decide
        for _ in range(20):
            for message in messages:
                call(message)

    def counts() -> None:
        for message in messages:
            fanout.decide(message).push_count

    def empty() -> None:
        for _ in range(20):
            for _message in messages:
                pass

    output = subprocess.run([swift], capture_output=True, text=True, check=True).stdout
    own = float(re.findall(r"Swift: ([\d.]+) ns", output)[0]) / 1000
    loop = best(20, empty, time.thread_time) / 20480 * 1e6
    ours = best(20, decide, time.thread_time) / 20480 * 1e6 - loop
    row("decide one message, Swift", f"{own:.3f} µs")
    row("decide one message, Python, a dictionary", f"{ours:.3f} µs")
    row("  above Swift", f"{ours - own:.3f} µs", "≤ 1.2 µs", ours - own <= 1.2)
    row("  with its number of pushes", f"{best(20, counts, time.thread_time) / 1024 * 1e6:.3f} µs")


def measure_import() -> None:
    """In processes of their own."""
    program = (
        "import time; start = time.perf_counter(); import push_fanout; "
        "print(time.perf_counter() - start)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                             check=True).stdout)
        for _ in range(20)
    ]  # fmt: skip
    milliseconds = sorted(times)[len(times) // 2] * 1000
    row("import push_fanout, median", f"{milliseconds:.1f} ms", "≤ 50 ms", milliseconds <= 50)


def measure_snapshot(path: str) -> None:
    fanout = Fanout.open(snapshot=path)
    users, size = fanout.user_count, os.path.getsize(path)
    fanout.close()
    del fanout

    def open_snapshot() -> None:
        Fanout.open(snapshot=path).close()

    seconds = best(5, open_snapshot)
    name = f"open a snapshot of {users:,} users, {size / 1e6:,.0f} MB"
    row(name, f"{seconds:.3f} s", "≤ 0.2 s", seconds <= 0.2 or users < 10_000_000)


# ---------------------------------------------------------------------------------------- Tables


class Tables:
    """The files of a world as Arrow tables, in the columns of the files and of the package."""

    def __init__(self, folder: Path, count: int) -> None:
        self.settings = (folder / "settings.ndjson").read_bytes()
        self.plain = {
            "users": read(folder / "users.csv", level=pa.string(), quietStart=pa.string(),
                          quietEnd=pa.string()),
            "members": read(folder / "members.csv", level=pa.string(), since=pa.int64()),
            "messages": read(folder / "messages.csv", mentions=pa.string(), mentionsAll=pa.int8())
            .slice(0, count),
        }  # fmt: skip
        users = self.plain["users"].combine_chunks()
        hours = pa.StructArray.from_arrays(
            [chunks(users["quietStart"]), chunks(users["quietEnd"])], ["start", "end"],
            mask=chunks(pc.is_null(users["quietStart"])),
        )  # fmt: skip
        self.users = users.drop_columns(["quietStart", "quietEnd"]).append_column(
            "quietHours", hours
        )
        self.members = self.plain["members"]
        messages = self.plain["messages"]
        ids = pc.cast(pa.array(np.arange(1, len(messages) + 1)), pa.string())
        self.messages = (
            messages.set_column(
                messages.column_names.index("mentions"), "mentions",
                pc.split_pattern(messages["mentions"], ";"),
            )
            .set_column(
                messages.column_names.index("mentionsAll"), "mentionsAll",
                pc.cast(messages["mentionsAll"], pa.bool_()),
            )
            .append_column("id", ids)
        )  # fmt: skip


def read(path: Path, **types: Any) -> pa.Table:
    """A CSV file, whose empty cells are null."""
    options = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    return pa.csv.read_csv(path, convert_options=options)


def chunks(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def measure_build(tables: Tables) -> Fanout:
    opened: list[Fanout] = []

    def build() -> None:
        opened.clear()
        opened.append(Fanout.open(tables.settings, users=tables.users, members=tables.members))

    seconds = best(3, build)
    rows = len(tables.users) + len(tables.members)
    rate = rows / seconds / 1e6
    name = f"build from Arrow, {len(tables.users):,} users, {len(tables.members):,} members"
    row(name, f"{seconds:.2f} s, {rate:.1f} M rows/s", "≥ 8 M rows/s on four cores", rate >= 8)
    return opened[0]


def measure_numbers(tables: Tables) -> None:
    """The same with integers as ids: the row of each user, and of each conversation."""
    users = pc.cast(pa.array(np.arange(len(tables.users))), pa.int64())
    user = pc.index_in(tables.members["user"], value_set=tables.users["id"])
    conversation = chunks(tables.members["conversation"].dictionary_encode()).indices
    numbered_users = tables.users.set_column(0, "id", users)
    members = tables.members
    for name, numbers in (("user", user), ("conversation", conversation)):
        place = members.column_names.index(name)
        members = members.set_column(place, name, pc.cast(numbers, pa.int64()))
    opened: list[Fanout] = []

    def build() -> None:
        opened.clear()
        opened.append(Fanout.open(tables.settings, users=numbered_users, members=members))

    start = time.process_time()
    seconds = best(3, build)
    used = (time.process_time() - start) / 3
    rows = len(users) + len(members)
    rate = rows / seconds / 1e6
    value = f"{seconds:.2f} s, {rate:.1f} M rows/s"
    row("  with 64-bit integers as ids", value, "≥ 30 M rows/s on four cores", rate >= 30)
    row("    processor time", f"{used:.2f} s")


def measure_arrow(tables: Tables, ids: Any) -> None:
    """One thread decides, while another library takes what it gives."""
    fanout = Fanout.open(tables.settings, users=tables.users, members=tables.members, threads=1)
    decisions = fanout.decisions(tables.messages, ids=ids)
    count = len(tables.messages)
    expected = int(fanout.decide_batch(decisions.messages, parts=()).recipients.sum())

    def by_reader() -> int:
        return sum(len(batch) for batch in pa.RecordBatchReader.from_stream(decisions))

    def by_pyarrow() -> int:
        return len(pa.table(decisions))

    def by_polars() -> int:
        return len(pl.DataFrame(decisions))

    def by_duckdb() -> int:
        connection = duckdb.connect(config={"threads": 1})
        connection.register("decisions", decisions)
        found = connection.sql("SELECT count(message), count(user), count(code) FROM decisions")
        return int(found.fetchall()[0][2])

    form = "with ids as views" if ids else "with numbers of users"
    print(f"\n{count:,} messages as {expected:,} rows of Arrow {form}, on one thread")
    for name, call in (
        ("pyarrow, batch by batch", by_reader),
        ("pyarrow, a table", by_pyarrow),
        ("polars, a frame", by_polars),
        ("DuckDB, a query that reads all columns", by_duckdb),
    ):
        if call() != expected:
            sys.exit(f"{name}: another number of rows than {expected}")
        used = best(3, call, time.process_time)
        seconds = best(3, call)
        rate = expected / seconds / 1e6
        value = f"{rate:.0f} M rows/s ({expected / used / 1e6:.0f} cpu)"
        row(name, value, "≥ 100 M rows/s", rate >= 100)


# ------------------------------------------------------------------------------------- Other tools


class World:
    """What the peers of Benchmarks/peers ask of a world; its files are names of tables."""

    users, members, messages = "users", "members", "messages"

    def __init__(self, settings: bytes) -> None:
        self.time_zone = json.loads(settings.splitlines()[0]).get("timeZone", "UTC")


def peers(tables: Tables, threads: int) -> dict[str, Any]:
    import day_duckdb
    import day_polars

    world = World(tables.settings)
    plain = dict(tables.plain)
    sql = day_duckdb.DuckDBDay(world, threads)
    for name, table in plain.items():
        if name == "messages":
            table = table.rename_columns(
                ["sent_at" if column == "at" else column for column in table.column_names]
            )
        sql.connection.register(f"given_{name}_table", table)
    day_duckdb._csv = lambda name, **types: (
        "(SELECT " + ", ".join(
            f"{column}::{kind} AS {column}" for column, kind in types.items()
        ) + f" FROM given_{name}_table)"
    )  # fmt: skip
    day_polars._csv = lambda name, schema: pl.DataFrame(plain[name].select(list(schema))).cast(
        schema
    )
    return {"DuckDB": sql, "Polars": day_polars.PolarsDay(world, threads)}


def measure_peers(tables: Tables, threads: int) -> None:
    print(
        f"\nthe same tables, recipients and pushes of {len(tables.messages):,} messages, "
        f"{threads} threads"
    )

    def ours() -> tuple[Any, Any]:
        batch = fanout.decide_batch(messages, parts=())
        return batch.recipients, batch.pushes

    start = time.perf_counter()
    fanout = Fanout.open(
        tables.settings, users=tables.users, members=tables.members, threads=threads
    )
    messages = fanout.messages(tables.messages)
    loaded = time.perf_counter() - start
    expected = ours()
    own = best(3, ours)
    row("push_fanout, load / decide", f"{loaded:.2f} s / {own:.3f} s")
    for name, peer in peers(tables, threads).items():
        start = time.perf_counter()
        peer.load()
        loaded = time.perf_counter() - start
        found = peer.decide()
        for left, right in zip(found, expected):
            if not np.array_equal(np.asarray(left, np.int64), np.asarray(right, np.int64)):
                sys.exit(f"{name} answers otherwise")
        seconds = best(1, peer.decide)
        row(f"{name}, load / decide", f"{loaded:.2f} s / {seconds:.3f} s", f"{seconds / own:.0f} ×")


def measure_synapse(python: str, members: int) -> None:
    done = subprocess.run(
        [python, HERE / "synapse_room.py", str(members)], capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"Synapse: {done.stderr}")
    found = json.loads(done.stdout)
    print(f"\na message to a room of {members:,} members, answers are equal")
    row("push_fanout, ids of pushes", f"{found['ours'] * 1e3:.2f} ms")
    row("Synapse's PushRuleEvaluator, ids of pushes", f"{found['synapse'] * 1e3:.1f} ms",
        f"{found['synapse'] / found['ours']:.0f} ×")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("world", type=Path, help="a folder of push-fanout generate --rates 1")
    parser.add_argument("--snapshot", required=True)
    parser.add_argument("--swift", required=True, help="decide-speed")
    parser.add_argument("--synapse", help="a Python that has matrix-synapse")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
          f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
    measure_decide(options.swift)
    measure_import()
    measure_snapshot(options.snapshot)
    tables = Tables(options.world, options.messages)
    measure_build(tables)
    measure_numbers(tables)
    measure_arrow(tables, False)
    measure_arrow(tables, "views")
    measure_peers(tables, options.threads)
    if options.synapse:
        measure_synapse(options.synapse, 100_000)
    print(f"\nload at the end {os.getloadavg()[0]:.1f}; missed: {', '.join(MISSED) or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
