#!/usr/bin/env python3
"""The regression gate: fails when the engine does more than it did, and stays quiet otherwise.

  allocations   allocations and allocated bytes against
                Benchmarks/allocations.json, both ways
  instructions  instructions of the kernels under callgrind against Benchmarks/instructions.json,
                both ways
  pairs         times of the kernels against another revision, in turns

An improvement fails the first two as well: it is kept by storing it (make -C Benchmarks baseline), or it is
lost without anybody noticing. Times fail only when they are worse, and stay so.

Examples:

  Benchmarks/gate/gate.py --quick
  Benchmarks/gate/gate.py pairs --base v1.2.0
  Benchmarks/gate/gate.py --store
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "Benchmarks"
ALLOCATIONS = BENCHMARKS / "allocations.json"
INSTRUCTIONS = BENCHMARKS / "instructions.json"
# What `make` built, as the tests are (scripts/compilers-for-tests): its counts are those of -O.
PROGRAM = ROOT / ".build-tests/debug/fanout-bench"
# Has the benchmarks in the package (Package.swift), and leaves what `make` says.
DEVELOPED = {"PUSH_FANOUT_DEVELOP": os.environ.get("PUSH_FANOUT_DEVELOP", "") + " benchmarks"}

# Instructions and allocations may differ by so much, either way.
TOLERANCE = 0.02
# A kernel is slower when the median of the ratios is above this.
SLOWER = 1.10
FIRST_PAIRS = 10
MORE_PAIRS = 30


class Failure(Exception):
    """Something that fails the gate, in words for whoever has to do something about it."""


def run(command, **options):
    return subprocess.run([str(part) for part in command], check=True, text=True, **options)


def say(text):
    print(text, flush=True)


def build(package, product):
    command = [ROOT / "scripts" / "release-build", "--package-path", package, "--product", product]
    done = subprocess.run(
        [str(part) for part in command], env=dict(os.environ, **DEVELOPED), text=True, capture_output=True)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "error:" in line]
        raise Failure(f"{product} of {package} does not build:\n" + "\n".join(lines[:10]))
    return Path(package) / ".build/release" / product


# Allocations


def count_allocations():
    """Allocations and bytes of one run of each kind of work that has limits, by its name."""
    environment = dict(os.environ, LD_PRELOAD="libjemalloc.so.2", SWIFT_DETERMINISTIC_HASHING="1")
    done = run([PROGRAM, "kernels", "allocations"], env=environment, capture_output=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return {name: {"allocations": int(count), "bytes": int(size)} for name, count, size in lines}


def check_names(names, stored, what):
    """Both must name the same, or something is not checked without anybody noticing."""
    missing = sorted(set(names) - set(stored))
    if missing:
        raise Failure(f"{what}: nothing stored for {', '.join(missing)}; run make -C Benchmarks baseline")
    over = sorted(set(stored) - set(names))
    if over:
        raise Failure(f"{what}: stored but not measured: {', '.join(over)}")


def judge_allocations(stored, counted):
    check_names(counted, stored, "allocations")
    problems = []
    for what in ("allocations", "bytes"):
        problems += judge({name: each[what] for name, each in stored.items()},
                          {name: each[what] for name, each in counted.items()}, what)
    return problems


def stored_in(path, what):
    if not path.exists():
        raise Failure(f"{what}: nothing is stored; run make -C Benchmarks baseline")
    return json.loads(path.read_text())


def check_allocations():
    stored = stored_in(ALLOCATIONS, "allocations")
    counted = count_allocations()
    problems = judge_allocations(stored, counted)
    if problems:
        raise Failure("allocations are not what is stored:\n" + "\n".join(problems))
    say(f"allocations: {len(counted)} kinds of work allocate what is stored")


def store_allocations():
    ALLOCATIONS.write_text(json.dumps(count_allocations(), indent=2) + "\n")


# Instructions


def count_instructions():
    """Instructions of one run of each kernel, by its name."""
    folder = ROOT / ".build/callgrind"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # This valgrind stumbles over the debug information of this compiler.
    stripped = folder / "fanout-bench"
    run(["strip", "--strip-debug", "-o", stripped, PROGRAM])
    environment = {
        # As little as possible, as the environment is on the stack.
        "PATH": os.environ["PATH"],
        "SWIFT_DETERMINISTIC_HASHING": "1",
    }
    done = run(
        ["valgrind", "--tool=callgrind", "--toggle-collect=fanout_kernel",
         "--dump-after=fanout_kernel", f"--callgrind-out-file={folder}/out", stripped, "kernels", "count"],
        env=environment, capture_output=True)
    names = [line.split()[0] for line in done.stdout.splitlines()]
    return dict(zip(names, read_totals(folder, len(names)), strict=True))


def read_totals(folder, count):
    """The totals of callgrind's dumps: out.1 is what was counted up to the first one."""
    totals = []
    for number in range(1, count + 1):
        text = (Path(folder) / f"out.{number}").read_text()
        totals.append(int(re.search(r"^totals: (\d+)$", text, re.MULTILINE)[1]))
    return totals


def compiler():
    return run(["swift", "--version"], capture_output=True).stdout.splitlines()[0]


def judge(stored, counted, what, tolerance=TOLERANCE):
    """What differs by more than it may, in words. What is nothing stays so."""
    problems = []
    for name, count in counted.items():
        difference = abs(count - stored[name])
        if difference > tolerance * stored[name]:
            word = "more" if count > stored[name] else "fewer"
            share = f"{difference / stored[name]:.1%} " if stored[name] else ""
            problems.append(f"{name}: {count:,} {what}, {share}{word} than {stored[name]:,}")
    return problems


