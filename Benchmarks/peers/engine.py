"""push-fanout's own figures, from its benchmark program in the same run."""
import json
import statistics
import subprocess

from contestants import CONTESTANTS
from workers import PeerError

# The engine's like of a contestant, by threads: the first message after windows have turned, a
# reason for every member. And the next message, for which one thread is enough.
LIKE = {1: "packed-cold", 2: "packed-cold-2-threads"}
LIKE_WARM = "packed-warm"


def measure(program, users, cases):
    """Nanoseconds a decision by case and the engine's contestant, for those cases that it has."""
    pattern = f"^({'|'.join(cases)})$"
    suites = ["--suite", "decide", "--suite", "kinds"]
    command = [program, *suites, "--filter", pattern, "--users", str(users), "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise PeerError(f"{program}: {error.strerror}") from None
    if done.returncode != 0 and "No case matches" not in done.stderr:
        raise PeerError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    figures = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        figures.setdefault(row["case"], {})[row["contestant"]] = row["nsPerDecision"]
    return figures


def rows(case, members, before, after):
    """One row for each of the engine's contestants; "runs" are the medians before and after."""
    result = []
    for contestant in before.keys() & after.keys():
        runs = [before[contestant], after[contestant]]
        middle = statistics.median(runs)
        result.append(
            {
                "suite": "peers",
                "case": case,
                "contestant": contestant,
                "members": members,
                "nsPerDecision": middle,
                "spread": (max(runs) - min(runs)) / middle,
                "ratioToReference": None,
                "ratioToEngine": None,
                "leavesOut": "",
                "runs": runs,
            }
        )
    return result


def set_ratios(rows, own):
    """Compares each row with the engine on as many threads, or on one where it has no such row."""
    figures = {row["contestant"]: row["nsPerDecision"] for row in own}
    threads = {contestant.name: contestant.threads for contestant in CONTESTANTS}
    for row in rows:
        cold = figures.get(LIKE[threads[row["contestant"]]], figures.get(LIKE[1]))
        warm = figures.get(LIKE_WARM)
        row["ratioToEngine"] = row["nsPerDecision"] / cold if cold else None
        row["ratioToEngineWarm"] = row["nsPerDecisionWarm"] / warm if warm else None
