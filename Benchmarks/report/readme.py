#!/usr/bin/env python3
"""Writes the figures of README.md and of docs/figures.md from the latest report of the suite day.

  readme.py           writes them between two comments of each page, and docs/figures.svg
  readme.py --check   fails, status 1, when they are not what the report says; before the first
                      report of a day, what stands there is somebody's own

Needs the standard library only, so that every machine that runs the tests can check them.
"""
import argparse
import json
import re
import sys
from pathlib import Path

import bounds
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
MESSAGES = ("first message ever", "first after a quarter of an hour", "next message")
PEERS = ("DuckDB", "Polars", "Polars and Numba")


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


def sizes_table(lines):
    """Nanoseconds a member by the size of the conversation, on one thread."""
    rows = []
    for size in SIZES:
        cells = [cell(lines.get(f"{size} members and more: {what}")) for what in MESSAGES]
        if any(cells):
            rows.append(f"| {count(int(size))} | " + " | ".join(cells) + " |\n")
    header = "| members | " + " | ".join(MESSAGES) + " |\n| ---: |" + " ---: |" * len(MESSAGES)
    title = "Nanoseconds a member, by the size of the conversation, on one thread:"
    return f"{title}\n\n{header}\n" + "".join(rows)


def beginning(lines, start):
    return next((line for name, line in lines.items() if name.startswith(start)), None)


def replay_sentence(lines):
    plain, present = beginning(lines, "replay, "), beginning(lines, "replay with presence, ")
    if not plain or not present:
        return ""
    return (
        f"`replay` of the day takes {number(plain['value'])} s on all threads, and "
        f"{number(present['value'])} s with changes of presence.")


def peers_sentence(lines):
    """The peers' whole time."""
    parts = []
    for tool in PEERS:
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
        f"{listed(parts)}: [the rules of the game](../Benchmarks/peers/README.md#the-day).")


def missed_sentence(document):
    lines = flat(document)
    bound = [line for line in lines.values() if must(line)]
    late = sum(map(figures.misses, bound))
    if not late:
        return f"All {len(bound)} figures with a bound hold it."
    return f"{late} of {len(bound)} figures with a bound miss it; the report names them."


def machine_of(document):
    machine = document["machine"]
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, "
        f"{machine['compiler'].split(' (')[0]}, {document['date']}, commit `{document['commit']}`")


def day_of(document):
    lines = flat(document)
    return (
        "The day is generated (`generate --seed 5 --rates 1`): "
        f"{count(document['users'])} users with ten memberships each, who send a message each. "
        f"These are {number(lines['decisions of the day']['value'])} G decisions, of which "
        f"{number(lines['pushes of the day']['value'])} M are pushes.")


def short_rows(lines):
    """The rows of README.md: what, its figure, and the figures to compare it with."""
    def of(name, unit=""):
        line = lines.get(name) or lines.get(f"{name}, first use")
        return f"{number(line['value'])}{unit and ' ' + unit}" if line else ""

    def after(words, figure):
        return figure and f"{words} {figure}"

    late = LATENCY.format("1 thread", "{}")
    floor = "the floor, along the day, 1 thread: latency, percentile {}"
    replay, present = beginning(lines, "replay, "), beginning(lines, "replay with presence, ")
    loading = lines.get("loading, CSV, 1 thread")
    return [
        ("the day, CSV files to counts, all cores", of("push-fanout, whole", "s"),
         ", ".join(f"{tool} {of(f'{tool}, whole', 's')}" for tool in PEERS
                   if f"{tool}, whole" in lines)),
        ("loading its settings, one thread", of("loading, CSV, 1 thread", "s"),
         after("must be", loading and f"{must(loading)} s")),
        ("deciding it, one thread", of("the day in order, live, 1 thread", "G decisions/s"),
         after("floor", of("the floor, the day in order, 1 thread"))),
        ("one message, percentiles 50 and 99",
         after(f"{of(late.format(50))} and", of(late.format(99), "µs")),
         after(f"floor {of(floor.format(50))} and", of(floor.format(99)))),
        ("first message to 100,000 members",
         of("100000 members and more: first message ever", "ns a member"),
         after("floor", of("the floor, states of 20000...100000 members"))),
        ("`replay`, all cores", replay and f"{number(replay['value'])} s",
         after("with presence", present and f"{number(present['value'])} s")),
    ]