def judge_instructions(stored, counted):
    check_names(counted, stored, "instructions")
    return judge(stored, counted, "instructions")


def check_instructions():
    stored = stored_in(INSTRUCTIONS, "instructions")
    counted = count_instructions()
    problems = judge_instructions(stored["instructions"], counted)
    if problems:
        if stored["compiler"] != compiler():
            problems.append(f"(stored with {stored['compiler']}, counted with {compiler()})")
        raise Failure("instructions are not what is stored:\n" + "\n".join(problems))
    say(f"instructions: {len(counted)} kernels within {TOLERANCE:.0%} of what is stored")


def store_instructions():
    stored = {"compiler": compiler(), "instructions": count_instructions()}
    INSTRUCTIONS.write_text(json.dumps(stored, indent=2) + "\n")


# Pairs


def git(*arguments):
    return run(["git", "-C", ROOT, *arguments], capture_output=True).stdout.strip()


def find_base(wanted):
    """The revision to compare with: the one that is named, or where this branch left main."""
    if wanted:
        return git("rev-parse", "--verify", f"{wanted}^{{commit}}")
    for main in ("origin/main", "origin/master", "main", "master"):
        try:
            base = git("merge-base", "HEAD", main)
            break
        except subprocess.CalledProcessError:
            continue
    else:
        raise Failure("pairs: there is no main to compare with; name a revision with BASE=")
    if base == git("rev-parse", "HEAD") and not git("status", "--porcelain"):
        say("pairs: nothing has changed since main; comparing with the revision before")
        base = git("rev-parse", "HEAD^")
    return base


def build_base(base):
    """The kernels with the library of another revision.

    They are measured by the benchmarks of this one, so that a change of a benchmark is not taken for
    a change of the engine; where those do not fit its library any more, by its own.
    """
    folder = ROOT / ".build-base"
    subprocess.run(
        ["git", "-C", str(ROOT), "worktree", "remove", "--force", str(folder)],
        capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
    git("worktree", "prune")
    git("worktree", "add", "--detach", folder, base)
    theirs = folder / "Benchmarks"
    ours = shutil.ignore_patterns(".build*")
    if theirs.exists():
        theirs.rename(folder / "Benchmarks.own")
    shutil.copytree(BENCHMARKS, theirs, ignore=ours)
    try:
        return build(folder, "fanout-bench")
    except Failure as first:
        say(f"pairs: today's benchmarks do not build with {base[:10]}, its own are taken")
        shutil.rmtree(theirs)
        if not (folder / "Benchmarks.own").exists():
            raise Failure(f"pairs: {base[:10]} has no benchmarks to compare with") from first
        (folder / "Benchmarks.own").rename(theirs)
        # Before they were a part of the package, they were one of their own.
        return build(theirs if (theirs / "Package.swift").exists() else folder, "fanout-bench")


def times(program, names):
    command = [program, "kernels", "time", "--rounds", "5"] + (["--only", *names] if names else [])
    done = run(command, capture_output=True)
    return {name: float(time) for name, time in map(str.split, done.stdout.splitlines())}


def ratios(base, change, pairs, names=()):
    """The ratios of change to base, pair by pair, for each kernel that both have."""
    found = {}
    for number in range(pairs):
        # Who goes first takes turns, too.
        if number % 2:
            after, before = times(change, names), times(base, names)
        else:
            before, after = times(base, names), times(change, names)
        for name in before.keys() & after.keys():
            found.setdefault(name, []).append(after[name] / before[name])
    return found


def slower(found, limit=SLOWER):
    return sorted(name for name, each in found.items() if median(each) > limit)


def check_pairs(wanted):
    base = find_base(wanted)
    before = build_base(base)
    after = build(ROOT, "fanout-bench")
    found = ratios(before, after, FIRST_PAIRS)
    if not found:
        raise Failure(f"pairs: {base[:10]} and this revision have no kernel in common")
    for name in sorted(found):
        each = sorted(found[name])
        say(f"pairs: {name:28} {median(each):.3f}  ({each[0]:.3f}...{each[-1]:.3f})")
    suspects = slower(found)
    if suspects:
        say(f"pairs: {MORE_PAIRS} more pairs for {', '.join(suspects)}")
        found = ratios(before, after, MORE_PAIRS, suspects)
        problems = [
            f"{name}: {median(found[name]):.2f} times as long as at {base[:10]}"
            for name in slower(found)]
        if problems:
            raise Failure("slower, and it stays so:\n" + "\n".join(problems))
    say(f"pairs: no kernel takes more than {SLOWER:.2f} times as long as at {base[:10]}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "parts", nargs="*", metavar="part", help="allocations, instructions, pairs (default: all)")
    parser.add_argument("--quick", action="store_true", help="allocations and instructions")
    parser.add_argument("--base", default="", help="the revision for pairs (default: where the "
                        "branch left main)")
    parser.add_argument("--store", action="store_true", help="store what is measured now")
    arguments = parser.parse_args()
    known = ["allocations", "instructions", "pairs"]
    unknown = set(arguments.parts) - set(known)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    parts = arguments.parts or known[:2 if arguments.quick or arguments.store else 3]
    work = {
        "allocations": store_allocations if arguments.store else check_allocations,
        "instructions": store_instructions if arguments.store else check_instructions,
        "pairs": lambda: check_pairs(arguments.base),
    }
    failed = False
    for part in parts:
        start = time.monotonic()
        try:
            work[part]()
        except Failure as failure:
            failed = True
            print(f"FAILED {failure}", file=sys.stderr)
        except subprocess.CalledProcessError as error:
            failed = True
            command = " ".join(map(str, error.cmd))
            print(f"FAILED {part}: {command}: {error.stderr or error}", file=sys.stderr)
        say(f"{part}: {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
