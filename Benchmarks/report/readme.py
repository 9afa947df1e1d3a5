#!/usr/bin/env python3
"""Writes README.md's figures from the latest report of the suite day.

  readme.py           writes them between the two comments
  readme.py --check   fails, status 1, when they are not what the report says; before the first
                      report of a day, what stands there is somebody's own

Needs the standard library only, so that every machine that runs the tests can check them.
"""
import argparse
import json
import re
import sys
from pathlib import Path

import figures
from figures import count, flat, listed, must, number, ratio

ROOT = Path(__file__).resolve().parents[2]
BEGIN = "<!-- figures: begin -->"
END = "<!-- figures: end -->"
NAME = re.compile(r"\d{4}-\d\d-\d\d-day\.json")
THREADS = ("1 thread", "2 threads", "4 threads")
# What the rows of the table are called, and the lines of the report that they show.
ROWS = {
    "`evaluate --format counts` of the day, whole command, s": "the whole command, CSV to counts",
    "loading of that, CSV, s": "loading, CSV",
    "the same from NDJSON, s": "loading, NDJSON",
    "the day in order, G decisions/s": "the day in order, live",
    "the same in batches": "the day in batches",
    "messages up to two minutes out of order, M/s": "along the day, up to two minutes out of order",
    "messages at one instant, M/s": "time standing still",
    "ids of pushes as `Identifier`, M/s": "ids of pushes",
    "ids of pushes as bytes, M/s": "ids of pushes, bytes",
    "ids and devices of pushes as bytes, M/s": "ids and devices of pushes, bytes",
}
LATENCY = "along the day, up to two minutes out of order, {}: latency, percentile {}"
SIZES = ("5", "50", "500", "5000", "100000")


class ReadmeError(Exception):
    pass


def latest(reports):
    """The latest report's figures, if there are any; names begin with the date, and small runs end
    in "-quick"."""
    return max(
        (path for path in Path(reports).glob("*.json") if NAME.fullmatch(path.name)), default=None)


def cell(line):
    """The figure, and its bound in brackets."""
    if line is None:
        return ""
    bound = must(line)
    return number(line["value"]) + (f" ({bound})" if bound else "")


def table(lines):
    # A machine of two cores has no figures of four threads.
    columns = [each for each in THREADS if any(f", {each}" in name for name in lines)]
    header = "| | " + " | ".join(columns) + " |\n| --- |" + " ---: |" * len(columns) + "\n"
    rows = []
    for label, name in ROWS.items():
        cells = [
            cell(lines.get(f"{name}, {threads}") or lines.get(f"{name}, {threads}, first use"))
            for threads in columns
        ]
        rows.append(f"| {label} | " + " | ".join(cells) + " |\n")
    latencies = []
    for threads in columns:
        parts = [lines.get(LATENCY.format(threads, share)) for share in ("50", "99", "99.9")]
        latencies.append(", ".join(cell(part) for part in parts if part))
    label = "percentiles 50, 99 and 99.9 of a message out of order, µs"
    rows.append(f"| {label} | " + " | ".join(latencies) + " |\n")
    return header + "".join(rows)


def sizes_sentence(lines):
    def of(what):
        found = [(size, lines.get(f"{size} members and more: {what}")) for size in SIZES]
        return listed([f"{cell(line)} at {count(int(size))}" for size, line in found if line])

    return (
        "On one thread, by members of the conversation, ns a member: the first message ever "
        f"{of('first message ever')}; the first after a quarter of an hour "
        f"{of('first after a quarter of an hour')}.")


def replay_sentence(lines):
    plain, present = (
        next((line for name, line in lines.items() if name.startswith(start)), None)
        for start in ("replay, ", "replay with presence, "))
    if not plain or not present:
        return ""
    return (
        f"`replay` of the day takes {number(plain['value'])} s on all threads, with changes of "
        f"presence {number(present['value'])} s.")


def peers_sentence(lines):
    """The peers' whole time."""
    parts = []
    for tool in ("DuckDB", "Polars"):
        whole = lines.get(f"{tool}, whole")
        times = lines.get(f"{tool}, whole: whole, times push-fanout's")
        if whole and times:
            parts.append(
                f"{tool} takes {number(whole['value'])} s, {ratio(times['value'])} the time of "
                f"push-fanout ({must(times)})")
    if not parts:
        return ""
    return (
        f"For the same day, from the same files to the same answers, on all cores, "
        f"{listed(parts)}: [the rules of the game](Benchmarks/peers/README.md#the-day).")


def missed_sentence(document):
    lines = flat(document)
    bound = [line for line in lines.values() if must(line)]
    late = sum(map(figures.misses, bound))
    if not late:
        return f"All {len(bound)} figures with a bound hold it."
    return f"{late} of {len(bound)} figures with a bound miss it; the report names them."


def block(document, name):
    """What stands between the comments."""
    machine = document["machine"]
    lines = flat(document)
    sentences = [
        f"A generated day of a service (`generate --seed 5 --rates 1`: {count(document['users'])} "
        "users with ten memberships each, a message a user, "
        f"{number(lines['decisions of the day']['value'])} G decisions, "
        f"{number(lines['pushes of the day']['value'])} M pushes), ids looked up. "
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, "
        f"{machine['compiler'].split(' (')[0]}, {document['date']}, commit "
        f"`{document['commit']}`: [the report](reports/{name}.md) has every figure. What must be "
        "reached is in brackets. Bounds of deciding are shares of what the floor reaches in the same "
        "run, the least program that gives the same numbers; the report has those that were set for "
        "another machine beside them.",
        sizes_sentence(lines),
        replay_sentence(lines),
        peers_sentence(lines),
        missed_sentence(document),
    ]
    first, *rest = [sentence for sentence in sentences if sentence]
    return "\n".join([BEGIN, first, "", table(lines), *"\n\n".join(rest).split("\n"), END])


def replaced(readme, text):
    begin, end = readme.find(BEGIN), readme.find(END)
    if begin < 0 or end < begin:
        raise ReadmeError(f"README.md has no lines {BEGIN} and {END}")
    return readme[:begin] + text + readme[end + len(END):]


def first_difference(stored, expected):
    for old, new in zip(stored.splitlines(), expected.splitlines()):
        if old != new:
            return f"  README.md: {old}\n  report:    {new}"
    return "  one has more lines than the other"


def main(arguments, root=ROOT):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    options = parser.parse_args(arguments)
    readme = Path(root) / "README.md"
    try:
        path = latest(Path(root) / "reports")
        stored = readme.read_text(encoding="utf-8")
        if path is None:
            if not options.check:
                raise ReadmeError("no reports/<date>-day.json; make report SUITE=day writes one")
            replaced(stored, "")  # the comments are there
            return 0
        else:
            document = json.loads(path.read_text(encoding="utf-8"))
            expected = replaced(stored, block(document, path.stem))
    except (ReadmeError, OSError, ValueError, KeyError) as error:
        print(f"readme.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    if stored == expected:
        return 0
    if options.check:
        print(
            f"readme.py: README.md's figures are not those of reports/{path.name}; "
            f"python3 Benchmarks/report/readme.py writes them\n"
            f"{first_difference(stored, expected)}", file=sys.stderr)
        return 1
    readme.write_text(expected, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
