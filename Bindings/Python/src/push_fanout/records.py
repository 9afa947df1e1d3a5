"""Records as lines of NDJSON: values of Python and NumPy, ids, instants."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone, tzinfo
from decimal import Decimal
from typing import Any, SupportsIndex, Union, cast

Record = Mapping[str, Any]
Records = Union[Record, Iterable[Record]]
Instant = Union[int, datetime]
Id = Union[str, int]
"""An id: a text, or an integer, which is the text of its decimal digits."""

ID_FIELDS = frozenset(
    ["id", "conversation", "user", "sender", "channel", "parent", "mentions", "replyTo",
     "replyToUser", "importantSenders", "blockedSenders"]
)  # fmt: skip
"""The fields that are ids, or lists of ids."""
INSTANT_FIELDS = frozenset(["at", "sentAt", "mutedUntil", "since", "seenAt", "ts"])
"""The fields that are instants."""
NO_ZONE = (
    'has no time zone, so that nothing says which instant it is: give it one, or time_zone="UTC", '
    "or whichever it is in"
)


def zone_named(name: str | None) -> tzinfo | None:
    """The time zone of a parameter ``time_zone``.

    >>> zone_named("Mars/Base")
    Traceback (most recent call last):
    ...
    ValueError: time_zone: there is no time zone "Mars/Base"
    """
    if name is None:
        return None
    if not isinstance(name, str):
        raise TypeError(f"time_zone must be the name of a zone, not {type(name).__name__}")
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f'time_zone: there is no time zone "{name}"') from None


def milliseconds(at: Instant, name: str, zone: tzinfo | None = None) -> int:
    """An instant as milliseconds since 1970.

    Args:
        at: the instant.
        name: what errors call it.
        zone: the time zone of a datetime without one.

    >>> milliseconds(datetime(2024, 6, 3, tzinfo=timezone.utc), "at")
    1717372800000
    >>> milliseconds(datetime(2024, 6, 3), "at", zone_named("Asia/Shanghai"))
    1717344000000
    """
    if isinstance(at, datetime):
        if at.tzinfo is None:
            at = _in_zone(at, name, zone)
        since = at - datetime(1970, 1, 1, tzinfo=timezone.utc)
        return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    if type(at).__name__ == "datetime64":
        # NumPy's have no time zones; digits past the microsecond are dropped, as below.
        moment: datetime = cast(Any, at).astype("datetime64[us]").item()
        return milliseconds(moment, name, zone)
    if is_bool(at) or not hasattr(at, "__index__"):
        raise TypeError(f"{name} must be milliseconds or a datetime, not {type(at).__name__}")
    number = at.__index__()
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{name} is out of range: {number}")
    return number


def _in_zone(at: datetime, name: str, zone: tzinfo | None) -> datetime:
    if zone is None:
        raise ValueError(f"{name} {NO_ZONE}: {at}")
    # Which of two instants, or that there is none, nothing says either.
    here, other = (at.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if here.utcoffset() != other.utcoffset():
        raise ValueError(f"{name} is twice or never in {zone}: {at}")
    return here


def is_bool(value: object) -> bool:
    """Whether a value is a truth value of Python or NumPy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA: what libraries of frames have for null.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None:
        return True
    if isinstance(value, (str, int, list, dict)):
        return False
    if type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except Exception:  # What cannot be compared, such as an array, is there.
        return False


def checked_integer(value: SupportsIndex, name: str) -> int:
    """A number for an unsigned 64-bit integer of C."""
    if is_bool(value) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}")
    number = value.__index__()
    if not 0 <= number < 2**64:
        raise ValueError(f"{name} is out of range: {number}")
    return number


def encoded(id: Id, name: str) -> bytes:
    """The bytes of an id.

    >>> encoded("ü", "user"), encoded(42, "user")
    (b'\\xc3\\xbc', b'42')
    """
    if isinstance(id, str):
        return id.encode("utf-8", "surrogatepass")
    if is_bool(id) or not hasattr(id, "__index__"):
        raise TypeError(f"{name} must be a str or an integer, not {type(id).__name__}")
    return str(id.__index__()).encode()


