"""What a report's rows say: numbers as text, and the sentences that are computed from them."""
import math

ENGINE = ("packed-cold", "packed-warm", "packed-warm-counts", "packed-cold-2-threads")
NAMES = {
    "reference": "reference", "scalar": "plain loop", "packed-cold": "engine, cold",
    "packed-cold-2-threads": "engine, cold, two threads", "packed-warm": "engine, warm",
    "packed-warm-counts": "engine, warm, counts", "limit": "copy of the bytes",
}
CLOSE = 2.0  # "comes within twice the time"
THREADS_PAY = 1.2


def number(value):
    """At most three digits that mean something: 1,396, 12.7, 1.24, 0.041."""
    if value is None:
        return "–"
    if value >= 99.95:
        return f"{value:,.0f}"
    if value >= 9.995:
        return f"{value:.1f}"
    if value >= 0.995:
        return f"{value:.2f}"
    if value <= 0:
        return "0"
    places = 1 - math.floor(math.log10(value))
    return f"{value:.{places}f}"


def ratio(value):
    if value is None:
        return "–"
    if value >= 9.95:
        return f"{value:,.0f}×"
    return f"{value:.1f}×" if value >= 1.995 else f"{value:.2f}×"


def percent(share):
    return f"{share * 100:.0f} %"


def count(value):
    return f"{value:,}"


def listed(parts):
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def times(rows, suite):
    """Nanoseconds a decision by case and contestant, cases in the order of the rows."""
    found = {}
    for row in rows:
        if row["suite"] == suite:
            found.setdefault(row["case"], {})[row["contestant"]] = row["nsPerDecision"]
    return found


def series(rows, suite, contestant, field="nsPerDecision"):
    """(members, nanoseconds) of plain messages, by size."""
    return sorted(
        (row["members"], row[field]) for row in rows
        if row["suite"] == suite and row["contestant"] == contestant
        and row["case"].isdigit() and row.get(field)
    )


def case_text(case):
    """5000-user → 5,000 members, `user`."""
    size, _, kind = case.partition("-")
    return f"{count(int(size))} members" + (f", `{kind}`" if kind else "")


def cases_text(found):
    """[(case, ratio)] → 5 members (1.10×) and 50 members (1.8×)."""
    return listed([f"{case_text(case)} ({ratio(value)})" for case, value in found])


def engine_cases(rows):
    """The cases of the engine's own program, all contestants in one run."""
    return {**times(rows, "decide"), **times(rows, "kinds")}


def slower_than_scalar(rows, contestant="packed-cold"):
    """Cases in which the plain loop is faster than a contestant of the engine: its share."""
    return [
        (case, each["scalar"] / each[contestant]) for case, each in engine_cases(rows).items()
        if "scalar" in each and contestant in each and each["scalar"] < each[contestant]
    ]


def little_over_scalar(rows):
    """Cases in which the engine's first message wins, by less than twice."""
    return [
        (case, each["scalar"] / each["packed-cold"]) for case, each in engine_cases(rows).items()
        if "scalar" in each and 1 <= each["scalar"] / each["packed-cold"] < CLOSE
    ]


def threads_that_do_not_pay(rows):
    gains = [
        (case, each["packed-cold"] / each["packed-cold-2-threads"])
        for case, each in engine_cases(rows).items() if "packed-cold-2-threads" in each
    ]
    return [(case, gain) for case, gain in gains if gain < THREADS_PAY]


def peers_between(rows, field, least, most):
    """{contestant: [(case, ratio)]} of the peers whose ratio to the engine's like is in a range."""
    found = {}
    for row in rows:
        value = row.get(field)
        if row["suite"] == "peers" and value is not None and least <= value < most:
            found.setdefault(row["contestant"], []).append((row["case"], value))
    return found


def peers_warm_against_cold(rows):
    """Peers whose repeated decision takes less than the engine's first one."""
    engine = times(rows, "peers")
    found = {}
    for row in rows:
        warm = row.get("nsPerDecisionWarm")
        cold = engine.get(row["case"], {}).get("packed-cold")
        if row["suite"] == "peers" and warm and cold and warm < cold:
            found.setdefault(row["contestant"], []).append((row["case"], warm / cold))
    return found


def _by_contestant(found):
    return "; ".join(f"`{name}` at {cases_text(cases)}" for name, cases in found.items())


