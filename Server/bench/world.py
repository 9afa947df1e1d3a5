"""The world that is decided, its store, and the bodies of requests."""
import collections
import csv
import json
import random
import shutil
import subprocess

# A Monday, 12:00:00.000 UTC: quiet hours of half of the zones hold, of the other half not.
NOON = 1_767_614_400_000
ROOM = 6  # members of a small room: a message of one of them goes to five


def run(*command):
    subprocess.run([str(each) for each in command], check=True, stdout=subprocess.DEVNULL)


class World:
    """Files of `push-fanout generate`; a folder is complete or absent."""

    def __init__(self, folder, program, users, memberships, giant):
        self.folder, self.program, self.users = folder, program, users
        if not folder.exists():
            giants = ["--giants", giant] if giant else ["--giants", "none"]
            run(program, "generate", "--output", folder, "--users", users, "--memberships", memberships,
                "--seed", 5, "--rates", 1, "--size-max", 3000, *giants)
        self.files = ["--settings", folder / "settings.ndjson", "--users", folder / "users.csv",
                      "--members", folder / "members.csv"]
        self.store = folder / "app.store"

    def ensure_store(self):
        """A store as the files are, for one server: what was measured before has written to another.
        An import is complete or absent too."""
        if not self.store.exists():
            run(self.program, "store", "import", "--store", self.store, *self.files)
        used = self.folder / "used.store"
        for old in self.folder.glob("used.store*"):
            old.unlink()
        shutil.copy(self.store, used)
        shutil.copy(f"{self.store}.snapshot", f"{used}.snapshot")
        return used

    def rooms(self, size, limit):
        """Members of rooms of a size in which all are members at noon, by room."""
        members, late = collections.defaultdict(list), set()
        with open(self.folder / "members.csv", newline="") as file:
            for row in csv.DictReader(file):
                room = row["conversation"]
                if row["since"] and int(row["since"]) > NOON:
                    late.add(room)
                if len(members[room]) <= size:
                    members[room].append(row["user"])
        found = {room: users for room, users in members.items() if len(users) == size and room not in late}
        return dict(list(found.items())[:limit])

    def small_messages(self, count):
        """Messages to five recipients each, a fifth with a mention."""
        choose = random.Random(7)
        rooms = list(self.rooms(ROOM, 20_000).items())
        if not rooms:
            raise SystemExit(f"the world has no room of {ROOM} members")
        for number in range(count):
            room, users = choose.choice(rooms)
            sender = choose.choice(users)
            message = {"id": f"m{number}", "conversation": room, "at": NOON + number % 60_000, "sender": sender}
            if choose.random() < 0.2:
                message["mentions"] = [choose.choice([user for user in users if user != sender])]
            yield message

    def giant_messages(self, count):
        """Messages to the largest room, `c0`."""
        choose = random.Random(8)
        for number in range(count):
            yield {"id": f"g{number}", "conversation": "c0", "at": NOON + number % 60_000,
                   "sender": f"u{choose.randrange(self.users)}"}

    def writes(self, count):
        """Levels of members, by the vendor's operation. They come three times with other levels: a
        write of what is there already changes nothing, and would cost next to nothing."""
        choose = random.Random(9)
        members = [(choose.choice(users), room) for room, users in list(self.rooms(ROOM, count).items())]
        for level in ("all", "mention", "none"):
            for user, room in members:
                yield change(user, room, level)

    def counts(self, messages):
        """What `push-fanout evaluate --format counts` says of messages."""
        path = self.folder / "asked.ndjson"
        write_lines(path, messages)
        done = subprocess.run(
            [str(self.program), "evaluate", *map(str, self.files), "--messages", str(path), "--format", "counts"],
            check=True, capture_output=True, text=True)
        return {row["message"]: row["counts"] for row in map(json.loads, done.stdout.splitlines())}

    def pushes(self, messages):
        """Who gets a push, by message."""
        path = self.folder / "asked.ndjson"
        write_lines(path, messages)
        done = subprocess.run(
            [str(self.program), "evaluate", *map(str, self.files), "--messages", str(path), "--format", "pushlist"],
            check=True, capture_output=True, text=True)
        return {row["message"]: set(row["push"]) for row in map(json.loads, done.stdout.splitlines())}


def change(user, room, level):
    """The vendor's operation that sets a member's level."""
    return {"op": "setSilentModeForConversation", "user": user, "conversation": room, "level": level}


def write_lines(path, objects):
    with open(path, "w") as file:
        for each in objects:
            file.write(json.dumps(each, separators=(",", ":")) + "\n")
    return path
