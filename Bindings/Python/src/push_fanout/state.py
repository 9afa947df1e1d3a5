"""The settings of an open engine: what they are, and changes."""

from __future__ import annotations

import functools
import os
import time
import warnings
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from .decision import Stamp
from .display import html_table
from .errors import Error, UnknownTimeZoneWarning
from .records import Id, Instant, checked_integer, encoded, milliseconds, zone_named
from .sources import Path, Source, given_text, lines_of, naming

if TYPE_CHECKING:
    from typing_extensions import Self

_RULES: tuple[Literal["easemob"], Literal["rongcloud"], Literal["open"]]
_RULES = ("easemob", "rongcloud", "open")


class EngineState:
    """The settings of an open engine; `Fanout` has the documentation and the examples."""

    __slots__ = ("_engine", "_origin", "__weakref__")
    _engine: _native.Engine | None
    # What opens the same settings in another process.
    _origin: dict[str, Any] | None

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

    def update(
        self, changes: Source, *, now: Instant | None = None, time_zone: str | None = None
    ) -> int:
        """Makes changes, all or none: lines or records of a settings.ndjson, each of which replaces
        the record of the same key. Decisions that begin when it has returned are by them; with a
        store they are on the disk then. No changes at all leave the sequence number as it is.

        Args:
            changes: text or bytes of NDJSON, a `pathlib.Path` of it, records, or a table whose
                column ``kind`` says what each row is.
            now: when the changes are made, for the change feed of a store; None for the clock's
                time.
            time_zone: what timestamps and datetimes without a time zone are in; None to refuse
                them.

        Returns:
            the number of records.

        >>> from push_fanout import Fanout
        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> fanout.update({"kind": "user", "id": "ann", "level": "none"})
        1
        >>> fanout.decide({"id": "m", "conversation": "g", "at": 0}).counts
        {'none/levelNone/app': 1}
        """
        engine, zone = self._opened(), zone_named(time_zone)
        found = given_text(changes, "changes", zone)
        lines = lines_of(found, zone)
        with naming(found, "settings.ndjson"):
            return engine.update(lines, _now(now))

    def set_presence(self, heartbeats: Source, *, time_zone: str | None = None) -> int:
        """Notes what devices say of themselves, under open rules (O-30), over the state and
        ``seenAt`` that they have in the settings. Presence is no setting: it is in no snapshot or
        store, and ends with the engine.

        Args:
            heartbeats: text or bytes of NDJSON, a `pathlib.Path` of it, records, or a table, of
                ``user``, ``device``, ``state`` and ``seenAt``. Wrong ones have no effect and are
                named in the error; the others have theirs.
            time_zone: what timestamps and datetimes without a time zone are in; None to refuse
                them.

        Returns:
            the number of heartbeats.

        >>> from push_fanout import Fanout
        >>> app = '{"kind":"app","rules":"open"}\\n'
        >>> fanout = Fanout.from_ndjson(app + '{"kind":"member","conversation":"g","user":"ann"}')
        >>> fanout.set_presence({"user": "ann", "device": "default", "state": "foreground"})
        1
        >>> fanout.decide({"id": "m", "conversation": "g", "at": 0}).counts
        {'none/online': 1}
        """
        engine, zone = self._opened(), zone_named(time_zone)
        found = given_text(heartbeats, "heartbeats", zone)
        lines = lines_of(found, zone)
        with naming(found, "presence.ndjson"):
            return engine.set_presence(lines)

    def remove_member(self, user: Id, conversation: Id, *, now: Instant | None = None) -> None:
        """Ends a membership."""
        ids = encoded(user, "user"), encoded(conversation, "conversation")
        self._opened().remove_member(*ids, _now(now))

    def advance(self, at: Instant) -> None:
        """Prepares an instant: the day's quiet hours, and in its last hour those of the next day.
        Called each minute, it keeps that work off the threads that decide."""
        self._opened().advance(milliseconds(at, "at"))

    def warm_up(self, conversation: Id, at: Instant) -> None:
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
        high, low = (checked_integer(part, "a number of identity") for part in identity)
        self._opened().write_snapshot(
            os.fsencode(path), high, low, checked_integer(sequence, "sequence")
        )

    def members(self, conversation: Id) -> tuple[list[str], Stamp]:
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

    def _warn_of_unknown_zones(self) -> None:
        users = self.unknown_zone_users
        if not users:
            return
        named = ", ".join(f"{user!r} ({zone})" for user, zone in list(users.items())[:5])
        more = "" if len(users) <= 5 else f" and {len(users) - 5} more"
        warnings.warn(
            f"not decided for, as this machine's time-zone data lack the zone: {named}{more}; "
            "install tzdata-legacy or a later tzdata, or set TZDIR, or open with "
            'unknown_zones="ignore"',
            UnknownTimeZoneWarning,
            stacklevel=3,
        )

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
    def rules(self) -> Literal["easemob", "rongcloud", "open"]:
        """By which rules it decides: a vendor's, or open rules."""
        return _RULES[self._info()["rules"]]

    @property
    def snapshot_sequence(self) -> int:
        """The number of the snapshot that it was opened from; 0 if it was not."""
        return self._info()["snapshot_sequence"]

    def memory(self) -> dict[str, int]:
        """Bytes of memory by what they are for, and the numbers of users, conversations and
        memberships. O(conversations)."""
        return self._opened().memory()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles an engine that was opened from files or a snapshot: they are opened again."""
        if self._origin is None:
            raise TypeError(
                "a Fanout is pickled or copied only if it was opened from files or a snapshot; "
                "write_snapshot(), and open that"
            )
        if self.sequence != 1:
            raise TypeError(
                "the settings were updated since they were opened; write_snapshot(), and open that"
            )
        return functools.partial(type(self).open, **self._origin), ()  # type: ignore[attr-defined]

    def _repr_html_(self) -> str:
        title = repr(self)[1:-1]
        if self._engine is None:
            return html_table(title, (), ())
        names = ("user_count", "conversation_count", "membership_count")
        numbers = self.memory()
        rows = [(name.removesuffix("_count") + "s", numbers[name]) for name in names]
        return html_table(title, ("", "number"), [*rows, ("threads", self.threads)])

    def __repr__(self) -> str:
        if self._engine is None:
            return "<Fanout: closed>"
        try:
            info = self._info()
        except Error as error:
            return f"<Fanout: {error}>"
        return f"<Fanout: {self.rules}, {info['user_count']:,} users, sequence {info['sequence']}>"


def _now(now: Instant | None) -> int:
    return time.time_ns() // 1_000_000 if now is None else milliseconds(now, "now")
