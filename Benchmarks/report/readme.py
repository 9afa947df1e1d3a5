#!/usr/bin/env python3
"""Writes README.md's figures from the latest report of the suite decide.

  readme.py           writes them between the two comments
  readme.py --check   fails, status 1, when they are not what the report says

Needs the standard library only, so that every machine that runs the tests can check them.
"""
import argparse
import json
import re
import sys
from pathlib import Path

import figures
from figures import count, number, ratio

ROOT = Path(__file__).resolve().parents[2]
BEGIN = "<!-- figures: begin -->"
END = "<!-- figures: end -->"
NAME = re.compile(r"\d{4}-\d\d-\d\d-decide\.json")


class ReadmeError(Exception):
    pass


def latest(reports):
    """The latest report's figures; names begin with the date, and small runs end in "-quick"."""
    found = sorted(path for path in Path(reports).glob("*.json") if NAME.fullmatch(path.name))
    if not found:
        raise ReadmeError("no reports/<date>-decide.json; make report SUITE=decide writes one")
    return found[-1]


def table(rows):
    lines = [
        "| members | reference | plain loop | engine, cold | engine, warm | cold vs reference "
        "| cold vs plain loop |\n",
        "| ---: " * 7 + "|\n",
    ]
    cases = figures.times(rows, "decide")
    for case in sorted(cases, key=int):
        each = cases[case]
        cold = each["packed-cold"]
        cells = [
            count(int(case)), number(each["reference"]), number(each["scalar"]), number(cold),
            number(each["packed-warm"]), ratio(each["reference"] / cold),
            ratio(each["scalar"] / cold),
        ]
        lines.append("| " + " | ".join(cells) + " |\n")
    return "".join(lines)


def engine_sentences(document):
    rows = document["rows"]
    cases = figures.times(rows, "decide")
    case = max(cases, key=int)
    each = cases[case]
    members = count(int(case))
    text = ""
    if "packed-cold-2-threads" in each:
        two = each["packed-cold-2-threads"]
        text += (
            f"On two threads {members} members take {number(two)} ns a decision instead of "
            f"{number(each['packed-cold'])}; two threads did "
            f"{document['machine']['secondCore']:.2f} times a spin loop's work of one. "
        )
    text += (
        f"Counts and the first who gets a push, warm, {number(each['packed-warm-counts'])} ns; a "
        f"copy of the bytes that must be read, {number(each['limit'])} ns."
    )
    turn = figures.minute_turn(rows, document["users"])
    if turn:
        text += (
            f" Setting the windows' bits of {count(document['users'])} users at a transition "
            f"takes {number(turn)} ms."
        )
    return text


def peers_sentence(rows):
    """All peers with cold caches, at the largest group that each decided."""
    peers = [
        row for row in rows
        if row["suite"] == "peers" and row["case"].isdigit() and row.get("ratioToEngine")
    ]
    if not peers:
        return ""
    members = max(row["members"] for row in peers)
    best = {}  # each tool's largest group, then its shortest time
    for row in peers:
        name = row["contestant"].removesuffix("-2-threads")
        figure = (-row["members"], row["nsPerDecision"])
        best[name] = min(best.get(name, figure), figure)
    parts = [
        f"`{name}` {number(time)}" + ("" if -size == members else f" (at {count(-size)})")
        for name, (size, time) in sorted(best.items(), key=lambda pair: pair[1])
    ]
    own = figures.times(rows, "peers")[str(members)]["packed-cold"]
    return (
        f"[Other tools](Benchmarks/peers/README.md) at {count(members)} members, cold, on one or "
        f"two threads, whichever is faster, ns: {', '.join(parts)}; the engine on one thread in "
        f"the same run {number(own)}."
    )


def losing_sentence(rows):
    """The short form of the report's paragraph: small groups, first messages, near peers."""
    parts = []
    lost = figures.slower_than_scalar(rows)
    close = figures.little_over_scalar(rows)
    near = figures.peers_between(rows, "ratioToEngine", 0, figures.CLOSE)
    if lost:
        parts.append(f"a plain loop is faster than a first message to {figures.cases_text(lost)}")
    if close:
        parts.append(
            "a plain loop takes less than twice the time of a first message to "
            f"{figures.cases_text(close)}")
    for name, cases in near.items():
        smallest = min(cases, key=lambda case: case[1])
        parts.append(
            f"`{name}` comes as near as {ratio(smallest[1])} the engine's cold time "
            f"({figures.case_text(smallest[0])})")
    if not parts:
        return "Nothing measured comes within twice the engine's cold time."
    return "Where it does not win by much: " + "; ".join(parts) + "."


def block(document, name):
    """What stands between the comments."""
    machine = document["machine"]
    rows = document["rows"]
    link = f"reports/{name}.md"
    sentences = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, "
        f"{machine['compiler'].split(' (')[0]}, {document['date']}, commit "
        f"`{document['commit']}`: [the report]({link}) has every figure and the charts. "
        f"{count(document['users'])} users, nanoseconds a decision:",
        engine_sentences(document),
        peers_sentence(rows),
        losing_sentence(rows),
    ]
    first, *rest = [sentence for sentence in sentences if sentence]
    return "\n".join([BEGIN, first, "", table(rows), *"\n\n".join(rest).split("\n"), END])


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
        document = json.loads(path.read_text(encoding="utf-8"))
        stored = readme.read_text(encoding="utf-8")
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
