"""Bad rows: what is wrong with which, and where it is."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..engine import UnknownZones, engine_options
from ..errors import Error
from .inputs import KEYS


class Problem(NamedTuple):
    """A row that was not understood.

    Attributes:
        kind: what it was given as: ``"users"``, ``"members"``, ``"conversations"`` or
            ``"messages"``.
        key: the id, or what else tells it from other rows, as JSON.
        problem: what is wrong with it.
        file: the file that it is from; None when that is not known.
        row: its row in the file, from 1 (with CSV without the header, with text the line); None
            when that is not known.
        record: its fields as JSON.
    """

    kind: str
    key: str
    problem: str
    file: str | None
    row: int | None
    record: str

    def text(self) -> str:
        """One line that names file, row and key."""
        place = self.kind if self.file is None else self.file
        if self.row is not None:
            place = f"{place}:{self.row}"
        return f"{place}: {self.problem} ({self.key})"


SCHEMA = "kind string, key string, problem string, file string, row bigint, record string"
"""The columns of a quarantine table."""


def as_json(value: Any) -> str:
    """A value as JSON, without what is null."""
    return json.dumps(_present(value), ensure_ascii=False, default=str, separators=(",", ":"))


def record_of(row: dict[str, Any], kind: str) -> str:
    """The fields of a keyed row as JSON, or the line that it was."""
    if (line := row.get("_line")) is not None:
        return str(line)
    keys = {name: row[f"_{name}"] for name in KEYS[kind]}
    return as_json({**keys, **(row.get("_fields") or {})})


def _present(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _present(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_present(part) for part in value]
    return value


def check_choices(on_error: str, unknown_zones: UnknownZones) -> None:
    """Refuses another way to treat bad rows and unknown time zones than there is."""
    if on_error not in ("fail", "quarantine"):
        raise ValueError(f'on_error must be "fail" or "quarantine", not {on_error!r}')
    engine_options(1, unknown_zones)


@contextlib.contextmanager
def worker_errors() -> Iterator[None]:
    """Has an `Error` of a worker raised as what it was there."""
    try:
        yield
    except Exception as error:
        if "No module named 'push_fanout'" in str(error):
            raise Error(
                "the Python of the workers does not have the package push_fanout: set "
                "PYSPARK_PYTHON or spark.pyspark.python to one that has, before Spark is started",
                "PF_MISUSE",
            ) from error
        found = re.search(r"^push_fanout\.errors\.Error: (.*)$", str(error), re.MULTILINE)
        if found is None:
            raise
        raise Error(found[1], "PF_INVALID") from error


def bad_rows(
    count: int, check: Callable[[int], None], found: Callable[[Error], tuple[int, str]]
) -> Iterator[tuple[int, str]]:
    """Finds the bad rows of a table, in order, each once.

    Args:
        count: the number of rows.
        check: reads the rows from a given one on, and raises an `Error` for the first bad one.
        found: the number of the row, from 0 on and counted from the given one, and the text.
    """
    start = 0
    while start < count:
        try:
            check(start)
            return
        except Error as error:
            row, text = found(error)
            yield start + row, text
            start += row + 1
