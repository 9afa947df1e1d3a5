"""Times whole commands on a world, as multiples of `evaluate` of its day in the same run."""
import os
import tempfile
from pathlib import Path
from statistics import median

from commands import MEMBERSHIPS_A_USER, Commands, evaluate, first_message, line, settings_of

# What must be reached, as multiples of `evaluate`, on two cores.
IMPORT, CHECK, EXPORT, VERIFY, OPENING = 7, 4, 2, 2, 2.5
# As multiples of `replay`, and most memory in MB.
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
            ("store verify", VERIFY, ["store", "verify", self.backup]),
            ("opening without a snapshot", OPENING,
             ["evaluate", "--store", self.backup, "--messages", message, "--format", "counts",
              "--output", folder / "counts.ndjson"]),
        ]

    def remove(self, root):
        """What the next round makes again."""
        for file in self.files:
            for ending in ("", "-wal", "-shm"):
                (root / f"{file}{ending}").unlink(missing_ok=True)


def lines_of(name, runs, base, most):
    """A command's time as a multiple, its seconds, and its memory."""
    seconds, memory = median(time for time, _ in runs), max(peak for _, peak in runs)
    return [line(f"{name}, times `evaluate`", seconds / base, "×", most=most),
            line("  seconds", seconds, "s"), line("  most memory", memory / 1e6, "MB")]


def comparison(commands, world):
    """A comparison of the day, as a multiple of its replay."""
    files = [*settings_of(world), "--messages", f"{world}/messages.csv"]
    words = {"replay": ["replay", *files],
             "compare": ["compare", *files, "--b", "rooms>500.unset.level=mention"]}
    runs = {name: [] for name in words}
    for _ in range(commands.rounds):
        for name in words:
            runs[name].append(commands.run(*words[name]))
    replayed, compared = (median(time for time, _ in runs[name]) for name in words)
    memory = max(peak for _, peak in runs["compare"])
    return [line("`replay`", replayed, "s"),
            line("compare, times `replay`", compared / replayed, "×", most=COMPARE),
            line("  seconds", compared, "s"),
            line("  most memory", memory / 1e6, "MB", most=COMPARE_MEMORY)]


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
        message = first_message(root, f"{world}/messages.csv", folder / "first.csv")
        store = Store(folder, world, message)
        plain, runs = [], {name: [] for name, _, _ in store.steps}
        for _ in range(commands.rounds):
            plain.append(commands.run(*base))
            for name, _, words in store.steps:
                runs[name].append(commands.run(*words))
            store.remove(root)
        seconds = median(time for time, _ in plain)
        whole = [line("`evaluate --format counts`", seconds, "s"),
                 line("  most memory", max(peak for _, peak in plain) / 1e6, "MB")]
        of_store = [each for name, most, _ in store.steps
                    for each in lines_of(name, runs[name], seconds, most)]
    parts = [{"title": "What the others are compared with", "lines": whole},
             {"title": "A store", "lines": of_store},
             {"title": "A comparison", "lines": comparison(commands, world)}]
    return parts, [text.replace(str(folder), "FOLDER") for text in commands.ran]
