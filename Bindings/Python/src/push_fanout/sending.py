"""Requests to Apple's push service and Firebase, and what their answers mean."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, SupportsIndex

from . import _native
from .display import NoCopy
from .records import Instant, checked_integer, milliseconds

Platform = Literal["apns", "fcm"]
PLATFORMS: dict[str, int] = {"apns": _native.APNS, "fcm": _native.FCM}


def platform_bit(name: str) -> int:
    """The number of a platform; a `ValueError` for another."""
    if name not in PLATFORMS:
        raise ValueError(f'a platform is "apns" or "fcm", not {name!r}')
    return PLATFORMS[name]


class Requests(NoCopy):
    """The requests of messages, made while they are read: what `Fanout.requests` gives. A sender
    that waits for its connection holds back what is rendered.

    Iterated, it gives each line as a dictionary; `chunks` gives the lines as they are. What was
    read is gone, as of a file.
    """

    __slots__ = ("_chunks", "_lines")

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._lines = (line for chunk in chunks for line in chunk.splitlines())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self

    def __next__(self) -> dict[str, Any]:
        return dict(json.loads(next(self._lines)))

    def chunks(self) -> Iterator[bytes]:
        """NDJSON, what ``push-fanout render --platform`` writes, about 256 KiB of whole lines at a
        time."""
        return self._chunks


class Step(NamedTuple):
    """What a sender does after an answer of a provider.

    Attributes:
        action: "sent", "gone", "wrong", "refused", "credentials", "renew" or "retry"
            (docs/sending.md).
        retry_at: when the request is tried again, milliseconds since 1970; None for never.
        timestamp: when APNs knew that the token was gone; None where it does not say.
        forgets_token: whether the device's token is forgotten.
        needs_new_connection: whether the request is tried again on a new connection.
    """

    action: str
    retry_at: int | None
    timestamp: int | None
    forgets_token: bool
    needs_new_connection: bool


def read_provider_answer(
    platform: Platform,
    status: SupportsIndex | None,
    body: bytes = b"",
    *,
    now: Instant,
    random: float,
    attempt: SupportsIndex = 1,
    expiry: Instant | None = None,
    retry_after: SupportsIndex | None = None,
    registered_at: Instant | None = None,
    surely_not_taken: bool = False,
) -> Step:
    """Says what an answer to a request means: the same for the same values.

    Args:
        platform: who answers.
        status: the status of HTTP; None where no answer came.
        body: the body of the answer; one that is not the provider's JSON says nothing.
        now: the time.
        random: a random number, at least 0 and below 1, that spreads attempts.
        attempt: how often the request was tried, from 1.
        expiry: until when it is worth sending; None for one that is tried once.
        retry_after: the seconds of the header ``Retry-After``.
        registered_at: when the device registered its token.
        surely_not_taken: whether a provider that did not answer has not taken the request, as its
            GOAWAY names an earlier stream.

    >>> read_provider_answer("apns", 503, now=1000, random=0.5, expiry=9000)[:2]
    ('retry', 2250)
    >>> body = b'{"error":{"status":"NOT_FOUND","details":[{"errorCode":"UNREGISTERED"}]}}'
    >>> read_provider_answer("fcm", 404, body, now=1000, random=0.5).forgets_token
    True
    """

    def instant(at: Instant | None, name: str) -> int:
        return 0 if at is None else milliseconds(at, name)

    def number(value: SupportsIndex | None, name: str) -> int:
        # The library says what is wrong with a number that fits its type.
        return 0 if value is None else min(checked_integer(value, name), (1 << 31) - 1)

    action, retry_at, timestamp, forgets, needs_new = _native.read_provider_answer(
        platform_bit(platform), number(status, "status"), body,
        number(retry_after, "retry_after"), instant(registered_at, "registered_at"),
        milliseconds(now, "now"), instant(expiry, "expiry"), number(attempt, "attempt"),
        surely_not_taken, random,
    )  # fmt: skip
    return Step(
        action,
        None if retry_at < 0 else retry_at,
        None if timestamp < 0 else timestamp,
        forgets,
        needs_new,
    )
