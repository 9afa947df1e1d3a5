"""The settings of an open engine: what they are, and changes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Literal

from . import _native
from .decision import Stamp
from .errors import Error
from .sources import Instant, Path, Records, encoded, milliseconds, ndjson

if TYPE_CHECKING:
    from typing_extensions import Self


class EngineState:
    """The settings of an open engine; `Fanout` has the documentation and the examples."""

    __slots__ = ("_engine", "__weakref__")
    _engine: _native.Engine | None

    def close(self) -> None:
        """Closes the engine. Its tables are freed when calls in other threads have ended, and
        decisions, messages and relations of it are gone."""
        self._engine = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _opened(self) -> _native.Engine:
        engine = self._engine
        if engine is None:
            raise ValueError("the engine is closed")
        return engine

    def update(self, changes: bytes | str | Records, *, now: Instant | None = None) -> int:
        """Makes changes, all or none: lines or records of a settings.ndjson, each of which replaces
        the record of the same key. Decisions that begin when it has returned are by them; with a
        store they are on the disk then.

        Args:
            changes: the lines or records.
            now: when the changes are made, for the change feed of a store; None for the clock's
                time.

        Returns:
            the number of records.

        >>> from push_fanout import Fanout
        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> fanout.update({"kind": "user", "id": "ann", "level": "none"})
        1
        >>> fanout.decide({"id": "m", "conversation": "g", "at": 0}).counts
        {'none/levelNone/app': 1}
        """
        return self._opened().update(ndjson(changes), _now(now))

    def remove_member(self, user: str, conversation: str, *, now: Instant | None = None) -> None:
        """Ends a membership."""
        ids = encoded(user, "user"), encoded(conversation, "conversation")
        self._opened().remove_member(*ids, _now(now))

    def advance(self, at: Instant) -> None:
        """Prepares an instant: the day's quiet hours, and in its last hour those of the next day.
        Called each minute, it keeps that work off the threads that decide."""
        self._opened().advance(milliseconds(at, "at"))

    def warm_up(self, conversation: str, at: Instant) -> None:
        """Prepares a conversation, so that the first message to it costs no more than later
        ones."""
        self._opened().warm_up(encoded(conversation, "conversation"), milliseconds(at, "at"))

    def write_snapshot(
        self, path: Path, *, identity: tuple[int, int] = (0, 0), sequence: int = 0
    ) -> None:
        """Writes a snapshot, which `open` maps into memory. It appears under its name when it is
        complete.

        Args:
            path: the file.
            identity: two numbers that `open` has to be given again.
            sequence: a number of the caller's for what was written, `snapshot_sequence` later.
        """
        high, low = (checked_number(part, "a number of identity") for part in identity)
        self._opened().write_snapshot(
            os.fsencode(path), high, low, checked_number(sequence, "sequence")
        )

    def members(self, conversation: str) -> tuple[list[str], Stamp]:
        """The ids of a conversation's members by rank, and the stamp that they are of. No members
        for an id that never appeared. O(members)."""
        ids, stamp = self._opened().members(encoded(conversation, "conversation"))
        return ids, Stamp(*stamp)

    @property
    def unknown_zone_users(self) -> dict[str, str]:
        """The users whose time zone this machine does not have, and the zone as it is written.

        Without ``unknown_zones="ignore"`` nothing is decided for them: they are no recipients, and
        who asks for one of them gets an `Error` of the status ``"PF_TIME_ZONES"``.

        >>> from push_fanout import Fanout
        >>> user = {"kind": "user", "id": "ann", "timeZone": "Mars/Base"}
        >>> Fanout.from_ndjson([user], unknown_zones="ignore").unknown_zone_users
        {'ann': 'Mars/Base'}
        """
        return dict(zip(*self._opened().unknown_zone_users()))

    def _info(self) -> dict[str, int]:
        return self._opened().info()

    @property
    def epoch(self) -> int:
        """Drawn when the engine was opened; numbers of different epochs do not compare."""
        return self._info()["epoch"]

    @property
    def sequence(self) -> int:
        """The settings' sequence number: 1, and one more for each update."""
        return self._info()["sequence"]

    @property
    def user_count(self) -> int:
        """The number of users."""
        return self._info()["user_count"]

    @property
    def threads(self) -> int:
        """How many threads a call may use."""
        return self._info()["threads"]

    @property
    def rules(self) -> Literal["easemob", "rongcloud"]:
        """The vendor by whose rules it decides."""
        return "rongcloud" if self._info()["is_rongcloud"] else "easemob"

    @property
    def snapshot_sequence(self) -> int:
        """The number of the snapshot that it was opened from; 0 if it was not."""
        return self._info()["snapshot_sequence"]

    def memory(self) -> dict[str, int]:
        """Bytes of memory by what they are for, and the numbers of users, conversations and
        memberships. O(conversations)."""
        return self._opened().memory()

    def __repr__(self) -> str:
        if self._engine is None:
            return "<Fanout: closed>"
        try:
            info = self._info()
        except Error as error:
            return f"<Fanout: {error}>"
        return f"<Fanout: {self.rules}, {info['user_count']} users, sequence {info['sequence']}>"


def _now(now: Instant | None) -> int:
    return time.time_ns() // 1_000_000 if now is None else milliseconds(now, "now")


def checked_number(value: int, name: str) -> int:
    """A number for an unsigned 64-bit integer of C."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}")
    if not 0 <= value < 2**64:
        raise ValueError(f"{name} is out of range: {value}")
    return value
