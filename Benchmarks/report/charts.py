"""Draws a report's charts as SVG: the same numbers give the same bytes."""
import math

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator  # noqa: E402

from figures import NAMES, number, series  # noqa: E402

matplotlib.rcParams.update({
    # Letters stay letters: the reader's own font draws them, and a chart can be searched.
    "svg.fonttype": "none",
    "svg.hashsalt": "push-fanout",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Helvetica", "Arial"],
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2,
    "lines.markersize": 7,
})
# Okabe and Ito's colours, which differ for colour-blind readers too; markers differ besides.
STYLES = {
    "reference": ("#000000", "o", "--"),
    "scalar": ("#D55E00", "s", "-"),
    "packed-cold": ("#0072B2", "^", "-"),
    "packed-cold-2-threads": ("#56B4E9", "v", "-"),
    "packed-warm": ("#009E73", "D", "-"),
    "packed-warm-counts": ("#CC79A7", "P", "-"),
    "limit": ("#777777", "x", ":"),
}
PACKED = {"packed-1-thread": "packed-cold", "packed-2-threads": "packed-cold-2-threads"}


def plain(value, _position=None):
    return f"{value:,.0f}" if value >= 1 else f"{value:.10f}".rstrip("0")


def short(value, _position=None):
    for unit, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def axes(title, x):
    """Log-log axes, with room at the right for the lines' names."""
    figure, axis = pyplot.subplots(figsize=(8.2, 5.2))
    figure.subplots_adjust(left=0.12, right=0.75, top=0.92, bottom=0.12)
    axis.set_title(title, loc="left")
    axis.set(xscale="log", yscale="log", xlabel=x, ylabel="nanoseconds a decision (log)")
    return figure, axis


def ticks(axis, values, formatter=short):
    axis.xaxis.set_major_locator(matplotlib.ticker.FixedLocator(values))
    axis.xaxis.set_major_formatter(FuncFormatter(formatter))
    axis.xaxis.set_minor_locator(NullLocator())


def name_ends(axis, ends):
    """Writes each line's name at its right end; names that would overlap move apart."""
    low, high = (math.log10(limit) for limit in axis.get_ylim())
    gap = 0.053
    places = sorted(((math.log10(y) - low) / (high - low), x, y, name, color)
                    for x, y, name, color in ends)
    heights = [place[0] for place in places]
    for _ in range(200):
        for lower in range(len(heights) - 1):
            missing = gap - (heights[lower + 1] - heights[lower])
            if missing > 1e-6:
                heights[lower] -= missing / 2
                heights[lower + 1] += missing / 2
    for height, (_, x, y, name, color) in zip(heights, places, strict=True):
        axis.annotate(
            name, (x, y), xytext=(1.04, height), textcoords="axes fraction", va="center",
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.9, "shrinkB": 5,
                        "relpos": (0, 0.5)})


def lines(path, title, x, drawn):
    """`drawn`: (name, style, points) a line; log-log."""
    figure, axis = axes(title, x)
    ends = []
    for name, (color, marker, dash), points in drawn:
        if points:
            axis.plot(*zip(*points, strict=True), color=color, marker=marker, linestyle=dash)
            ends.append((*points[-1], name, color))
    ticks(axis, sorted({point[0] for *_, points in drawn for point in points}))
    axis.yaxis.set_major_formatter(FuncFormatter(plain))
    axis.yaxis.set_minor_formatter(NullFormatter())
    name_ends(axis, ends)
    save(figure, path)


def label(contestant):
    """Shorter than in the text, for the room at the right."""
    return NAMES[contestant].replace("cold, two threads", "2 threads")


def of_engine(rows, contestants):
    return [(label(name), STYLES[name], series(rows, "decide", name)) for name in contestants]