# ------------------------------------------------------------------------------------------- Lines


def _plain(value: Any, zone: tzinfo | None) -> object:
    """What JSON has no form for, as something that it has."""
    if isinstance(value, datetime) or type(value).__name__ == "datetime64":
        return None if is_missing(value) else milliseconds(value, "an instant", zone)
    if is_missing(value):
        return None
    if is_bool(value):
        return bool(value)
    if hasattr(value, "__index__") and not getattr(value, "shape", ()):
        return value.__index__()
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value)
    if isinstance(value, Mapping):
        return dict(value)
    # An array, a column of a frame; a number of NumPy that is no integer.
    to_list: Any = getattr(value, "tolist", None) or getattr(value, "to_list", None)
    if to_list is not None:
        return to_list()
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"a record cannot have a value of type {type(value).__name__}")


@functools.lru_cache(maxsize=64)
def _encoder(zone: tzinfo | None) -> json.JSONEncoder:
    return json.JSONEncoder(
        ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"),
        default=functools.partial(_plain, zone=zone),
    )  # fmt: skip


def _present(value: Any) -> Any:
    """A value without what is missing in it."""
    if isinstance(value, Mapping):
        return {name: _present(part) for name, part in value.items() if not is_missing(part)}
    if isinstance(value, (list, tuple)):
        return [None if is_missing(part) else _present(part) for part in value]
    return value


def _id_text(value: Any) -> Any:
    """Integers as texts, alone or in a list; anything else as it is."""
    if isinstance(value, str):
        return value
    to_list = getattr(value, "tolist", None) or getattr(value, "to_list", None)
    if to_list is not None:
        value = to_list()
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_id_text(part) for part in value]
    if hasattr(value, "__index__") and not is_bool(value):
        return str(value.__index__())
    # A larger one was rounded, perhaps, and is another's id then.
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return value


def json_line(record: Record, zone: tzinfo | None = None) -> bytes:
    """A record as a line of NDJSON.

    >>> json_line({"kind": "user", "id": "ü", "level": float("nan")}).decode()
    '{"kind":"user","id":"ü"}\\n'
    >>> json_line({"id": 7, "mentions": [8, "9"]})
    b'{"id":"7","mentions":["8","9"]}\\n'
    >>> json_line({"id": 7.0, "at": 5.0})
    b'{"id":"7","at":5}\\n'
    """
    if not isinstance(record, dict):
        if not isinstance(record, Mapping):
            raise TypeError(f"a record must be a dictionary, not {type(record).__name__}")
        record = dict(record)
    for name in ID_FIELDS.intersection(record):
        if type(record[name]) is not str:
            record = {**record, name: _id_text(record[name])}
    for name in INSTANT_FIELDS.intersection(record):
        # What a frame with gaps has for integers.
        if isinstance(record[name], float) and record[name].is_integer():
            record = {**record, name: int(record[name])}
    encoder = _encoder(zone)
    try:
        text = encoder.encode(record)
    except ValueError:
        # It may have NaN; for anything else the error is raised again.
        text = encoder.encode(_present(record))
    return text.encode("utf-8", "surrogatepass") + b"\n"


def records_of(records: Any, name: str) -> Iterable[Record]:
    """One record, or several."""
    if not isinstance(records, Mapping):
        if isinstance(records, Iterable):
            return cast("Iterable[Record]", records)
        raise TypeError(f"{name} cannot be a {type(records).__name__}")
    if records and all(_is_column(value) for value in records.values()):
        raise TypeError(
            f"{name} looks like columns, as each value is a list; give a table of them, such as "
            "pyarrow.table(...), or a dictionary for each record"
        )
    return [records]


def _is_column(value: object) -> bool:
    return isinstance(value, (list, tuple)) or bool(getattr(value, "shape", ()))


def ndjson(records: Any, name: str, zone: tzinfo | None = None) -> bytes:
    """Records as lines of NDJSON."""
    return b"".join(json_line(record, zone) for record in records_of(records, name))
