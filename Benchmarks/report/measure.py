"""Runs the programs that measure, and puts what they write into one document a suite."""
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import commands
import replay
import timing
import whole

ROOT = Path(__file__).resolve().parents[2]
# Relative to the root, where everything runs: commands in a report hold on every machine.
SCRATCH = Path("Benchmarks/.build/report")
BENCH = ".build/release/fanout-bench"
PEERS = "Benchmarks/peers/run"
PEER_SIZES = (500, 5_000, 100_000, 1_000_000)


class MeasureError(Exception):
    pass


def run(command, **environment):
    """Runs a command at the root, with its output on ours; the command as text."""
    text = " ".join([*(f"{name}='{value}'" for name, value in environment.items()),
                     shlex.join(command)])
    print(f"report: {text}", file=sys.stderr)
    status = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, stdout=sys.stderr).returncode
    if status != 0:
        raise MeasureError(f"exit status {status}: {text}")
    return text


def read(name):
    return json.loads((ROOT / SCRATCH / name).read_text(encoding="utf-8"))


def bench(name, *options):
    """A run of fanout-bench: its document and its command."""
    (ROOT / SCRATCH).mkdir(parents=True, exist_ok=True)
    command = run([BENCH, *options, "--report", str(SCRATCH / name)])
    return read(name), command


def day(quick, users, _push_data, rules="easemob"):
    """The day that a service has: the whole command, other tools, and the engine within a process.
    With the rules `open`, open rules' day beside it."""
    users = users or (100_000 if quick else 1_000_000)
    world = f"Benchmarks/.build/peers-day-{users}"  # that of peers/run
    (ROOT / SCRATCH).mkdir(parents=True, exist_ok=True)
    try:
        whole, ran = commands.measure(ROOT, SCRATCH, world, users, quick)
    except timing.TimingError as error:
        raise MeasureError(str(error)) from None
    ran.append(run(
        [PEERS, "--day", "--messages", "all", "--rounds", "1" if quick else "3",
         "--json", str(SCRATCH / "peers-day.json")],
        USERS=str(users)))
    peers = read("peers-day.json")
    engine, command = bench(
        "day.json", "--users", str(users), "--suite", "day", "--suite", "service")
    newer, newer_command = bench(
        "day-2.json", "--users", str(users), "--suite", "day", "--rates", "2")
    ran += [command, newer_command]
    beside = []
    if rules == "open":
        found, open_command = bench("day-open.json", "--users", str(users), "--suite", "open")
        ran.append(open_command)
        beside.append({"title": "Open rules, beside Easemob's", "lines": found["lines"]})
    return {
        "machine": engine["machine"],
        "commands": ran,
        "users": users,
        "peersMachine": peers["machine"],
        "parts": [
            {"title": "The command line", "lines": whole},
            {"title": "Beside other tools, on all cores",
             "lines": commands.peers_lines(peers["rows"])},
            {"title": "The engine in a process", "lines": engine["lines"]},
            {"title": "The engine, with rates 2", "lines": newer["lines"]},
            *beside,
        ],
    }


def machine():
    """What the machine is, by the smallest of runs."""
    return bench(
        "machine.json", "--users", "1000", "--rounds", "1", "--suite", "update")[0]["machine"]


def whole_commands(quick, users, _push_data):
    """Whole commands on the world of the day, as multiples of `evaluate`."""
    users = users or (100_000 if quick else 1_000_000)
    found = machine()
    try:
        parts, ran = whole.measure(
            ROOT, SCRATCH, f"Benchmarks/.build/commands-{users}", users, quick)
    except timing.TimingError as error:
        raise MeasureError(str(error)) from None
    return {"machine": found, "commands": ran, "users": users, "parts": parts}


def decide(quick, users, _push_data):
    users = users or (1_000_000 if quick else 10_000_000)
    own, command = bench(
        "fanout-bench.json", "--users", str(users), "--suite", "decide", "--suite", "kinds",
        "--suite", "update", *(["--rounds", "3"] if quick else []))
    sizes = [size for size in PEER_SIZES[:3 if quick else 4] if size <= users]
    options = ["--rounds", "2", "--kinds", "plain"] if quick else []
    peers_command = run(
        [PEERS, *options, "--json", str(SCRATCH / "peers.json")],
        USERS=str(users), SIZES=" ".join(str(size) for size in sizes))
    peers = read("peers.json")
    return {
        "machine": own["machine"],
        "commands": [command, peers_command],
        "users": users,
        "rounds": own["rounds"],
        "memory": own["memory"],
        "peersMachine": peers["machine"],
        "rows": own["rows"] + peers["rows"],
    }


def replay_day(quick, _users, push_data):
    found = machine()
    try:
        return {"machine": found, **replay.measure(ROOT, push_data, quick)}
    except replay.ReplayError as error:
        raise MeasureError(str(error)) from None


SUITES = {"day": day, "commands": whole_commands, "decide": decide, "replay": replay_day}
