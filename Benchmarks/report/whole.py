"""Times whole commands on a world, as multiples of `evaluate` of its day in the same run."""
import os
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median

from commands import MEMBERSHIPS_A_USER, Commands, evaluate, first_message, line, settings_of

# What must be reached, as multiples of `evaluate`, on two cores.
IMPORT, CHECK, EXPORT, VERIFY, OPENING = 7, 4, 2, 2, 2.5
PROFILE, PROFILE_MEMORY = 1.2, 500
# Of the speed of a program that only writes as many bytes.
WRITING = 0.5
# So many users for each message of which rows are written: 5 GB for a million.
USERS_A_MESSAGE = 40
# As multiples of `replay`, and most memory of a comparison in MB.
EVENTS, PEOPLE, HOLD = 1.5, 2.2, 3
COMPARE, COMPARE_MEMORY = 2.5, 600


class Store:
    """The commands of a store. They follow each other: each needs what those before it have made."""

    def __init__(self, folder, world, message):
        self.store, self.backup = folder / "a.store", folder / "b.store"
        self.snapshot = folder / "a.store.snapshot"
        self.files = [self.store, self.backup, self.snapshot, folder / "out.ndjson"]
        self.steps = [
            ("store import", IMPORT, ["store", "import", "--store", self.store, *settings_of(world)]),
            ("store check", CHECK, ["store", "check", "--store", self.store]),
            ("store export", EXPORT,
             ["store", "export", "--store", self.store, "--output", folder / "out.ndjson"]),
            ("store backup", None,
             ["store", "backup", "--store", self.store, "--output", self.backup]),
            ("store verify", VERIFY, ["store", "verify", "--store", self.backup]),
            ("opening without a snapshot", OPENING,
             ["evaluate", "--store", self.backup, "--messages", message, "--format", "counts",
              "--output", folder / "counts.ndjson"]),
        ]

    def remove(self, root):
        """What the next round makes again."""
        for file in self.files:
            for ending in ("", "-wal", "-shm"):
                (root / f"{file}{ending}").unlink(missing_ok=True)


def lines_of(name, runs, base, most, most_memory=None, of="evaluate"):
    """A command's time as a multiple of another's, its seconds, and its memory."""
    seconds, memory = median(taken for taken, _ in runs), max(peak for _, peak in runs)
    return [line(f"{name}, times `{of}`", seconds / base, "×", most=most),
            line("  seconds", seconds, "s"),
            line("  most memory", memory / 1e6, "MB", most=most_memory)]


def write_only(path, size):
    """The seconds in which so many bytes get from memory into a new file and to the disk."""
    buffer = memoryview(os.urandom(4 << 20))
    started = time.perf_counter()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        while size > 0:
            size -= os.write(file, buffer[:size])
        os.fsync(file)
    finally:
        os.close(file)
    return time.perf_counter() - started


class Rows:
    """Outputs that are large, each beside what only writes as many bytes, by turns."""

    def __init__(self, folder, world, messages):
        self.output = folder / "rows"
        self.runs = {
            kind: {"words": ["evaluate", *settings_of(world), "--messages", file, "--format", kind,
                             "--output", self.output],
                   "size": 0, "seconds": [], "floor": []}
            for kind, file in messages.items()}

    def measure(self, commands):
        path = commands.root / self.output
        for run in self.runs.values():
            run["seconds"].append(commands.run(*run["words"])[0])
            run["size"] = path.stat().st_size
            path.unlink()
            run["floor"].append(write_only(path, run["size"]))
            path.unlink()

    def lines(self):
        found = []
        for kind, run in self.runs.items():
            seconds, floor = median(run["seconds"]), median(run["floor"])
            found += [
                line(f"`evaluate --format {kind}`, of the speed of only writing", floor / seconds, "×",
                     least=WRITING),
                line("  seconds", seconds, "s"), line("  only writing", floor, "s"),
                line("  size", run["size"] / 1e9, "GB")]
        return found


def first_messages(root, source, target, count):
    """A file with the first messages of another."""
    with open(root / source, encoding="utf-8") as file, open(
            root / target, "w", encoding="utf-8") as copy:
        copy.writelines(islice(file, 1 + count))
    return target


def replays(commands, world, quick):
    """Replays of the day with what happens beside messages, and a comparison, as multiples of one of
    messages alone."""
    files = [*settings_of(world), "--messages", f"{world}/messages.csv"]
    events = [*files, "--presence", f"{world}/presence.csv", "--changes", f"{world}/changes.ndjson"]
    kinds = [("presence and changes", EVENTS, None, ["replay", *events]),
             ("the same, --per-person", PEOPLE, None, ["replay", *events, "--per-person"]),
             ("the same, --hold", HOLD, None, ["replay", *events, "--hold"]),
             ("compare", COMPARE, None if quick else COMPARE_MEMORY,
              ["compare", *files, "--b", "rooms>500.unset.level=mention"])]
    plain, runs = [], [[] for _ in kinds]
    for _ in range(commands.rounds):
        plain.append(commands.run("replay", *files))
        for (_, _, _, words), list_of in zip(kinds, runs):
            list_of.append(commands.run(*words))
    seconds = median(taken for taken, _ in plain)
    found = [line("`replay`", seconds, "s"),
             line("  most memory", max(peak for _, peak in plain) / 1e6, "MB")]
    for (name, most, most_memory, _), list_of in zip(kinds, runs):
        found += lines_of(name, list_of, seconds, most, most_memory, of="replay")
    return found


def measure(root, scratch, world, users, quick):
    """The parts of the report, and the commands that ran."""
    commands = Commands(root, 1 if quick else 3)
    if not (root / world).exists():
        commands.run("generate", "--output", world, "--users", users, "--memberships",
                     users * MEMBERSHIPS_A_USER, "--seed", 5)
    with tempfile.TemporaryDirectory(dir=root / scratch, prefix="commands-") as folder:
        folder = Path(folder).relative_to(root)
        base = evaluate(settings_of(world), f"{world}/messages.csv", os.cpu_count(),
                        folder / "counts.ndjson")
        messages = f"{world}/messages.csv"
        message = first_message(root, messages, folder / "first.csv")
        some = first_messages(root, messages, folder / "some.csv", users // USERS_A_MESSAGE)
        store, rows = Store(folder, world, message), Rows(
            folder, world, {"pushlist": messages, "ndjson": some})
        profile = ["profile", *settings_of(world), "--messages", messages, "--json"]
        plain, profiled, runs = [], [], {name: [] for name, _, _ in store.steps}
        for _ in range(commands.rounds):
            plain.append(commands.run(*base))
            profiled.append(commands.run(*profile))
            rows.measure(commands)
            for name, _, words in store.steps:
                runs[name].append(commands.run(*words))
            store.remove(root)
        seconds = median(taken for taken, _ in plain)
        whole = [line("`evaluate --format counts`", seconds, "s"),
                 line("  most memory", max(peak for _, peak in plain) / 1e6, "MB")]
        of_store = [each for name, most, _ in store.steps
                    for each in lines_of(name, runs[name], seconds, most)]
        of_profile = lines_of("profile", profiled, seconds, PROFILE,
                              None if quick else PROFILE_MEMORY)
    parts = [{"title": "What the others are compared with", "lines": whole},
             {"title": "Rates of a world", "lines": of_profile},
             {"title": "Rows", "lines": rows.lines()},
             {"title": "A store", "lines": of_store},
             {"title": "Replays", "lines": replays(commands, world, quick)}]
    return parts, [text.replace(str(folder), "FOLDER") for text in commands.ran]
