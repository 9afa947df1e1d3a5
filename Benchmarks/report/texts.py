"""A report's text: what was asked, charts, tables, and where the figures come from."""
import figures
from figures import count, number, percent, ratio

TITLES = {
    "day": "A day of a service",
    "commands": "Whole commands",
    "decide": "Deciding one message, by group size",
    "replay": "A day of real messages, replayed",
}
MEASURED = {
    "commands": "whole commands of a store as multiples of `evaluate`; beside what each must reach",
    "day": "a generated day: whole commands, DuckDB and Polars, the engine; beside what each must reach",
    "decide": "ns a decision by group size, kinds of message, updates; peers",
    "replay": "a day's real messages with the command line",
}
ASKED = {
    "commands": (
        "What do the commands cost that stand around the engine? Each is a multiple of `evaluate "
        "--format counts` of the same world's day, in the same run; bounds are those of a million "
        "users with ten million memberships, on two cores."),
    "day": (
        "What does a day of a service cost, with messages to conversations of all sizes in the order "
        "of time, and does each figure reach what it must? The day is `generate --seed 5 --rates 1`: "
        "ten memberships a user, a message a user. Bounds are those of a million users, on one "
        "thread or as many as the line says, on a machine of four cores. Where the floor, the "
        "least program that gives the same numbers, does the same in the same run, a bound is a "
        "share of what the floor reaches here; *there* is the bound on the machine for which it "
        "was set. The peers' answers were "
        "compared with push-fanout's, message by message ([the rules of the game]"
        "(../Benchmarks/peers/README.md#the-day)); what the lines of the engine are is in "
        "[Benchmarks/README.md](../Benchmarks/README.md)."),
    "decide": (
        "What does it cost to give every member of a group an outcome with its reason, for groups "
        "of all sizes: the engine against the reference, a plain loop over the same rows, a copy "
        "of the bytes that must be read, and other tools ([who takes part, and by which rules]"
        "(../Benchmarks/peers/README.md))? *Cold* is the first message after quiet-hours windows "
        "have turned, *warm* the next one to the same group. All contestants gave the same answers "
        "before anything was timed, and took turns; figures are medians, the spread is the "
        "distance between the fastest and the slowest round as a share of the median."),
    "replay": (
        "How long does the command line take for a day of real messages, from reading the settings "
        "to the last decision: the engine on one and on two threads, and the reference? *Seconds* "
        "is the whole command by the clock on the wall, median of the runs; *decisions/s* is what "
        "the command says of itself, without the loading of the settings. The contestants gave the "
        "same numbers of decisions and pushes. Who wrote when is real, settings are drawn "
        "([data/README.md](../data/README.md))."),
}


