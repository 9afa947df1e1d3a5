#!/usr/bin/env python3
"""push-fanout, DuckDB, Polars and Numba deciding the same day of messages, from CSV files to answers."""
import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from day_contestant import CONTESTANTS
from day_world import OUTCOMES
from peers import machine
from timing import TimingError, timed
from workers import PeerError

ENGINE = "push-fanout"
HERE = Path(__file__).parent

EXAMPLES = """\
examples:
  day.py world --engine .build/release/push-fanout
  day.py world --engine .build/release/push-fanout --messages all --rounds 3 --json day.json

WORLD is a folder of "push-fanout generate --rates 1". Answers are how many members of each message
have each outcome, with reason and scope: an array in a file, and of push-fanout lines of JSON.
Unless all contestants answer alike in every round, the run ends without figures, status 1.
Seconds are wall time, then processor seconds of all threads; "engine x" is the contestant's time
over push-fanout's, by both. Memory is the peak resident set. Before the first round, a run of one
message compiles what Numba compiles; that is not counted.
"""


@dataclass(frozen=True)
class Turn:
    """Wall and processor seconds, and the peak of memory."""

    whole: tuple[float, float]
    load: tuple[float, float]
    decide: tuple[float, float]
    bytes: int


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("world", metavar="WORLD", type=Path, help="the generated world, a folder")
    parser.add_argument("--engine", metavar="PROGRAM", required=True, help="push-fanout")
    parser.add_argument("--messages", type=_count, default=100_000, metavar="COUNT",
                        help="only the first of the day, or all (100000)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of each (all cores)")
    parser.add_argument("--rounds", type=int, default=1, help="turns of each contestant (1)")
    parser.add_argument("--json", metavar="FILE", help="writes machine, command and rows here")
    options = parser.parse_args(arguments)
    if options.rounds < 1 or options.threads < 1:
        parser.error("--rounds and --threads: at least 1")
    return options


def _count(text):
    if text == "all":
        return None
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: a number from 1, or all")
    return int(text)


class Day:
    """The day's files, cut to the messages asked for, and the folder of the answers."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.messages = folder / "messages.csv"
        self.first_message = folder / "first.csv"
        with open(options.world / "messages.csv", encoding="utf-8") as file:
            _copy(file, self.messages, options.messages)
            file.seek(0)
            _copy(file, self.first_message, 1)

    def answers(self, name):
        """Where a contestant leaves its answers."""
        return self.folder / ("counts.ndjson" if name == ENGINE else f"{name}.npy")

    def engine_turn(self):
        """push-fanout's turn, which leaves its answers in a file.

        Loading is the same command with one message; what the command takes longer with all
        messages is deciding, with reading the messages and writing the answers.
        """
        whole, peak = self._evaluate(self.messages, self.answers(ENGINE))
        load, _ = self._evaluate(self.first_message, self.folder / "first.ndjson")
        decide = tuple(all_ - first for all_, first in zip(whole, load, strict=True))
        return Turn(whole, load, decide, peak)

    def _evaluate(self, messages, answers):
        world = self.options.world
        clocks, peak, _ = timed([
            self.options.engine, "evaluate", "--settings", world / "settings.ndjson",
            "--users", world / "users.csv", "--members", world / "members.csv",
            "--messages", messages, "--format", "counts", "--output", answers,
            "--threads", str(self.options.threads),
        ])
        return clocks, peak

    def compile(self, name):
        """A turn that is not counted, after which what the contestant compiles is kept."""
        self._peer(name, self.first_message)

    def peer_turn(self, name):
        whole, peak, output = self._peer(name, self.messages)
        parts = json.loads(output)
        return Turn(whole, tuple(parts["load"]), tuple(parts["decide"]), peak)

    def _peer(self, name, messages):
        threads = str(self.options.threads)
        return timed(
            [sys.executable, HERE / "day_contestant.py", name, self.options.world, messages,
             threads, self.answers(name)],
            env={**os.environ, "POLARS_MAX_THREADS": threads,
                 "NUMBA_CACHE_DIR": str(self.folder / "compiled")},
        )


def _copy(file, path, messages):
    """The header and the first messages, one a line."""
    with open(path, "w", encoding="utf-8") as copy:
        for index, line in enumerate(file):
            if messages is not None and index > messages:
                break
            copy.write(line)


def answers_of(path):
    """How many members of each message have each outcome, from an array or from `evaluate --format
    counts`."""
    if path.suffix == ".npy":
        return np.load(path)
    with open(path, encoding="utf-8") as file:
        answers = [json.loads(line)["counts"] for line in file]
    unknown = {outcome for counts in answers for outcome in counts} - set(OUTCOMES)
    if unknown:
        raise PeerError(f"{path}: no peer has the outcome {', '.join(sorted(unknown))}")
    return np.array([[counts.get(name, 0) for name in OUTCOMES] for counts in answers], np.int64)


def check(name, found, expected):
    if found.shape != expected.shape:
        raise PeerError(f"{name}: answers {found.shape[0]} messages of {expected.shape[0]}")
    wrong = np.flatnonzero((found != expected).any(axis=1))
    if len(wrong):
        at = wrong[0]
        outcomes = [
            f"{OUTCOMES[i]} {found[at, i]}, not {expected[at, i]}"
            for i in np.flatnonzero(found[at] != expected[at])
        ]
        raise PeerError(
            f"{name}: {len(wrong)} messages with wrong answers, the first is message {at + 1}: "
            f"{'; '.join(outcomes)}"
        )


def compare(paths):
    """The number of messages, and of each outcome, if the answers of all contestants are those of
    the first."""
    (_, first), *others = paths.items()
    expected = answers_of(first)
    for name, path in others:
        check(name, answers_of(path), expected)
    return len(expected), expected.sum(axis=0).tolist()


def in_new_process(function, *arguments):
    """Calls a function in a process that ends with it.

    The peak of memory of a program that is started counts that of the process that starts it.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


