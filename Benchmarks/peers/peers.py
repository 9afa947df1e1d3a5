#!/usr/bin/env python3
"""Other tools deciding the same messages in the same world as push-fanout, side by side."""
import argparse
import json
import os
import platform
import statistics
import sys
from importlib import metadata

import engine
from contestants import CONTESTANTS
from workers import PeerError, Worker, case_name
from world import KINDS, World

PACKAGES = ("duckdb", "polars", "numpy", "matrix-synapse")

EXAMPLES = """\
examples:
  peers.py world
  peers.py world --engine ../.build/release/fanout-bench --json peers.json
  peers.py world --sizes 1000,100000 --kinds plain,user --contestants numpy,duckdb-join

WORLD is a folder that "fanout-bench export --folder WORLD" has written. Each contestant must
reach the counts in it before a case is timed; otherwise the run ends without figures, status 1.
In the table, the first figure is a decision with cold caches, against the engine's packed-cold,
the second the same message again, against packed-warm.
"""


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [contestant.name for contestant in CONTESTANTS]
    parser.add_argument("world", metavar="WORLD", help="the exported world, a folder")
    parser.add_argument("--engine", metavar="PROGRAM", help="fanout-bench, for its own figures")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each contestant (5)")
    parser.add_argument("--json", metavar="FILE", help="writes machine, command and rows here")
    parser.add_argument("--sizes", type=_sizes, help="only groups of these many members")
    parser.add_argument("--kinds", type=_choice(KINDS), default=KINDS,
                        help=f"kinds of message ({','.join(KINDS)})")
    parser.add_argument("--contestants", type=_choice(names), default=names,
                        help=f"only these of {', '.join(names)}")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    return options


def _sizes(text):
    return {int(size) for size in text.split(",")}


def _choice(known):
    def parse_names(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name} is none of {', '.join(known)}")
        return names

    return parse_names


def machine():
    cpu = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            models = [line for line in file if line.startswith("model name")]
        cpu = models[0].split(":", 1)[1].strip() if models else cpu
    except OSError:
        pass
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in PACKAGES},
    }


def measure_case(workers, case, kind, members, rounds):
    """Lets the contestants take turns; one row for each."""
    for worker in workers:
        worker.ask("ready", kind)
    seconds = {worker.contestant.name: [] for worker in workers}
    for _ in range(rounds):
        for worker in workers:
            seconds[worker.contestant.name].append(worker.ask("turn"))
    rows = []
    for worker in workers:
        contestant = worker.contestant
        cold, warm = zip(*seconds[contestant.name], strict=True)
        middle = statistics.median(cold)
        rows.append(
            {
                "suite": "peers",
                "case": case_name(case, kind),
                "contestant": contestant.name,
                "members": members,
                "nsPerDecision": middle / members * 1e9,
                "spread": (max(cold) - min(cold)) / middle,
                "ratioToReference": None,
                "ratioToEngine": None,
                "leavesOut": contestant.leaves_out,
                "nsPerDecisionWarm": statistics.median(warm) / members * 1e9,
                "ratioToEngineWarm": None,
            }
        )
    return rows


def measure_peers(options, cases):
    workers = []
    rows = []
    try:
        for contestant in CONTESTANTS:
            if contestant.name in options.contestants:
                workers.append(Worker(contestant, options.world))
        for case, members in cases.items():
            taking_part = [
                worker for worker in workers
                if not worker.contestant.largest or members <= worker.contestant.largest
            ]
            for worker in taking_part:
                worker.ask("prepare", case)
            for kind in options.kinds:
                print(f"measuring {case_name(case, kind)}", file=sys.stderr)
                rows += measure_case(taking_part, case, kind, members, options.rounds)
    finally:
        for worker in workers:
            worker.stop()
    return rows


def measure_engine(options, world, cases):
    """The engine's figures by case; none without its program."""
    if not options.engine:
        return {}
    print("measuring the engine", file=sys.stderr)
    return engine.measure(options.engine, world.user_count, cases)


def print_table(rows):
    print(
        f"{'case':<16}{'contestant':<32}{'ns a decision':>14}{'spread':>8}{'engine x':>10}"
        f"{'warm':>12}{'engine x':>10}"
    )
    for row in rows:
        line = (
            f"{row['case']:<16}{row['contestant']:<32}{row['nsPerDecision']:>14.3f}"
            f"{row['spread'] * 100:>6.0f} %{_ratio(row['ratioToEngine'])}"
        )
        if "nsPerDecisionWarm" in row:
            line += f"{row['nsPerDecisionWarm']:>12.3f}{_ratio(row['ratioToEngineWarm'])}"
        print(line.rstrip())


def _ratio(ratio):
    return f"{ratio:>10.2f}" if ratio else " " * 10


def run(options):
    world = World(options.world)
    cases = {
        case: members for case, members in world.cases.items()
        if not options.sizes or members in options.sizes
    }
    if not cases:
        raise PeerError(f"{options.world}: no group of these sizes")
    names = {
        case_name(case, kind): members
        for case, members in cases.items() for kind in options.kinds
    }
    before = measure_engine(options, world, names)
    rows = measure_peers(options, cases)
    after = measure_engine(options, world, names)
    result = []
    for name, members in names.items():
        of_case = [row for row in rows if row["case"] == name]
        own = engine.rows(name, members, before.get(name, {}), after.get(name, {}))
        engine.set_ratios(of_case, own)
        result += sorted(of_case + own, key=lambda row: -row["nsPerDecision"])
    return result


def main(arguments):
    options = parse(arguments)
    try:
        rows = run(options)
    except (PeerError, OSError, ValueError, KeyError) as error:
        print(f"peers: {error}", file=sys.stderr)
        return 1
    print_table(rows)
    if options.json:
        command = [os.path.basename(__file__), *arguments]
        document = {"machine": machine(), "command": command, "rows": rows}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
