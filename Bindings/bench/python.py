"""What the Python package costs, beside what it must cost: calls, and tables in and out.

Times are of the best of several rounds; those of single calls are processor time of the thread.
Other tools deciding the same are in Benchmarks/peers.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from table import PROGRAM, Table, best, generate, world_files

from push_fanout import Fanout

NOON = 1_717_387_200_000
FOLDER = Path(".build/python-bench")
TABLE = Table()
row = TABLE.row


# ---------------------------------------------------------------------------------- Single calls


def measure_decide(swift: str) -> None:
    """The world and the messages of `fanout-bench calls`."""
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

    output = subprocess.run([swift, "calls"], capture_output=True, text=True, check=True).stdout
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


def measure_snapshot(given: str | None, users: int) -> None:
    path = given or f"{FOLDER}/{users}.snapshot"
    if not os.path.exists(path):
        count = str(users)
        world = generate(
            PROGRAM, FOLDER / f"snapshot-{count}", "--users", count, "--memberships", count
        )
        Fanout.open(
            f"{world}/settings.ndjson", users=f"{world}/users.csv", members=f"{world}/members.csv"
        ).write_snapshot(path)
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
    """A world as Arrow tables, as the package takes them."""

    def __init__(self, folder: Path, count: int) -> None:
        self.settings = (folder / "settings.ndjson").read_bytes()
        self.users, self.members, messages = (
            pq.read_table(folder / f"{kind}.parquet") for kind in ("users", "members", "messages")
        )
        self.messages = messages.slice(0, count)


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


def measure_batch(tables: Tables, fanout: Fanout) -> None:
    messages = fanout.messages(tables.messages)
    seconds = best(3, lambda: fanout.decide_batch(messages, parts=()))
    row(f"recipients and pushes of {len(messages):,} messages", f"{seconds:.3f} s")


def measure_numbers(tables: Tables) -> None:
    """The same with integers as ids: the row of each user, and of each conversation."""
    users = pc.cast(pa.array(np.arange(len(tables.users))), pa.int64())
    user = pc.index_in(tables.members["user"], value_set=tables.users["id"])
    conversation = tables.members["conversation"].dictionary_encode().combine_chunks().indices
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1_000_000, help="with ten memberships each")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--snapshot", help="one that is there, instead of one that is made")
    parser.add_argument("--snapshot-users", type=int, default=10_000_000)
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
          f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
    measure_decide(".build/release/fanout-bench")
    measure_import()
    measure_snapshot(options.snapshot, options.snapshot_users)
    users = options.users
    world = world_files(
        PROGRAM, FOLDER / f"world-{users}", "--users", str(users), "--memberships", str(10 * users)
    )
    tables = Tables(world, options.messages)
    measure_batch(tables, measure_build(tables))
    measure_numbers(tables)
    measure_arrow(tables, False)
    measure_arrow(tables, "views")
    missed = ", ".join(TABLE.missed) or "nothing"
    print(f"\nload at the end {os.getloadavg()[0]:.1f}; missed: {missed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
