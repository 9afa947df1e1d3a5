"""The exported world: who has set what, who is in which group, and the counts to reach."""
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

UNSET, ALL, MENTION, BLOCKED = range(4)
MINUTES_OF_DAY = 1440
KINDS = ("plain", "user", "all", "forced")

# An outcome is a small number; its key is action/reason/scope. 0: the sender, no recipient.
SCOPES = ("conversation", "app", "default")
NO_RECIPIENT = 0
QUIET = 1
MUTED = 2
LEVEL_NONE = 3  # and the next: by scope conversation, app
NOT_MENTIONED = 5  # and the next: by scope conversation, app
ALLOWED = 7  # and the next two: by scope conversation, app, default
FORCED = 10  # and the next two: by scope conversation, app, default
OUTCOMES = (
    None,
    "none/quietHours/app",
    "none/muted/app",
    *(f"none/levelNone/{scope}" for scope in SCOPES[:2]),
    *(f"none/notMentioned/{scope}" for scope in SCOPES[:2]),
    *(f"push/allowed/{scope}" for scope in SCOPES),
    *(f"push/forced/{scope}" for scope in SCOPES),
)


@dataclass(frozen=True)
class Message:
    kind: str
    at: int  # milliseconds since 1970
    sender: int
    mentions: tuple[int, ...] = ()

    @property
    def force(self):
        return self.kind == "forced"

    @property
    def everyone(self):
        return self.kind == "all"

    @property
    def minute(self):
        """The minute of the day, in UTC."""
        return self.at // 60_000 % MINUTES_OF_DAY


@dataclass(frozen=True)
class Group:
    case: str
    users: np.ndarray  # uint32, ascending
    levels: np.ndarray  # uint8
    counts: dict[str, dict[str, int]]  # by kind of message and outcome key
    mentions: tuple[int, ...]

    @property
    def members(self):
        return len(self.users)


class World:
    """Users by number; a group is loaded when it is asked for."""

    def __init__(self, folder):
        self.folder = Path(folder)
        about = json.loads((self.folder / "world.json").read_text())
        if about["rules"] != "easemob":
            raise ValueError(f"rules {about['rules']}: only easemob is known here")
        self.at = about["at"]
        self.sender = about["sender"]
        self.user_count = about["users"]
        self._groups = {group["case"]: group for group in about["groups"]}
        self.levels = self._load("user.level")
        self.muted_until = self._load("user.muted_until")
        self._set_quiet_minutes(np.array(about["zoneOffsets"], np.int16))

    @property
    def cases(self):
        """Each group's name and number of members."""
        return {case: group["members"] for case, group in self._groups.items()}

    def group(self, case):
        about = self._groups[case]
        users = self._load(f"members-{case}.user")
        levels = self._load(f"members-{case}.level")
        if not len(users) == len(levels) == about["members"]:
            raise ValueError(f"members-{case}: not {about['members']} rows")
        return Group(case, users, levels, about["counts"], tuple(about["mentions"]))

    def message(self, group, kind):
        mentions = group.mentions if kind == "user" else ()
        return Message(kind, self.at, self.sender, mentions)

    def _load(self, name):
        return np.load(self.folder / f"{name}.npy")

    def _set_quiet_minutes(self, offsets):
        """Moves every window to UTC, for the day of the world: once, before anything is timed.

        A window is [start, end) with a start before 1440 and an end of up to 2880, so it holds a
        minute when start <= minute < end or minute + 1440 < end. Without one, both are 0.
        """
        start = self._load("user.quiet_start")
        end = self._load("user.quiet_end")
        # E-32: 0:0 to 0:0 is off. E-31: any other start = end is the whole day.
        is_set = (start >= 0) & (end >= 0) & ((start != 0) | (end != 0))
        span = (end - start) % MINUTES_OF_DAY
        span[span == 0] = MINUTES_OF_DAY
        start = (start - offsets[self._load("user.zone")]) % MINUTES_OF_DAY
        self.quiet_start = np.where(is_set, start, 0).astype(np.uint16)
        self.quiet_end = np.where(is_set, start + span, 0).astype(np.uint16)


def counts_of(codes):
    """How often each outcome occurs; the sender is left out."""
    found = np.bincount(codes, minlength=len(OUTCOMES))
    return {
        OUTCOMES[code]: int(count)
        for code, count in enumerate(found)
        if code != NO_RECIPIENT and count
    }


def pushes_of(counts):
    """The number of pushes in counts by outcome key."""
    return {"push": sum(count for key, count in counts.items() if key.startswith("push/"))}
