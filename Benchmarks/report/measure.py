"""Runs the programs that measure, and puts what they write into one document a suite."""
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import replay

ROOT = Path(__file__).resolve().parents[2]
# Relative to the root, where everything runs: commands in a report hold on every machine.
SCRATCH = Path("Benchmarks/.build/report")
BENCH = "Benchmarks/.build/release/fanout-bench"
PEERS = "Benchmarks/peers/run"
PEER_SIZES = (500, 5_000, 100_000, 1_000_000)
USER_STEPS = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
MEMBERSHIPS_A_USER = 10


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


def decide(quick, users, _push_data):
    users = users or (1_000_000 if quick else 10_000_000)
    own, command = bench(
        "fanout-bench.json", "--users", str(users), *(["--rounds", "3"] if quick else []))
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


def steps(quick, users):
    """How many users there are, one run after the other."""
    most = users or (1_000_000 if quick else USER_STEPS[-1])
    return sorted({step for step in USER_STEPS if step < most} | {most})


def scaling(quick, users, _push_data):
    commands, rows, memory = [], [], []
    machine, rounds = None, 0
    for number in steps(quick, users):
        common = ["--users", str(number), *(["--rounds", "3"] if quick else [])]
        size = min(100_000, number)
        # Two runs: only what has no group to decide can hold so many memberships once, not thrice.
        turn, turn_command = bench(
            "turn.json", *common, "--suite", "turn",
            "--memberships", str(number * MEMBERSHIPS_A_USER))
        deciding, command = bench(
            "decide.json", *common, "--suite", "decide", "--filter", f"^{size}$")
        machine, rounds = deciding["machine"], deciding["rounds"]
        commands += [turn_command, command]
        memory.append(turn["memory"])
        rows += [{**row, "users": number} for row in turn["rows"] + deciding["rows"]]
    return {
        "machine": machine, "commands": commands, "rounds": rounds, "memory": memory,
        "rows": rows,
    }


def replay_day(quick, _users, push_data):
    # The smallest of runs, for what it says of the machine.
    machine = bench(
        "machine.json", "--users", "1000", "--rounds", "1", "--suite", "turn")[0]["machine"]
    try:
        return {"machine": machine, **replay.measure(ROOT, push_data, quick)}
    except replay.ReplayError as error:
        raise MeasureError(str(error)) from None


SUITES = {"decide": decide, "scaling": scaling, "replay": replay_day}