def losing(rows):
    """Sentences on where the engine loses or does not win by much."""
    sentences = []
    for contestant in ENGINE:
        lost = slower_than_scalar(rows, contestant)
        if lost:
            sentences.append(
                f"The plain loop is faster than `{contestant}`, by its share of the engine's "
                f"time, at {cases_text(lost)}.")
    if not slower_than_scalar(rows):
        sentences.append("The plain loop is nowhere faster than the engine's first message.")
    close = little_over_scalar(rows)
    if close:
        sentences.append(
            f"The engine is less than twice as fast as the plain loop at {cases_text(close)}.")
    idle = threads_that_do_not_pay(rows)
    if idle:
        sentences.append(
            f"A second thread gains less than {THREADS_PAY}× at {cases_text(idle)}.")
    if not any(row.get("ratioToEngine") is not None for row in rows):
        return [*sentences, "No peer was measured."]
    faster = peers_between(rows, "ratioToEngine", 0, 1)
    if faster:
        sentences.append(
            "Peers that are faster than the engine, both cold on as many threads, by their share "
            f"of its time: {_by_contestant(faster)}.")
    else:
        sentences.append("No peer is faster than the engine, both cold on as many threads.")
    near = peers_between(rows, "ratioToEngine", 1, CLOSE)
    if near:
        sentences.append(f"Peers that come within twice its time, cold: {_by_contestant(near)}.")
    else:
        sentences.append("No other peer comes within twice its time, cold.")
    near = peers_between(rows, "ratioToEngineWarm", 0, CLOSE)
    if near:
        sentences.append(f"Peers that come within twice its time, warm: {_by_contestant(near)}.")
    warm = peers_warm_against_cold(rows)
    if warm:
        sentences.append(
            "Peers whose repeated decision takes less than the engine's first message, by their "
            f"share of its time: {_by_contestant(warm)}.")
    return sentences


def replay_close(rows):
    """Slices in which the reference takes less than twice the engine's time, and by how much."""
    seconds = {}
    for row in rows:
        seconds.setdefault(row["case"], {})[row["contestant"]] = row["seconds"]
    found = []
    for case, each in seconds.items():
        if "reference" in each and each["reference"] < CLOSE * each["packed-1-thread"]:
            found.append((case, each["reference"] / each["packed-1-thread"]))
    return found


def replay_losing(rows):
    close = replay_close(rows)
    idle = [
        case for case in dict.fromkeys(row["case"] for row in rows)
        if _seconds(rows, case, "packed-1-thread") < THREADS_PAY * _seconds(
            rows, case, "packed-2-threads")
    ]
    sentences = []
    if close:
        shares = listed([f"{case} ({ratio(value)})" for case, value in close])
        sentences.append(
            "The reference takes less than twice the time of the engine on one thread for "
            f"{shares}.")
    else:
        sentences.append("The engine takes less than half of the reference's time everywhere.")
    if idle:
        sentences.append(f"A second thread gains less than {THREADS_PAY}× for {listed(idle)}.")
    return sentences


def _seconds(rows, case, contestant):
    return next(row["seconds"] for row in rows
                if (row["case"], row["contestant"]) == (case, contestant))


def flat(document):
    """{name: line} of all parts; a line that belongs to the one before has both names."""
    found = {}
    for part in document["parts"]:
        above = ""
        for line in part["lines"]:
            name = line["name"]
            if name.startswith("  "):
                name = f"{above}: {name.strip()}"
            elif name == "the same":
                name = f"{above}, {line['unit']}"
            else:
                above = name
            # Rates 2, whose lines have the names of the first.
            if name in found:
                name = f"{part['title']}: {name}"
            found[name] = line
    return found


def misses(line):
    least, most, value = line.get("least"), line.get("most"), line["value"]
    return least is not None and value < least or most is not None and value > most


def must(line):
    if line.get("least") is not None:
        return f"≥ {number(line['least'])}"
    return f"≤ {number(line['most'])}" if line.get("most") is not None else ""


def there(line):
    """What `must` is on the machine for which it was set, when that is not the same."""
    return number(line["bound"]) if line.get("bound") is not None else ""


def missed(document):
    """A sentence on what is not reached."""
    lines = flat(document)
    bound = [name for name, line in lines.items() if must(line)]
    late = [name for name in bound if misses(lines[name])]
    if not late:
        return f"All {len(bound)} figures that have a bound hold it."
    parts = [f"{name} ({number(lines[name]['value'])} {lines[name]['unit']}, must be "
             f"{must(lines[name])})" for name in late]
    return f"{len(late)} of {len(bound)} figures miss what they must reach: " + "; ".join(parts) + "."