def short_block(document, name):
    """What stands between the comments of README.md."""
    machine = document["machine"]
    decisions = flat(document)["decisions of the day"]["value"]
    rows = [f"| {what} | {figure} | {beside or ''} |\n" for what, figure, beside
            in short_rows(flat(document)) if figure]
    return "\n".join([
        BEGIN,
        f"{machine['cpu']}, {machine['cores']} cores, {document['date']} "
        f"([report](reports/{name}.md)); {number(decisions)} G decisions of "
        f"{count(document['users'])} users with ten memberships. The *floor* is a C "
        "program that computes the same with the least work.",
        "", "| what | figure | beside |\n| --- | ---: | --- |\n" + "".join(rows) + END])


def long_block(document, name):
    """What stands between the comments of docs/figures.md."""
    lines = flat(document)
    sentences = [
        f"{machine_of(document)}: [the report](../reports/{name}.md) has every figure. "
        f"{day_of(document)}",
        "What a figure must reach is in brackets. For deciding it is a share of what the *floor* "
        "reaches in the same run: a C program that computes the same numbers with the least work. "
        "The report also has the bounds that were set on another machine.",
        "![Each figure as a dot on a line that ends at its bound](figures.svg)",
        missed_sentence(document),
        table(lines).rstrip("\n"),
        sizes_table(lines).rstrip("\n"),
        replay_sentence(lines),
        peers_sentence(lines),
    ]
    return "\n".join([BEGIN, "\n\n".join(filter(None, sentences)), END])


def replaced(page, stored, text):
    begin, end = stored.find(BEGIN), stored.find(END)
    if begin < 0 or end < begin:
        raise ReadmeError(f"{page} has no lines {BEGIN} and {END}")
    return stored[:begin] + text + stored[end + len(END):]


def first_difference(page, stored, expected):
    for old, new in zip(stored.splitlines(), expected.splitlines()):
        if old != new:
            return f"  {page}: {old}\n  report: {new}"
    return "  one has more lines than the other"


def main(arguments, root=ROOT):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    options = parser.parse_args(arguments)
    root = Path(root)
    try:
        stored = {page: (root / page).read_text(encoding="utf-8") for page in PAGES}
        path = latest(root / "reports")
        if path is None:
            if not options.check:
                raise ReadmeError("no reports/<date>-day.json; make -C Benchmarks report SUITE=day writes one")
            for page, text in stored.items():
                replaced(page, text, "")  # the comments are there
            return 0
        document = json.loads(path.read_text(encoding="utf-8"))
        expected = {
            page: replaced(page, stored[page], block(document, path.stem))
            for page, block in PAGES.items()}
        expected[CHART] = bounds.chart(document)
        chart = root / CHART
        stored[CHART] = chart.read_text(encoding="utf-8") if chart.exists() else ""
    except (ReadmeError, OSError, ValueError, KeyError) as error:
        print(f"readme.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    changed = [page for page in expected if stored[page] != expected[page]]
    for page in changed:
        if options.check:
            print(
                f"readme.py: {page}'s figures are not those of reports/{path.name}; "
                f"python3 Benchmarks/report/readme.py writes them\n"
                f"{first_difference(page, stored[page], expected[page])}", file=sys.stderr)
        else:
            (root / page).write_text(expected[page], encoding="utf-8")
    return 1 if options.check and changed else 0


PAGES = {"README.md": short_block, "docs/figures.md": long_block}
CHART = "docs/figures.svg"

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
