"""The engine: settings that decide."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from . import _native
from .batch import Batch, Decisions
from .decision import Change, Decision, Evaluated, Explanation, Stamp
from .errors import Error
from .memory import check_memory
from .messages import Messages
from .opening import Settings, check_parts, origin_of, store_library
from .outcomes import OUTCOMES
from .records import (
    Id,
    Instant,
    Record,
    checked_integer,
    encoded,
    json_line,
    milliseconds,
    zone_named,
)
from .sending import PLATFORMS, Platform, Requests, platform_bit
from .sources import Given, Path, Source, given, given_text, lines_of, naming, read_bytes
from .state import EngineState

Progress = Callable[[int, int], object] | None
"""Called during a long call with how many messages were done, and how many there are; 0 where that
is not known. What it raises ends the call."""
UnknownZones = Literal["refuse", "ignore"]
"""What is done with users whose time zone this machine does not have."""
_ZONES = {"refuse": _native.ZONES_REFUSE, "ignore": _native.ZONES_IGNORE}
_ACCESS = {
    "read": _native.STORE_READ,
    "write": _native.STORE_WRITE,
    "create": _native.STORE_CREATE,
}
_PARTS = {
    "counts": _native.COUNTS,
    "codes": _native.CODES,
    "bitmaps": _native.PUSH_BITMAPS,
}


def engine_options(threads: int, unknown_zones: UnknownZones) -> tuple[int, int]:
    """Options of the library; a `ValueError` for another choice than there is."""
    if unknown_zones not in _ZONES:
        raise ValueError(f'unknown_zones must be "refuse" or "ignore", not {unknown_zones!r}')
    # The library says what is wrong with a number that fits its type.
    return min(max(threads, -1), 1 << 20), _ZONES[unknown_zones]


def read_table(engine: _native.Engine, found: Given, progress: Progress) -> _native.Messages:
    """The messages of a table."""
    assert found.table is not None
    try:
        return engine.messages_read_arrow(found.table.stream(), progress)
    except Error as error:
        found.table.raise_error()
        text = found.name + str(error).removeprefix("messages")
        raise Error(found.table.named(text), error.status) from None


class Fanout(EngineState):
    """An engine: settings of users and memberships, packed, which decide for messages.

    Any number of threads may use it. `update` does not wait for those that decide. It is closed
    with `close`, as a context manager, or when it is no longer referred to.

    After a fork it is refused in the child with an `Error` of the status ``"PF_FORKED"``, unless it
    was opened with ``threads=1``; `reopen` opens the same settings again.

    >>> with Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}') as fanout:
    ...     fanout.decide({"id": "m", "conversation": "g", "at": 0}).pushes
    ['ann']
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("open an engine with Fanout.open() or Fanout.from_ndjson()")

    @classmethod
    def _of(cls, engine: _native.Engine) -> Fanout:
        fanout = cls.__new__(cls)
        fanout._engine = engine
        fanout._origin = None
        return fanout

    # ------------------------------------------------------------------------------------- Opening

    @classmethod
    def open(
        cls,
        settings: Source | None = None,
        *,
        users: Source | None = None,
        members: Source | None = None,
        snapshot: Path | None = None,
        identity: tuple[int, int] = (0, 0),
        store: Path | None = None,
        access: Literal["read", "write", "create"] = "read",
        threads: int = 0,
        unknown_zones: UnknownZones = "refuse",
        time_zone: str | None = None,
        progress: Progress = None,
    ) -> Fanout:
        """Opens an engine for settings, a snapshot or a store.

        Settings, users and members are each the path of a file (NDJSON, CSV, packed or not,
        Parquet, Feather) or of a folder of Parquet files, or a list of paths, bytes of NDJSON,
        dictionaries, or a table or several: whatever gives an Arrow stream, such as frames of
        pyarrow, polars, pandas and DuckDB.
        docs/python.md has a table of them; docs/formats.md says which fields there are, and the
        columns of a table have their names.

        Args:
            settings: records of all kinds.
            users: records of users, without ``kind``.
            members: records of members, without ``kind``.
            snapshot: a file that `write_snapshot` has written.
            identity: the two numbers that the snapshot was written with.
            store: a store (docs/store.md), for which the package push-fanout-store is needed.
            access: what is done with the store.
            threads: how many threads a call may use, 1 to 1024; 0 for the cores that the
                process may use.
            unknown_zones: what is done with users whose time zone this machine does not have:
                "refuse" them alone, with a warning (in settings that are read now, such a zone is
                an error), or "ignore" the zone, and decide as if they had no quiet hours.
            time_zone: what timestamps and datetimes without a time zone are in, such as "UTC";
                None to refuse them.
            progress: called about every 50 ms with how many records were read, and 0; not for a
                snapshot or a store.

        Raises:
            Error: what is wrong with the settings, and in which line.

        >>> import polars
        >>> users = polars.DataFrame({"id": ["ann", "ben"], "level": ["none", None]})
        >>> members = polars.DataFrame({"conversation": ["g", "g"], "user": ["ann", "ben"]})
        >>> fanout = Fanout.open(users=users, members=members)
        >>> fanout.decide({"id": "m", "conversation": "g", "at": 0}).pushes
        ['ben']
        """
        options = engine_options(threads, unknown_zones)
        zone = zone_named(time_zone)
        sources = {"settings": settings, "users": users, "members": members}
        sources = {name: source for name, source in sources.items() if source is not None}
        if (store is not None) + (snapshot is not None) + bool(sources) > 1:
            raise TypeError("settings, a snapshot and a store cannot be opened together")
        if snapshot is not None:
            high, low = (checked_integer(part, "a number of identity") for part in identity)
            engine = _native.open_snapshot(os.fsencode(snapshot), high, low, *options)
        elif store is not None:
            if access not in _ACCESS:
                raise ValueError(f'access must be "read", "write" or "create", not {access!r}')
            library = os.fsencode(store_library())
            engine = _native.open_store(library, os.fsencode(store), _ACCESS[access], *options)
        else:
            found = {name: given(source, name, zone) for name, source in sources.items()}
            if all(source.paths is not None for source in found.values()):
                paths = tuple(
                    [os.fsencode(path) for path in found[name].paths or ()] if name in found else []
                    for name in ("settings", "users", "members")
                )
                engine = _native.open_files(paths, *options, progress)
            else:
                check_parts(found)
                engine = Settings(found, zone).open(options, progress)
        fanout = cls._of(engine)
        if store is None:
            fanout._origin = origin_of(
                {**sources, **({} if snapshot is None else {"snapshot": snapshot})},
                identity=identity, threads=threads, unknown_zones=unknown_zones,
                time_zone=time_zone,
            )  # fmt: skip
        if unknown_zones == "refuse":
            fanout._warn_of_unknown_zones()
        return fanout

    @classmethod
    def from_ndjson(
        cls,
        settings: Source,
        *,
        threads: int = 0,
        unknown_zones: UnknownZones = "refuse",
        time_zone: str | None = None,
        progress: Progress = None,
    ) -> Fanout:
        """Opens an engine for the content of a settings.ndjson, bytes or text, or for records of
        settings; what else is given is as of `open`.

        >>> Fanout.from_ndjson([{"kind": "user", "id": "ann"}]).user_count
        1
        """
        options, zone = engine_options(threads, unknown_zones), zone_named(time_zone)
        found = given_text(settings, "settings", zone)
        data = lines_of(found, zone)
        with naming(found, "settings.ndjson"):
            return cls._of(_native.open_bytes(data, *options, progress))

    def reopen(self) -> Fanout:
        """Opens the same files, snapshot or store again, as they are now, also in a child of a
        fork.

        Raises:
            Error: when the settings came from bytes or tables, which are no longer there.
        """
        fanout = self._of(self._opened().reopen())
        fanout._origin = self._origin
        return fanout

    # ------------------------------------------------------------------------------------ Deciding

    def decide(self, message: Record, *, time_zone: str | None = None) -> Decision:
        """Decides a message for all members of its conversation.

        Args:
            message: the fields of a line of messages.ndjson (docs/formats.md); instants may also be
                a datetime, ids integers, numbers those of NumPy. A message without device filter,
                ``ext`` and fields of one vendor is decided without being written as JSON, in a
                fraction of the time.
            time_zone: that of datetimes without one; None to refuse them.

        Raises:
            Error: what is wrong with the message.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> fanout.decide({"id": "m", "conversation": "g", "at": 0, "sender": "ann"}).counts
        {}
        """
        engine = self._engine
        if engine is None:
            engine = self._opened()
        decision = engine.decide(message)
        if decision is None:
            line = json_line(message, zone_named(time_zone))
            decision = engine.decide_at(engine.messages_read(line, b"messages.ndjson", None), 0)
        return decision  # type: ignore[return-value]

    def messages(
        self, source: Source, *, time_zone: str | None = None, progress: Progress = None
    ) -> Messages:
        """Reads messages: a file, bytes of NDJSON, a table or dictionaries, as `open` does. No
        rows are no messages; a file of 0 bytes is an error.

        Args:
            source: the messages; of several files, those of one behind those of the other.
            time_zone: what timestamps and datetimes without a time zone are in; None to refuse
                them.
            progress: called about every 50 ms with how many messages were read, and 0.

        Raises:
            Error: what is wrong with which message; then none is read.
        """
        engine = self._opened()
        if isinstance(source, Messages):
            raise TypeError("these are messages already")
        zone = zone_named(time_zone)
        found = given(source, "messages", zone)
        if found.table is not None:
            return Messages(read_table(engine, found, progress))
        if found.paths is not None:
            files = tuple(
                engine.messages_read(read_bytes(path), os.fsencode(path), progress)
                for path in found.paths
            )
            return Messages(files[0] if len(files) == 1 else engine.messages_join(files))
        return Messages(engine.messages_read(lines_of(found, zone), None, progress))

    def _messages(self, source: Source | Messages) -> Messages:
        return source if isinstance(source, Messages) else self.messages(source)

    def decide_batch(
        self,
        messages: Source | Messages,
        *,
        parts: Iterable[Literal["counts", "codes", "bitmaps"]] = ("counts", "codes"),
        first: int = 0,
        count: int | None = None,
        progress: Progress = None,
    ) -> Batch:
        """Decides messages on all threads of the engine, as arrays. Fastest in the order of time.

        Args:
            messages: what `messages` has read, or takes.
            parts: which arrays to fill, beside the summaries.
            first: the number of the first message to decide.
            count: how many messages to decide; None for all from `first` on.
            progress: called about every 50 ms with how many messages were decided, and of how many.

        Raises:
            MemoryError: the arrays do not fit into the memory; nothing was decided. Ask for
                ``parts=("counts",)``, for some messages after the other, or for `decisions`.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> batch = fanout.decide_batch(b'{"id":"m","conversation":"g","at":0}')
        >>> batch.counts[0, 33].item()
        1
        """
        flags = 0
        for part in parts:
            if part not in _PARTS:
                raise ValueError(f'a part is "counts", "codes" or "bitmaps", not {part!r}')
            flags |= _PARTS[part]
        read = self._messages(messages)
        engine = self._opened()
        first = checked_integer(first, "first")
        count = max(0, len(read) - first) if count is None else checked_integer(count, "count")
        check_memory(engine.batch_size(read._native, first, count, flags))
        return Batch(read, engine.decide_batch(read._native, first, count, flags, progress))

    def decisions(
        self, messages: Source | Messages, *, ids: bool | Literal["views"] = False
    ) -> Decisions:
        """The decisions for messages as rows of Arrow, decided while they are read.

        Args:
            messages: what `messages` has read, or takes.
            ids: whether the column ``user`` has ids instead of numbers: as ``large_utf8``, or
                with ``"views"`` as ``utf8_view``, which is several times faster, and which polars
                and DuckDB take over without a copy, as pyarrow does.
        """
        read = self._messages(messages)
        engine = self._opened()
        if ids not in (False, True, "views"):
            raise ValueError(f"ids must be False, True or 'views', not {ids!r}")
        flags = _native.ARROW_ID_VIEWS if ids == "views" else _native.ARROW_IDS if ids else 0
        return Decisions(read, engine.relation_new(read._native, flags))

    def evaluate(
        self,
        messages: Source,
        format: Literal["ndjson", "csv", "counts", "pushlist", "summary"] = "ndjson",
        *,
        devices: bool = False,
        time_zone: str | None = None,
        progress: Progress = None,
    ) -> Evaluated:
        """Decides messages by the same settings, and gives what ``push-fanout evaluate`` writes.

        Args:
            messages: text or bytes of NDJSON, a `pathlib.Path` of NDJSON, a table, or records.
            format: that of the output; ``"summary"`` is that of ``--format summary --json``.
            devices: whether rows list devices (``"ndjson"`` only).
            time_zone: what timestamps and datetimes without a time zone are in; None to refuse
                them.
            progress: called about every 50 ms with how many messages were read, and 0.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> fanout.evaluate(b'{"id":"m","conversation":"g","at":0}', "pushlist")
        b'{"message":"m","push":["ann"]}\\n'
        """
        engine, zone = self._opened(), zone_named(time_zone)
        if isinstance(messages, Messages):
            raise TypeError("messages that were read cannot be evaluated; give what they are of")
        found = given_text(messages, "messages", zone)
        lines = lines_of(found, zone)
        with naming(found, "messages.ndjson"):
            text, stamp = engine.evaluate(lines, format.encode(), devices, progress)
        evaluated = Evaluated(text)
        evaluated.stamp = Stamp(*stamp)
        return evaluated

    def explain(
        self, message: Record, user: Id, *, content: bool = False, time_zone: str | None = None
    ) -> Explanation:
        """Why a user gets a push for a message, or not: what ``push-fanout explain --json`` writes.

        Args:
            message: the fields of a line of messages.ndjson.
            user: the id of the recipient.
            content: whether to tell what the push says, and why.
            time_zone: that of datetimes without one; None to refuse them.

        Returns:
            That object, with the settings that decided under ``"stamp"``: ``epoch`` and
            ``sequence``. It is printed as text for people.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> explained = fanout.explain({"id": "m", "conversation": "g", "at": 0}, "ann")
        >>> explained.outcome.key, explained.steps[0]["found"]
        ('push/allowed/default', 'since always')
        """
        engine = self._opened()
        line = json_line(message, zone_named(time_zone))
        text, stamp = engine.explain(line, encoded(user, "user"), content)
        explained = Explanation(json.loads(text))
        explained["stamp"] = {"epoch": stamp[0], "sequence": stamp[1]}
        return explained

    def requests(
        self,
        messages: Source,
        senders: Source,
        *,
        platform: Iterable[Platform] = ("apns", "fcm"),
        share_bodies: bool = False,
        templates: Source | None = None,
        time_zone: str | None = None,
    ) -> Requests:
        """The requests to Apple's push service and Firebase for the pushes of messages, what
        ``push-fanout render --platform`` writes (docs/sending.md), made while they are read. Each
        message is decided when its turn comes. They have the tokens of devices: keep them out of
        logs. A snapshot has no tokens, platforms and names.

        Args:
            messages: text or bytes of NDJSON, a `pathlib.Path` of NDJSON, a table, or records.
            senders: how requests are made, a senders.ndjson: a path, bytes or records.
            platform: the providers.
            share_bodies: whether a body that several requests of a message have stands once, before
                them.
            templates: a templates.ndjson (Easemob), as `senders`; None for those of the store.
            time_zone: what timestamps and datetimes without a time zone are in; None to refuse
                them.

        Raises:
            Error: what is wrong with the senders or templates, or that the rules do not say what a
                push contains (open rules). While it is iterated: a message that is not understood,
                behind the requests of those before it; at the end, that messages went to users
                whose time zone this machine does not have.

        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ann"}')
        >>> senders = [{"kind": "sender", "platform": "apns", "topic": "com.example.chat"}]
        >>> [line] = fanout.requests({"id": "m", "conversation": "g", "at": 0}, senders)
        >>> line["url"], line["headers"]["apns-collapse-id"]
        ('https://api.push.apple.com/3/device/', 'm')
        """
        engine, zone = self._opened(), zone_named(time_zone)
        if isinstance(messages, Messages):
            raise TypeError("messages that were read have no content; give what they are of")
        found = given_text(messages, "messages", zone)
        by = given(senders, "senders.ndjson")
        words = None if templates is None else given(templates, "templates.ndjson")
        bits = 0
        for name in [platform] if isinstance(platform, str) else platform:
            bits |= platform_bit(name)
        if bits == 0:
            raise ValueError(f"platform is empty; there are {', '.join(PLATFORMS)}")
        with naming(by, "senders.ndjson"), naming(words or by, "templates.ndjson"):
            requests = engine.requests_new(
                lines_of(found, zone),
                lines_of(by, None),
                None if words is None else lines_of(words, None),
                bits,
                share_bodies,
            )

        def chunks() -> Iterator[bytes]:
            with naming(found, "messages.ndjson"):
                while lines := requests.next():
                    yield lines

        return Requests(chunks())

    def next_change(
        self, user: Id, conversation: Id, after: Instant, *, channel: Id | None = None
    ) -> Change:
        """When the answer for a plain message, a text from another user without mentions, next
        changes without an update.

        Args:
            user: the id of a member.
            conversation: the id of the conversation.
            after: the instant that is asked for, milliseconds since 1970 or a datetime.
            channel: that of an ultra group.

        Raises:
            Error: "PF_NOT_FOUND" for an unknown user or conversation, and one who is not a member.

        >>> fanout = Fanout.from_ndjson(b'''
        ... {"kind":"user","id":"ann","quietHours":{"start":"22:00","end":"08:00"}}
        ... {"kind":"member","conversation":"g","user":"ann"}
        ... ''')
        >>> change = fanout.next_change("ann", "g", 0)
        >>> change.at, change.before.reason, change.after.reason
        (28800000, 'quietHours', 'allowed')
        """
        engine = self._opened()
        place = None if channel is None else encoded(channel, "channel")
        ids = encoded(user, "user"), encoded(conversation, "conversation"), place
        at, before, later, stamp = engine.next_change(*ids, milliseconds(after, "after"))
        outcomes = OUTCOMES.get(before), OUTCOMES.get(later)
        return Change(None if at < 0 else at, *outcomes, Stamp(*stamp))
