"""Times a day's real messages with the command line."""
import hashlib
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

PROGRAM = ".build/release/push-fanout"
PARTS = ("users", "members", "messages")
CONTESTANTS = {
    "packed-1-thread": ["--engine", "packed", "--threads", "1"],
    "packed-2-threads": ["--engine", "packed", "--threads", "2"],
    "reference": ["--engine", "reference"],
}
# Somewhat more than the reference needs: what is expected to take longer is not even tried.
REFERENCE_NANOSECONDS = 1_000
LONGEST_SECONDS = 60
_LAST_LINE = re.compile(
    r"([\d,]+) messages?, ([\d,]+) decisions?, ([\d,]+) pushed, ([\d.]+) s, ([\d,]+) decisions/s$")


class ReplayError(Exception):
    pass


def slices(root, push_data):
    """{name: (folder, how a report calls it)}; those of data/ first, each once."""
    folders = [(Path(root) / "data", "data")]
    if push_data:
        folder = Path(push_data) / "small"
        if not folder.is_dir():
            raise ReplayError(f"PUSH_DATA: no folder {folder}")
        folders.append((folder, "$PUSH_DATA/small"))
    found = {}
    for folder, called in folders:
        for path in sorted(folder.glob("*.messages.csv.gz")):
            found.setdefault(path.name.removesuffix(".messages.csv.gz"), (folder, called))
    return found


def command(folder, name, contestant):
    files = [word for part in PARTS for word in (f"--{part}", f"{folder}/{name}.{part}.csv.gz")]
    return [
        PROGRAM, "evaluate", *files, "--format", "counts", "--output", "/dev/null",
        *CONTESTANTS[contestant],
    ]


def last_line(text):
    """What evaluate says at its end."""
    match = _LAST_LINE.search(text.strip())
    if not match:
        raise ReplayError(f"evaluate ended otherwise than expected: {text.strip()[-200:]}")
    messages, decisions, pushes, seconds, rate = (
        text.replace(",", "") for text in match.groups())
    return int(messages), int(decisions), int(pushes), float(seconds), int(rate)


def time_once(root, folder, name, contestant):
    start = time.perf_counter()
    done = subprocess.run(
        command(folder, name, contestant), cwd=root, capture_output=True, text=True)
    wall = time.perf_counter() - start
    if done.returncode != 0:
        raise ReplayError(f"{name}, {contestant}: exit status {done.returncode}: {done.stderr}")
    return wall, last_line(done.stderr)


def time_contestant(root, folder, name, contestant, most):
    """One row: the median of the runs, by the clock on the wall and as evaluate says."""
    walls, ends = [], []
    while len(walls) < most:
        wall, end = time_once(root, folder, name, contestant)
        walls.append(wall)
        ends.append(end)
        if sum(walls) > LONGEST_SECONDS:
            break
    middle = median(walls)
    messages, decisions, pushes = ends[0][:3]
    return {
        "suite": "replay", "case": name, "contestant": contestant, "messages": messages,
        "decisions": decisions, "pushes": pushes, "runs": len(walls),
        "seconds": round(middle, 6), "spread": round((max(walls) - min(walls)) / middle, 4),
        "secondsSaid": median(end[3] for end in ends),
        "decisionsASecond": round(median(end[4] for end in ends)),
    }


def measure(root, push_data, quick):
    rows, data, left_out = [], [], []
    for name, (folder, called) in slices(root, push_data).items():
        for part in PARTS:
            path = folder / f"{name}.{part}.csv.gz"
            if not path.exists():
                raise ReplayError(f"no {path}")
            data.append({
                "file": f"{called}/{path.name}",
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            })
        print(f"report: replaying {name}", file=sys.stderr)
        of_slice = []
        for contestant in CONTESTANTS:
            most = 1 if quick else 3 if contestant == "reference" else 5
            if contestant == "reference":
                decisions = of_slice[0]["decisions"]
                if decisions * REFERENCE_NANOSECONDS > LONGEST_SECONDS * 1e9:
                    left_out.append({"case": name, "contestant": contestant, "why": (
                        f"{decisions:,} decisions would take more than {LONGEST_SECONDS} s")})
                    continue
            of_slice.append(time_contestant(root, folder, name, contestant, most))
        if len({(row["messages"], row["decisions"], row["pushes"]) for row in of_slice}) > 1:
            raise ReplayError(f"{name}: the contestants do not count the same")
        rows += of_slice
    called = sorted({called for _, called in slices(root, push_data).values()}, reverse=True)
    commands = [
        " ".join(command(folder, "SLICE", contestant))
        for folder in called for contestant in CONTESTANTS
    ]
    return {"commands": commands, "data": data, "leftOut": left_out, "rows": rows}
