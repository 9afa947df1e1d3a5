"""Times the command line on a generated day, beside what must be reached."""
import os
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))
from timing import timed  # noqa: E402

PROGRAM = ".build/release/push-fanout"
MEMBERSHIPS_A_USER = 10
# What must be reached, in seconds, on one thread and on four; and gigabytes.
WHOLE, LOADED, LOADED_NDJSON = {1: 5, 4: 2}, {1: 3, 4: 1}, {1: 8, 4: 2.5}
PRESENCE_COSTS = 1.5
LARGE_USERS, LARGE_LOADED, LARGE_MEMORY = 10_000_000, 40, 2.8
# What the peers are called, and how many times push-fanout's time they must take.
PEERS = {"duckdb": ("DuckDB", 20), "polars": ("Polars", 20), "polars-numba": ("Polars and Numba", 8)}


def line(name, value, unit, least=None, most=None):
    """As `fanout-bench --report` writes them."""
    return {"name": name, "value": value, "unit": unit, "least": least, "most": most}


def threads_of(cores):
    return [count for count in (1, 2, 4) if count <= cores]


def named(count):
    return "1 thread" if count == 1 else f"{count} threads"


class Commands:
    """Runs the command in a folder, and keeps what was run."""

    def __init__(self, root, rounds):
        self.root, self.rounds = root, rounds
        self.ran = []

    def run(self, *words):
        command = [PROGRAM, *map(str, words)]
        text = " ".join(command)
        if text not in self.ran:
            print(f"report: {text}", file=sys.stderr)
            self.ran.append(text)
        (seconds, _), peak, _ = timed(command, cwd=self.root)
        return seconds, peak

    def generate(self, folder, users, *options):
        # A folder of generate is complete or absent.
        if not (self.root / folder).exists():
            self.run("generate", "--output", folder, "--users", users,
                     "--memberships", users * MEMBERSHIPS_A_USER, "--seed", 5, "--rates", 1,
                     *options)
        return folder

    def medians(self, commands):
        """Median seconds of each command, all of them by turns."""
        seconds = {name: [] for name in commands}
        for _ in range(self.rounds):
            for name, words in commands.items():
                seconds[name].append(self.run(*words)[0])
        return {name: median(each) for name, each in seconds.items()}


def settings_of(world):
    parts = [("settings", "settings.ndjson"), ("users", "users.csv"), ("members", "members.csv")]
    return [word for part, file in parts for word in (f"--{part}", f"{world}/{file}")]


def evaluate(settings, messages, threads, output):
    return ["evaluate", *settings, "--messages", messages, "--format", "counts",
            "--output", output, "--threads", threads]


def first_message(root, source, target):
    """A file with the first message of another, to which a command mostly loads."""
    with open(root / source, encoding="utf-8") as file, open(
            root / target, "w", encoding="utf-8") as copy:
        copy.writelines(text for text, _ in zip(file, range(2), strict=False))
    return target


def measure(root, scratch, world, users, quick):
    """The lines, and the commands that ran."""
    cores = os.cpu_count()
    commands = Commands(root, 1 if quick else 3)
    commands.generate(world, users)
    with tempfile.TemporaryDirectory(dir=root / scratch, prefix="day-") as folder:
        folder = Path(folder).relative_to(root)
        messages, output = f"{world}/messages.csv", folder / "counts.ndjson"
        first = first_message(root, messages, folder / "first.csv")
        ndjson = commands.generate(folder / "ndjson", users, "--messages", 1, "--format", "ndjson")
        found, bounds = {}, {}
        for threads in threads_of(cores):
            for name, words, most in (
                ("the whole command, CSV to counts",
                 evaluate(settings_of(world), messages, threads, output), WHOLE),
                ("loading, CSV", evaluate(settings_of(world), first, threads, output), LOADED),
                ("loading, NDJSON",
                 evaluate(["--settings", ndjson / "settings.ndjson"], first, threads, output),
                 LOADED_NDJSON),
            ):
                name = f"{name}, {named(threads)}"
                found[name], bounds[name] = words, most.get(threads)
        replayed = ["replay", *settings_of(world), "--messages", messages, "--json",
                    "--output", output, "--threads", cores]
        plain, present = f"replay, {named(cores)}", f"replay with presence, {named(cores)}"
        found[plain] = replayed
        found[present] = [*replayed, "--presence", f"{world}/presence.csv"]
        seconds = commands.medians(found)
        lines = [line(name, value, "s", most=bounds.get(name)) for name, value in seconds.items()]
        lines.append(line("  presence, times without", seconds[present] / seconds[plain], "×",
                          most=PRESENCE_COSTS))
        if not quick:
            lines += large(commands, folder, output, cores)
    return lines, [text.replace(str(folder), "FOLDER") for text in commands.ran]


def large(commands, folder, output, cores):
    """Ten million users and a hundred million memberships: how long they load, and their memory."""
    world = commands.generate(folder / "large", LARGE_USERS, "--messages", 1)
    seconds, peak = commands.run(
        *evaluate(settings_of(world), world / "messages.csv", cores, output))
    name = f"loading {LARGE_USERS:,} users, {LARGE_USERS * MEMBERSHIPS_A_USER:,} memberships"
    return [line(f"{name}, {named(cores)}", seconds, "s", most=LARGE_LOADED),
            line("  most memory", peak / 1e9, "GB", most=LARGE_MEMORY)]


def peers_lines(rows):
    """The whole time and memory of each tool of `peers/run --day`, and its ratio to ours."""
    lines = []
    for row in rows:
        tool, least = PEERS.get(row["contestant"], (row["contestant"], None))
        lines.append(line(f"{tool}, whole", row["whole"][0], "s"))
        lines.append(line("  loading", row["load"][0], "s"))
        lines.append(line("  deciding", row["decide"][0], "s"))
        lines.append(line("  most memory", row["bytes"] / 1e6, "MB"))
        if least:
            lines.append(line("  whole, times push-fanout's", row["wholeToEngine"][0], "×",
                              least=least))
            lines.append(line("  deciding, times push-fanout's", row["decideToEngine"][0], "×"))
    return lines