def measure(options):
    """Turns by contestant, and the number of messages, decisions and pushes."""
    turns = {name: [] for name in (ENGINE, *CONTESTANTS)}
    with tempfile.TemporaryDirectory(prefix="peers-day-") as folder:
        day = Day(options, Path(folder))
        day.compile("polars-numba")
        for number in range(options.rounds):
            for name in turns:
                print(f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr)
                turn = day.engine_turn() if name == ENGINE else day.peer_turn(name)
                turns[name].append(turn)
            # After the turns, so that nothing else runs between them.
            messages, totals = in_new_process(compare, {name: day.answers(name) for name in turns})
    pushes = sum(
        count for outcome, count in zip(OUTCOMES, totals, strict=True)
        if outcome.startswith("push/"))
    return turns, messages, sum(totals), pushes


def rows_of(turns, decisions):
    rows = []
    for name, each in turns.items():
        middle = {
            part: [statistics.median(clock) for clock in zip(*(getattr(turn, part)
                   for turn in each), strict=True)]
            for part in ("whole", "load", "decide")
        }
        rows.append({
            "suite": "peers-day", "contestant": name, **middle,
            "nsPerDecision": middle["decide"][0] / decisions * 1e9,
            "bytes": max(turn.bytes for turn in each),
            "turns": [asdict(turn) for turn in each],
        })
    engine = rows[0]
    for row in rows:
        for part in ("whole", "decide"):
            row[f"{part}ToEngine"] = [
                own / its if its > 0 else None
                for own, its in zip(row[part], engine[part], strict=True)
            ]
    return rows


def print_table(rows, load):
    print(f"{'':<19}{'whole s':>9}{'cpu s':>8}{'load s':>8}{'cpu s':>8}{'decide s':>10}{'cpu s':>8}"
          f"{'MB':>7}   whole engine x    decide engine x")
    for row in rows:
        clocks = row["whole"] + row["load"] + row["decide"]
        line = f"{row['contestant']:<19}" + "".join(
            f"{value:>{width}.2f}" for value, width in zip(clocks, (9, 8, 8, 8, 10, 8), strict=True)
        )
        line += f"{row['bytes'] / 1e6:>7.0f}"
        for part in ("whole", "decide"):
            wall, cpu = (f"{ratio:.1f}" if ratio else "-" for ratio in row[f"{part}ToEngine"])
            line += f"{wall:>8} (cpu {cpu})".ljust(19)
        print(line.rstrip())
    print("load of the machine in the last minute, before and after:",
          " and ".join(f"{value:.1f}" for value in load))


def main(arguments):
    options = parse(arguments)
    before = os.getloadavg()[0]
    try:
        turns, messages, decisions, pushes = measure(options)
    except (PeerError, TimingError, OSError, ValueError, KeyError) as error:
        print(f"day: {error}", file=sys.stderr)
        return 1
    load = [before, os.getloadavg()[0]]
    rows = rows_of(turns, decisions)
    print(f"{messages} messages, {decisions} decisions, {pushes} pushes, "
          f"{options.threads} threads each; all answers are equal")
    print_table(rows, load)
    if options.json:
        document = {"machine": {**machine(), "load": load},
                    "command": [os.path.basename(__file__), *arguments], "rows": rows}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
