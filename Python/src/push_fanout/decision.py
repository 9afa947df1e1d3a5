"""The decision for one message."""

from __future__ import annotations

import ctypes as C
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _library
from ._library import CODE_COUNT, call, library, text_arguments
from ._native import Answer
from .outcomes import OUTCOMES, Outcome

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Stamp(NamedTuple):
    """Which settings an answer is of.

    Ranks and codes belong to ids if, and only if, ``epoch`` and ``membership`` of both are equal.

    Attributes:
        epoch: drawn when the engine was opened; numbers of different epochs do not compare.
        sequence: the settings' sequence number: 1, and one more for each update.
        membership: the membership version of the conversation; 0 for one without members.
    """

    epoch: int
    sequence: int
    membership: int


def stamp_of(stamp: _library.Stamp) -> Stamp:
    return Stamp(stamp.epoch, stamp.sequence, stamp.membership)


class Evaluated(bytes):
    """What ``push-fanout evaluate`` writes.

    Attributes:
        stamp: which settings all messages were decided by; its membership is 0.
    """

    stamp: Stamp


class Row(NamedTuple):
    """The decision for one recipient.

    Attributes:
        user: the recipient.
        action: ``"push"``, ``"local"`` or ``"none"``.
        reason: why.
        scope: the scope of the setting that decided; None when there is none.
        devices: those that a push goes to; empty for ``"none"``. None for ``"local"``, whose
            devices only `Fanout.evaluate` lists.
    """

    user: str
    action: str
    reason: str
    scope: str | None
    devices: tuple[str, ...] | None


class Decision(Answer):
    """Who gets a push for one message, and why others do not: what `Fanout.decide` gives.

    It keeps the version of the settings that it was decided on, whatever is updated later. Any
    number of threads may read it.

    >>> from push_fanout import Fanout
    >>> fanout = Fanout.from_ndjson(b'''
    ... {"kind":"user","id":"ann","quietHours":{"start":"22:00","end":"08:00"}}
    ... {"kind":"member","conversation":"g","user":"ann"}
    ... {"kind":"member","conversation":"g","user":"ben"}
    ... ''')
    >>> decision = fanout.decide({"id": "m", "conversation": "g", "at": "2024-06-03T23:00:00Z"})
    >>> decision.pushes
    ['ben']
    >>> decision.counts
    {'none/quietHours/app': 1, 'push/allowed/default': 1}
    >>> decision.outcome("ann").reason
    'quietHours'
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("decisions are made by Fanout.decide()")

    def _known(self) -> tuple[int, int, int, int, int, int]:
        """Epoch, sequence, membership, members, recipients and pushes."""
        summary = self._summary
        if summary is None:
            # Raises what is wrong.
            call(library.pf_answer_summary, self._handle, C.byref(_library.Summary()))
            raise RuntimeError("the decision has no summary")
        return summary

    @property
    def stamp(self) -> Stamp:
        """Which settings it is of."""
        return Stamp(*self._known()[:3])

    @property
    def member_count(self) -> int:
        """The number of members of the conversation, and of codes."""
        return self._known()[3]

    @property
    def recipient_count(self) -> int:
        """The number of members for whom there was something to decide: all but the sender, and
        those whose membership begins later."""
        return self._known()[4]

    @property
    def push_count(self) -> int:
        """The number of pushes."""
        return self._known()[5]

    @property
    def counts(self) -> dict[str, int]:
        """The number of recipients by outcome, ``action/reason/scope``, in the order of these
        keys."""
        counts = (C.c_uint32 * CODE_COUNT)()
        call(library.pf_answer_counts, self._handle, counts)
        found = {OUTCOMES[code].key: count for code, count in enumerate(counts) if count}
        return dict(sorted(found.items()))

    @property
    def pushes(self) -> list[str]:
        """The ids of those who get a push, in the order of ranks."""
        return self._ids(library.pf_answer_push_ids)

    @property
    def members(self) -> list[str]:
        """The ids of all members by rank: those that `codes` belong to. O(members)."""
        return self._ids(library.pf_answer_members)

    @property
    def refused(self) -> list[str]:
        """The ids of members who are not decided for, as this machine does not have their time
        zone: they are no recipients."""
        return self._ids(library.pf_answer_refused)

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """The code of each member's outcome by rank; 0 for one who is not a recipient."""
        found: npt.NDArray[np.uint8] = self._fill(
            library.pf_answer_codes, "uint8", self.member_count
        )
        return found

    @property
    def push_bitmap(self) -> npt.NDArray[np.uint8]:
        """A bit for each member by rank, 1 for a push, the lowest bit first:
        ``numpy.unpackbits(..., bitorder="little")`` unpacks it."""
        found: npt.NDArray[np.uint8] = self._fill(
            library.pf_answer_push_bitmap, "uint8", (self.member_count + 7) // 8
        )
        return found

    @property
    def push_ranks(self) -> npt.NDArray[np.uint32]:
        """The ranks of those who get a push, ascending."""
        found: npt.NDArray[np.uint32] = self._fill(
            library.pf_answer_push_ranks, "uint32", self.push_count
        )
        return found

    @property
    def user_numbers(self) -> npt.NDArray[np.uint32]:
        """The number of each member's user by rank. It never changes while the engine lives."""
        found: npt.NDArray[np.uint32] = self._fill(
            library.pf_answer_users, "uint32", self.member_count
        )
        return found

    def outcome(self, user: str) -> Outcome | None:
        """The outcome for one user; None for one who is not a recipient. O(log members)."""
        code = C.c_uint8()
        call(library.pf_answer_code, self._handle, *text_arguments(user, "user"), C.byref(code))
        return OUTCOMES[code.value] if code.value else None

    def targets(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each user who gets a push, with the devices that it goes to, in the order of ranks."""
        targets = _library.Targets()
        call(library.pf_answer_push_targets, self._handle, C.byref(targets))
        try:
            users = targets.users.texts()
            devices = targets.devices.texts()
            starts = (C.c_uint64 * (len(users) + 1)).from_address(targets.device_starts)[:]
        finally:
            library.pf_targets_free(C.addressof(targets))
        return [
            (user, tuple(devices[starts[index] : starts[index + 1]]))
            for index, user in enumerate(users)
        ]

    def rows(self) -> Iterator[Row]:
        """The decision for each recipient, by rank.

        >>> from push_fanout import Fanout
        >>> fanout = Fanout.from_ndjson(b'{"kind":"member","conversation":"g","user":"ben"}')
        >>> decision = fanout.decide({"id": "m", "conversation": "g", "at": 0})
        >>> list(decision.rows())
        [Row(user='ben', action='push', reason='allowed', scope='default', devices=('default',))]
        """
        targets = iter(self.targets())
        for user, code in zip(self.members, self.codes.tolist()):
            if code == 0:
                continue
            outcome = OUTCOMES[code]
            devices: tuple[str, ...] | None = None if outcome.action == "local" else ()
            if outcome.action == "push":
                devices = next(targets)[1]
            yield Row(user, *outcome, devices)

    def __repr__(self) -> str:
        return f"<Decision: {self.push_count} pushes, {self.recipient_count} recipients>"

    def _ids(self, function: Any) -> list[str]:
        ids = _library.IDs()
        call(function, self._handle, C.byref(ids))
        try:
            return ids.texts()
        finally:
            library.pf_ids_free(C.addressof(ids))

    def _fill(self, function: Any, kind: str, count: int) -> Any:
        import numpy as np

        values = np.empty(count, kind)
        call(function, self._handle, values.ctypes.data, count, None)
        return values