def table(header, rows):
    """Everything but the first columns of text stands at the right."""
    names = [name for name, _ in header]
    marks = [mark for _, mark in header]
    lines = [names, marks, *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


TEXT, NUMBER = "---", "---:"


def engine_table(rows):
    header = [
        ("suite", TEXT), ("case", TEXT), ("contestant", TEXT), ("ns", NUMBER), ("spread", NUMBER),
        ("reference over it", NUMBER), ("over a copy", NUMBER)]
    return table(header, [
        [row["suite"], row["case"], f"`{row['contestant']}`", number(row["nsPerDecision"]),
         percent(row["spread"]), ratio(row["ratioToReference"]), ratio(row["ratioToLimit"])]
        for row in rows
    ])


def peers_table(rows):
    header = [
        ("case", TEXT), ("contestant", TEXT), ("cold, ns", NUMBER), ("spread", NUMBER),
        ("over engine", NUMBER), ("warm, ns", NUMBER), ("over engine, warm", NUMBER)]
    return table(header, [
        [row["case"], f"`{row['contestant']}`", number(row["nsPerDecision"]),
         percent(row["spread"]), ratio(row.get("ratioToEngine")),
         number(row.get("nsPerDecisionWarm")), ratio(row.get("ratioToEngineWarm"))]
        for row in rows
    ])


def leaves_out(rows):
    found = {row["contestant"]: row["leavesOut"] for row in rows if row.get("leavesOut")}
    return "".join(f"- `{name}`: {text}\n" for name, text in found.items())


def memory_table(loaded):
    header = [("users", NUMBER), ("memberships", NUMBER), ("conversations", NUMBER),
              ("bytes a user", NUMBER), ("bytes a membership", NUMBER),
              ("bytes an id, beyond its characters", NUMBER), ("MB in all", NUMBER)]
    return table(header, [
        [count(one["users"]), count(one["memberships"]), count(one["conversations"]),
         f"{one['bytesAUser']:.1f}", f"{one['bytesAMembership']:.1f}", f"{one['bytesAnID']:.1f}",
         number(one["totalBytes"] / 1e6)]
        for one in loaded
    ])


def day(document):
    header = [("what", TEXT), ("measured", NUMBER), ("unit", TEXT), ("must be", NUMBER),
              ("there", NUMBER), ("", TEXT)]
    sections = ["## What is not reached\n\n" + figures.missed(document) + "\n"]
    for part in document["parts"]:
        rows = []
        for line in part["lines"]:
            name = line["name"]
            name = "– " + name.strip() if name.startswith("  ") else name
            rows.append([name, number(line["value"]), line["unit"], figures.must(line),
                         figures.there(line), "missed" if figures.misses(line) else ""])
        sections.append(f"## {part['title']}\n\n" + table(header, rows))
    return sections


def decide(document):
    rows = document["rows"]
    own = [row for row in rows if row["suite"] != "peers"]
    peers = [row for row in rows if row["suite"] == "peers"]
    versions = ", ".join(
        f"{name} {version}" for name, version in document["peersMachine"].items()
        if name not in ("cpu", "cores"))
    sections = [
        "## Where we lose or do not win\n\n" + " ".join(figures.losing(rows)) + "\n",
        "## The engine\n\nNanoseconds a decision; for `update` a change. "
        "*reference over it* is the reference's time as a multiple of the contestant's, *over a "
        "copy* the contestant's as a multiple of `limit`.\n\n" + engine_table(own),
        "## Peers\n\nNanoseconds a decision; *over engine* is the contestant's time as a multiple "
        "of `packed-cold` (or `packed-cold-2-threads`), warm of `packed-warm`. The engine's rows "
        f"are from the same run. Versions: {versions}.\n\n" + peers_table(peers)
        + "\nWhat they leave out:\n\n" + leaves_out(peers),
        "## Memory of the world\n\n" + memory_table([document["memory"]]),
    ]
    return sections


def replay(document):
    rows = document["rows"]
    header = [
        ("slice", TEXT), ("contestant", TEXT), ("messages", NUMBER), ("decisions", NUMBER),
        ("pushes", NUMBER), ("seconds", NUMBER), ("spread", NUMBER), ("runs", NUMBER),
        ("decisions/s", NUMBER), ("reference over it", NUMBER)]
    slow = {row["case"]: row["seconds"] for row in rows if row["contestant"] == "reference"}
    text = table(header, [
        [row["case"], f"`{row['contestant']}`", count(row["messages"]), count(row["decisions"]),
         count(row["pushes"]), number(row["seconds"]), percent(row["spread"]), str(row["runs"]),
         count(row["decisionsASecond"]),
         ratio(slow[row["case"]] / row["seconds"] if row["case"] in slow else None)]
        for row in rows
    ])
    left = "".join(
        f"\n`{one['contestant']}` was left out for {one['case']}: {one['why']}.\n"
        for one in document["leftOut"])
    data = table([("file", TEXT), ("sha256", TEXT)],
                 [[one["file"], f"`{one['sha256']}`"] for one in document["data"]])
    return ["## Where we lose or do not win\n\n" + " ".join(figures.replay_losing(rows)) + "\n",
            "## Times\n\n" + text + left, "## Data\n\n" + data]


SECTIONS = {"day": day, "commands": day, "decide": decide, "replay": replay}


def origin(document):
    machine = document["machine"]
    commands = "\n".join(document["commands"])
    return (
        "## Where the figures come from\n\n"
        f"- Machine: {machine['cpu']}, {machine['cores']} cores, {machine['system']}; two threads "
        f"did {machine['secondCore']:.2f} times a spin loop's work of one; {machine['compiler']}\n"
        f"- Commit: `{document['commit']}`\n"
        f"- Data version: time-zone data {machine['timeZoneData']}"
        + ("; the slices' sha256 above" if document["suite"] == "replay" else "") + "\n"
        f"- Date: {document['date']}\n"
        f"- Command: `{document['made']}`, which ran\n\n```\n{commands}\n```\n")


def report(document, name, charts):
    """The whole text; `charts` are (file, alternative text), in the folder `name`."""
    suite = document["suite"]
    title = f"# {TITLES[suite]}: {document['date']}"
    if document["quick"]:
        title += " (a small, quick run)"
    pictures = "\n".join(f"![{text}]({name}/{file})\n" for file, text in charts)
    return "\n".join(
        [title + "\n", ASKED[suite] + "\n", pictures, *SECTIONS[suite](document),
         origin(document)])
