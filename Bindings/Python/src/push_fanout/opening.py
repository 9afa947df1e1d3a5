"""Settings from anything but files that C reads by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import tzinfo
from typing import Any

from . import _native
from .arrow import Table
from .errors import Error
from .records import json_line, records_of
from .sources import Given, are_paths, paths_of, read_settings

GIVEN_TWICE = "{} are given twice: in the table of settings, and by themselves"


class _Lines:
    """Records written as lines, and what errors call them."""

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone
        self.data = bytearray()
        # The name of each part, how many lines are before it, and how many of its own rows.
        self._parts: list[tuple[str, int, int]] = []
        self._count = 0

    def add(self, data: bytes, name: str, skipped: int = 0) -> None:
        if self.data and not self.data.endswith(b"\n"):
            self.data += b"\n"
        self._parts.append((name, self._count, skipped))
        self.data += data
        self._count += data.count(b"\n") + (not data.endswith(b"\n"))

    def add_records(self, records: Any, kind: str | None, name: str) -> None:
        lines = []
        for record in records_of(records, name):
            if kind is not None and isinstance(record, Mapping):
                record = {"kind": kind, **record}
            lines.append(json_line(record, self._zone))
        self.add(b"".join(lines), name)

    def named(self, text: str) -> str:
        """A text with the name and the line of the part that it is about."""
        found = re.match(r"settings\.ndjson:(\d+): ", text)
        if not found:
            return text
        line = int(found[1])
        name, before, skipped = max(
            (part for part in self._parts if part[1] < line), key=lambda part: part[1]
        )
        return f"{name}:{line - before + skipped}: {text[found.end() :]}"


class Settings:
    """Settings, users and members, each in its own form."""

    def __init__(self, sources: dict[str, Given], zone: tzinfo | None) -> None:
        """Takes them by the names of the parameters."""
        self._lines = _Lines(zone)
        self._tables: dict[str, Table] = {}
        # The number of rows before a table that is a part of another.
        self._before: dict[str, int] = {}
        if (settings := sources.get("settings")) is not None:
            self._add_settings(settings, zone)
        users, members = sources.get("users"), sources.get("members")
        if users is not None and users.table is not None and _has_records(members):
            # Users keep their places in the order: those of lines come first.
            users = Given(users.name, data=_user_lines(users.table))
        for kind, source in (("users", users), ("members", members)):
            if source is not None:
                self._add(kind, source)

    def _add_settings(self, source: Given, zone: tzinfo | None) -> None:
        if source.table is not None:
            from . import parquet

            def add_table(kind: str, table: Any, name: str, before: int) -> None:
                self._add_table(kind, Table(table, name, zone), before)

            tables = list(source.table.tables())
            parquet.split_settings(tables, source.name, self._lines.add, add_table)
        elif source.paths is not None:
            for path in source.paths:
                self._lines.add(read_settings(path), path)
        elif source.data is not None:
            self._lines.add(source.data, "settings.ndjson")
        else:
            self._lines.add_records(source.records, None, "settings")

    def _add(self, kind: str, source: Given) -> None:
        if source.table is not None:
            self._add_table(kind, source.table, 0)
        elif source.paths is not None:
            raise TypeError(f"{kind} cannot be a CSV file when others are no files")
        elif kind in self._tables:
            raise TypeError(GIVEN_TWICE.format(kind))
        elif source.data is not None:
            self._lines.add(source.data, source.name)
        elif "users" in self._tables:
            raise TypeError(f"{kind} cannot be dictionaries when users are in a table of settings")
        else:
            self._lines.add_records(source.records, kind[:-1], kind)

    def _add_table(self, kind: str, table: Table, before: int) -> None:
        if kind in self._tables:
            raise TypeError(GIVEN_TWICE.format(kind))
        self._tables[kind] = table
        self._before[kind] = before

    def open(self, options: tuple[int, int], progress: object) -> _native.Engine:
        """Opens an engine for them."""
        streams = {kind: table.stream() for kind, table in self._tables.items()}
        users, members = streams.get("users"), streams.get("members")
        try:
            lines = bytes(self._lines.data)
            return _native.open_arrow(lines, users, members, *options, progress)
        except Error as error:
            for table in self._tables.values():
                table.raise_error()
            raise Error(self._named(str(error)), error.status) from None

    def _named(self, text: str) -> str:
        # Without a row, where it is the stream, or one of its columns.
        found = re.match(r"(users|members)(\.[^:]*)?:(?:(\d+):)? ", text)
        if found:
            table = self._tables[found[1]]
            name = f"{table.name}{found[2] or ''}"
            if found[3] is None:
                return f"{name}: {text[found.end() :]}"
            row = int(found[3]) + self._before[found[1]]
            return table.named(f"{name}:{row}: {text[found.end() :]}")
        return self._lines.named(text)


def _has_records(source: Given | None) -> bool:
    return source is not None and source.records is not None


def _user_lines(table: Table) -> bytes:
    from .parquet import table_lines

    return b"".join(table_lines(part, "user") for part in table.tables())


def check_parts(sources: dict[str, Given]) -> None:
    """Refuses bytes of users and of members, which do not say what they are."""
    for kind in ("users", "members"):
        source = sources.get(kind)
        if source is not None and source.data is not None:
            raise TypeError(f"bytes of {kind} have no form: give the path of a file, or a table")


def origin_of(sources: dict[str, Any], **options: Any) -> dict[str, Any] | None:
    """The arguments that open the same files from any folder; None if some are no files."""
    if not all(map(are_paths, sources.values())):
        return None
    paths: dict[str, Any] = {
        name: [*map(os.path.abspath, paths_of(source))]
        if isinstance(source, (list, tuple))
        else os.path.abspath(os.fspath(source))
        for name, source in sources.items()
    }
    return {**paths, **options}


def store_library() -> str:
    """The path of the library that opens stores."""
    try:
        from push_fanout_store import LIBRARY
    except ImportError:
        raise ImportError(
            "stores need the package push-fanout-store, of the same release: "
            "pip install push-fanout-store"
        ) from None
    return LIBRARY
