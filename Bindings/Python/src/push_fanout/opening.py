"""Settings from anything but files that C reads by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import _native
from .errors import Error
from .sources import (
    is_parquet,
    is_path,
    is_table,
    json_line,
    ndjson,
    read_settings,
    records_of,
)

GIVEN_TWICE = "{} are given twice: in the table of settings, and by themselves"


class _Lines:
    """Records written as lines, and what errors call them."""

    def __init__(self) -> None:
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
        for record in records_of(records):
            if kind is not None and isinstance(record, Mapping):
                record = {"kind": kind, **record}
            lines.append(json_line(record))
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

    def __init__(self, settings: Any, users: Any, members: Any) -> None:
        self._lines = _Lines()
        self._tables: dict[str, Any] = {}
        # What errors call a table, and the number of rows before it.
        self._names: dict[str, tuple[str, int]] = {}
        if settings is not None:
            self._add_settings(settings)
        for kind, source in (("users", users), ("members", members)):
            if source is not None:
                self._add(kind, source)

    def _add_settings(self, source: Any) -> None:
        if is_parquet(source) or is_table(source):
            from . import parquet

            parquet.split_settings(source, self._add_lines, self._add_table)
        elif is_path(source):
            self._lines.add(read_settings(source), str(source))
        elif isinstance(source, (bytes, bytearray, memoryview)):
            self._lines.add(ndjson(source), "settings.ndjson")
        else:
            self._lines.add_records(source, None, "settings")

    def _add(self, kind: str, source: Any) -> None:
        if is_parquet(source):
            from . import parquet

            self._add_table(kind, parquet.open_table(source), str(source), 0)
        elif is_table(source):
            self._add_table(kind, source, kind, 0)
        elif is_path(source):
            raise TypeError(f"{kind} cannot be a CSV file when others are no files")
        elif isinstance(source, (bytes, bytearray, memoryview)):
            raise TypeError(f"bytes of {kind} have no form: give the path of a file, or a table")
        elif kind in self._tables:
            raise TypeError(GIVEN_TWICE.format(kind))
        elif "users" in self._tables:
            raise TypeError(f"{kind} cannot be dictionaries when users come as a table")
        else:
            self._lines.add_records(source, kind[:-1], kind)

    def _add_lines(self, data: bytes, name: str, skipped: int) -> None:
        self._lines.add(data, name, skipped)

    def _add_table(self, kind: str, table: Any, name: str, before: int) -> None:
        if kind in self._tables:
            raise TypeError(GIVEN_TWICE.format(kind))
        self._tables[kind] = table
        self._names[kind] = (name, before)

    def open(self, options: tuple[int, int]) -> _native.Engine:
        """Opens an engine for them."""
        streams = {kind: table.__arrow_c_stream__() for kind, table in self._tables.items()}
        users, members = streams.get("users"), streams.get("members")
        try:
            return _native.open_arrow(bytes(self._lines.data), users, members, *options)
        except Error as error:
            raise Error(self._named(str(error)), error.status) from None

    def _named(self, text: str) -> str:
        # Without a row, where it is the stream.
        found = re.match(r"(users|members):(?:(\d+):)? ", text)
        if found:
            name, before = self._names[found[1]]
            if found[2] is None:
                return f"{name}: {text[found.end() :]}"
            return f"{name}:{int(found[2]) + before}: {text[found.end() :]}"
        return self._lines.named(text)
