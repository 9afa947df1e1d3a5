#!/usr/bin/env python3
"""Compares push-fanout with the independent evaluator beside this file.

   differential.py PROGRAM [--rules RULES] [--worlds N] [--defects N] [--first SEED]

Random worlds of the rule sets must give the same rows, byte by byte; files with one defect must be
refused at the line that holds it; the slices of data/ must give the same rows; and of what the cases
of importers (Tests/PushImportTests/Cases) import, the evaluator must push to whom they say. A failure names the
seed, and leaves its files where it says. Closes with 'N passed, N failed'.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
RULES = ("easemob", "rongcloud", "open")
DATA = os.path.join(HERE, "..", "..", "data")
CASES = os.path.join(HERE, "..", "PushImportTests", "Cases")


def run(*command):
    return subprocess.run(command, capture_output=True)


def oracle(*arguments):
    return run(sys.executable, os.path.join(HERE, "oracle.py"), "evaluate", *arguments)


def make(script, folder, *arguments):
    done = run(sys.executable, os.path.join(HERE, script), "--out", folder, *arguments)
    if done.returncode != 0:
        sys.exit(f"{script} {arguments}: {done.stderr.decode()}")


def same_rows(program, arguments):
    """None, or what differs."""
    expected = oracle(*arguments)
    found = run(program, "evaluate", *arguments)
    if found.returncode != expected.returncode:
        return f"exit status {found.returncode} instead of {expected.returncode}: {found.stderr.decode()}"
    if found.stdout == expected.stdout:
        return None if expected.stdout else "no rows to compare"
    pairs = zip(expected.stdout.splitlines(), found.stdout.splitlines())
    for number, (left, right) in enumerate(pairs, 1):
        if left != right:
            return f"row {number}: {right.decode()} instead of {left.decode()}"
    return "another number of rows"


def world(program, seed, rules, folder):
    make("fuzz_world.py", folder, "--seed", str(seed), "--rules", rules)
    files = ["--settings", f"{folder}/settings.ndjson", "--messages", f"{folder}/messages.ndjson"]
    rows = files + ["--format", "ndjson", "--devices"]
    return same_rows(program, rows) or same_engines(program, files)


def same_engines(program, files):
    """None, or in which format the engine and the reference differ, on any number of threads."""
    for form, threads in (("csv", "1"), ("counts", "2"), ("pushlist", "7")):
        reference = run(program, "evaluate", *files, "--format", form, "--engine", "reference")
        packed = run(program, "evaluate", *files, "--format", form, "--threads", threads)
        if (packed.returncode, packed.stdout) != (reference.returncode, reference.stdout):
            return f"{form} on {threads} threads is another than the reference's"
    return None


def defect(program, seed, rules, folder):
    make("fuzz_bad.py", folder, "--seed", str(seed), "--rules", rules, "--debatable")
    with open(f"{folder}/expect.json", encoding="utf-8") as file:
        expect = json.load(file)
    found = run(
        program, "evaluate", "--settings", f"{folder}/settings.ndjson",
        "--messages", f"{folder}/messages.ndjson", "--format", "ndjson")
    errors = found.stderr.decode(errors="replace").rstrip("\n")
    if expect.get("ok"):
        return None if found.returncode == 0 else f"{expect['what']}: refused: {errors}"
    place = f"{folder}/{expect['file']}:{expect['line']}: "
    if found.returncode == 1 and errors.startswith(place) and "\n" not in errors:
        return None
    return f"{expect['what']}: status {found.returncode}, {errors!r} instead of {place}…"


def slices(program):
    for messages in sorted(glob.glob(os.path.join(DATA, "*.messages.csv.gz"))):
        start = messages[: -len("messages.csv.gz")]
        with tempfile.TemporaryDirectory() as folder:
            app = os.path.join(folder, "app.ndjson")
            with open(app, "w", encoding="utf-8") as file:
                file.write('{"kind":"app"}\n')
            yield os.path.basename(start), same_rows(program, [
                "--settings", app, "--users", start + "users.csv.gz",
                "--members", start + "members.csv.gz", "--messages", messages, "--format", "ndjson"])


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def imported(program):
    for path in sorted(glob.glob(os.path.join(CASES, "*", "*", "case.json"))):
        folder = os.path.dirname(path)
        with open(path, encoding="utf-8") as file:
            case = json.load(file)
        if "fails" in case:
            continue
        arguments = [os.path.join(folder, x) if x.endswith(".json") else x for x in case["args"]]
        with tempfile.TemporaryDirectory() as scratch:
            made = os.path.join(scratch, "world")
            done = run(program, "import", case["system"], os.path.join(folder, case["input"]),
                       "--output", made, "-q", *arguments)
            decided = oracle("--settings", f"{made}/settings.ndjson", "--messages",
                             f"{made}/messages.ndjson", "--format", "pushlist")
        wanted = {(row["message"], row["user"]) for row in lines(os.path.join(folder, "expected.ndjson"))
                  if row.get("imported", row["push"])}
        found = {(row["message"], user) for row in map(json.loads, decided.stdout.splitlines())
                 for user in row["push"]}
        problem = (done.stderr + decided.stderr).decode()
        difference = None if found == wanted and not problem else f"{sorted(found ^ wanted)} {problem}"
        yield f"import of {os.path.relpath(folder, CASES)}", difference


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--rules", choices=RULES, help="worlds and defects of these rules alone, no slices")
    parser.add_argument("--worlds", type=int, default=100, help="random worlds of each rule set")
    parser.add_argument("--defects", type=int, default=1100, help="files with one defect, for the vendors and for open rules each")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    passed = failed = 0

    def note(name, difference, folder=None):
        nonlocal passed, failed
        if difference is None:
            passed += 1
        else:
            failed += 1
            print(f"{name}: {difference}" + (f" (files in {folder})" if folder else ""))

    rule_sets = [options.rules] if options.rules else RULES
    for check in () if options.rules else (slices, imported):
        for name, difference in check(options.program):
            note(name, difference)
    seeds = range(options.first, options.first + max(options.worlds, options.defects))
    for seed in seeds:
        jobs = []
        if seed < options.first + options.worlds:
            jobs += [(f"{rules} world, seed {seed}", world, (seed, rules)) for rules in rule_sets]
        if seed < options.first + options.defects:
            kinds = {"open": ["open"], None: ["vendors", "open"]}.get(options.rules, ["vendors"])
            jobs += [(f"{kind} defect, seed {seed}", defect, (seed, kind)) for kind in kinds]
        for name, check, arguments in jobs:
            folder = tempfile.mkdtemp(prefix="push-fanout-")
            difference = check(options.program, *arguments, folder)
            note(name, difference, folder)
            if difference is None:
                for file in glob.glob(folder + "/*"):
                    os.remove(file)
                os.rmdir(folder)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
