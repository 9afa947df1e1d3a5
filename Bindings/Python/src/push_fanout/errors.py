"""What is raised for settings, messages and files that cannot be used."""

from __future__ import annotations


class UnknownTimeZoneWarning(UserWarning):
    """The time-zone data of this machine lack the zone of users in a store or a snapshot, who are
    not decided for (`Fanout.unknown_zone_users`)."""


class Error(Exception):
    """Something that the engine refused, in the words of the `push-fanout` command.

    Attributes:
        status: the status code of the C library, such as ``"PF_INVALID"``; docs/c.md and
            push_fanout.h have all of them.

    >>> from push_fanout import Fanout
    >>> try:
    ...     Fanout.from_ndjson(b'{"kind":"user","id":"u1","levle":"all"}')
    ... except Error as error:
    ...     print(error, error.status)
    settings.ndjson:1: unknown field "levle"; did you mean "level"? PF_INVALID
    """

    def __init__(self, message: str, status: str) -> None:
        super().__init__(message, status)
        self.status = status

    def __str__(self) -> str:
        return str(self.args[0])
