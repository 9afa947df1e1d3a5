"""A day's world as `push-fanout generate` writes it, and what the peers need to know of it."""
import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

MINUTES_OF_DAY = 1440
# Levels as numbers, the same in all contestants. 0: unset.
LEVELS = {"all": 1, "mention": 2, "none": 3}
# What a day's messages come to for a member, by number.
OUTCOMES = (
    "none/quietHours/app", "none/levelNone/conversation", "none/levelNone/app",
    "none/notMentioned/conversation", "none/notMentioned/app",
    "push/allowed/conversation", "push/allowed/app", "push/allowed/default",
)
QUIET = 0
# Of a member who is not in quiet hours, when the message mentions nobody: by the member's level
# and, where that is unset, by the user's.
OF_MEMBER = {1: 5, 2: 3, 3: 1}
OF_USER = {0: 7, 1: 6, 2: 4, 3: 2}
# The two that a mention changes, and what it adds to them.
NOT_MENTIONED = (3, 4)
WHEN_MENTIONED = 2


@dataclass(frozen=True)
class DayWorld:
    folder: Path
    messages: Path  # the day's, or the first of them
    time_zone: str  # of users without one

    @classmethod
    def load(cls, folder, messages):
        folder = Path(folder)
        for line in (folder / "settings.ndjson").read_text().splitlines():
            record = json.loads(line)
            if record["kind"] != "app" or record["rules"] != "easemob":
                raise ValueError(f"{folder}: only worlds of rules easemob, without conversations")
            return cls(folder, Path(messages), record.get("timeZone", "UTC"))
        raise ValueError(f"{folder}/settings.ndjson: no record")

    @property
    def users(self):
        return str(self.folder / "users.csv")

    @property
    def members(self):
        return str(self.folder / "members.csv")


def offsets(zones, first, last):
    """Minutes east of UTC of each zone between two instants in milliseconds since 1970.

    A zone whose clocks change in between is an error: a window moved to UTC once would be wrong.
    """
    found = []
    for zone in zones:
        info = ZoneInfo(zone)
        instant = datetime.fromtimestamp(first // 1000, timezone.utc)
        end = datetime.fromtimestamp(last // 1000, timezone.utc)
        values = {end.astimezone(info).utcoffset()}
        while instant < end:
            values.add(instant.astimezone(info).utcoffset())
            instant += timedelta(minutes=30)
        if len(values) > 1:
            raise ValueError(f"{zone}: clocks change within the day, which is not supported here")
        found.append(values.pop() // timedelta(minutes=1))
    return found