def peers(path, rows):
    """Points, not bars: a bar's length says nothing on a log axis."""
    largest = {}
    for row in rows:
        if row["suite"] == "peers" and row["case"].isdigit():
            name = row["contestant"]
            if name not in largest or row["members"] > largest[name]["members"]:
                largest[name] = row
    members = max(row["members"] for row in largest.values())
    at = f"{short(members)} members"
    shown = []
    for name, row in largest.items():
        if "nsPerDecisionWarm" in row:
            if row["members"] < members:
                name += f", {short(row['members'])} members"
            shown.append((name, row["nsPerDecision"], row["nsPerDecisionWarm"]))
    shown.sort(key=lambda each: each[1])
    own = {name: row["nsPerDecision"] for name, row in largest.items()}
    if "packed-cold-2-threads" in own:
        shown.insert(0, ("push-fanout, two threads", own["packed-cold-2-threads"], None))
    shown.insert(0, ("push-fanout", own["packed-cold"], own["packed-warm"]))
    figure, axis = pyplot.subplots(figsize=(8.2, 0.36 * len(shown) + 2))
    height = figure.get_figheight()
    figure.subplots_adjust(left=0.35, right=0.95, top=1 - 0.5 / height, bottom=1.1 / height)
    axis.set_title(f"Nanoseconds a decision, a message to {at}", loc="left", x=-0.56)
    axis.set(xscale="log", xlabel="nanoseconds a decision (log)")
    places = range(len(shown))
    for place, (_, cold, warm) in zip(places, shown, strict=True):
        axis.plot([cold, warm or cold], [place, place], color="#bbbbbb", linewidth=1.5, zorder=1)
    axis.plot([each[1] for each in shown], places, "^", color="#0072B2", linestyle="",
              label="first message (cold), with its figure")
    warm = [(each[2], place) for place, each in zip(places, shown, strict=True) if each[2]]
    axis.plot(*zip(*warm, strict=True), "D", color="#009E73", linestyle="",
              label="the same again (warm)")
    for place, (_, cold, again) in zip(places, shown, strict=True):
        axis.annotate(number(cold), (max(cold, again or 0), place), xytext=(9, 0),
                      textcoords="offset points", va="center", fontsize=11)
    axis.set_yticks(places, [each[0] for each in shown])
    axis.set_ylim(len(shown) - 0.4, -0.6)
    axis.margins(x=0.12)
    axis.xaxis.set_major_formatter(FuncFormatter(plain))
    axis.xaxis.set_minor_formatter(NullFormatter())
    figure.legend(loc="lower center", ncols=2, frameon=False)
    save(figure, path)


def decide(folder, document):
    """[(file, alternative text)]"""
    rows = document["rows"]
    users = f"{short(document['users'])} users"
    cold = ["reference", "scalar", "packed-cold", "packed-cold-2-threads", "limit"]
    warm = ["reference", "scalar", "packed-warm", "packed-warm-counts", "limit"]
    lines(folder / "cold.svg", f"First message after windows have turned, {users}",
          "members of the group (log)", of_engine(rows, cold))
    lines(folder / "warm.svg", f"The next message, {users}", "members of the group (log)",
          of_engine(rows, warm))
    peers(folder / "peers.svg", rows)
    return [
        ("cold.svg", "Cost of a decision against group size, first message, log-log: "
                     "reference, plain loop, engine on one and two threads, a copy of the bytes"),
        ("warm.svg", "Cost of a decision against group size, next message, log-log: "
                     "reference, plain loop, engine with and without a reason for each member"),
        ("peers.svg", "Cost of a decision of other tools and of push-fanout, first message and "
                      "the same message again, log axis"),
    ]


def replay(folder, document):
    rows = document["rows"]
    cases = list(dict.fromkeys(row["case"] for row in rows))
    figure, axis = pyplot.subplots(figsize=(8.2, 0.95 * len(cases) + 1.7))
    figure.subplots_adjust(left=0.22, right=0.97, bottom=0.75 / figure.get_figheight(),
                           top=1 - 0.75 / figure.get_figheight())
    least = min(row["seconds"] for row in rows)
    most = max(row["seconds"] for row in rows)
    contestants = ("packed-1-thread", "packed-2-threads", "reference")
    for place, contestant in enumerate(contestants):
        own = [row for row in rows if row["contestant"] == contestant]
        at = [cases.index(row["case"]) + (place - 1) * 0.27 for row in own]
        color = STYLES[PACKED.get(contestant, contestant)][0]
        color = "#555555" if contestant == "reference" else color
        axis.barh(at, [row["seconds"] for row in own], height=0.24, color=color,
                  label=contestant.replace("packed-", "engine, ").replace("-", " "))
        for y, row in zip(at, own, strict=True):
            axis.annotate(
                f"{number(row['seconds'])} s, {short_rate(row['decisionsASecond'])} decisions/s",
                (row["seconds"], y), xytext=(4, 0), textcoords="offset points", va="center",
                fontsize=10)
    for one in document["leftOut"]:
        place = contestants.index(one["contestant"]) - 1
        y = cases.index(one["case"]) + place * 0.27
        axis.annotate(f"{one['contestant']} left out", (least / 2, y), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=10)
    decisions = {row["case"]: row["decisions"] for row in rows}
    axis.set_yticks(range(len(cases)), [
        f"{case}\n{short_rate(decisions[case])} decisions" for case in cases])
    axis.set_ylim(len(cases) - 0.5, -0.5)
    axis.set(xscale="log", xlabel="seconds, whole command (log)")
    # The labels at the bars' ends take about half of the width.
    axis.set_xlim(least / 2, most * (most / least) ** 0.6 * 6)
    axis.xaxis.set_major_formatter(FuncFormatter(plain))
    axis.grid(axis="y", visible=False)
    figure.legend(loc="upper left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
    save(figure, folder / "day.svg")
    return [("day.svg", "Seconds for a day's messages with the engine on one and two threads and "
                        "with the reference, log axis, with decisions a second")]


def short_rate(value):
    for unit, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{number(value / unit)}{letter}"
    return str(value)


DRAW = {"day": lambda folder, document: [], "commands": lambda folder, document: [],
        "decide": decide, "replay": replay}
