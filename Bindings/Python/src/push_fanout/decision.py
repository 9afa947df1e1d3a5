"""The decision for one message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

from ._native import Answer
from .display import NoCopy, html_table, instant_text
from .outcomes import OUTCOMES, Outcome
from .records import Id, encoded

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


class Change(NamedTuple):
    """When the answer for a plain message next changes without an update.

    Attributes:
        at: the instant, milliseconds since 1970; None for never.
        before: the outcome until then, from the instant asked for on; None for no recipient.
        after: the outcome from then on; that of `before` for never.
        stamp: which settings the answer is of; its membership is 0.
    """

    at: int | None
    before: Outcome | None
    after: Outcome | None
    stamp: Stamp

    @property
    def instant(self) -> datetime | None:
        """The instant as a datetime in UTC; None for never."""
        if self.at is None:
            return None
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=self.at)

    def __repr__(self) -> str:
        before, after = (
            "no recipient" if outcome is None else outcome.key
            for outcome in (self.before, self.after)
        )
        if self.at is None:
            return f"<Change: never; {before}>"
        return f"<Change: {before} until {instant_text(self.at)}, then {after}>"


class Explanation(dict[str, Any]):
    """Why a user gets a push for a message, or not: the object of ``push-fanout explain --json``.

    It is printed as people read it: the answer, what was examined, and what would change it.
    """

    @property
    def answer(self) -> str:
        """The answer in a sentence."""
        return str(self["answer"])

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None for one who is not a recipient."""
        decision = self.get("decision")
        if decision is None:
            return None
        return Outcome(decision["action"], decision["reason"], decision.get("scope"))

    @property
    def steps(self) -> list[dict[str, Any]]:
        """What was examined, in order: ``rule``, ``subject``, ``found``, ``stops``."""
        return list(self["steps"])

    @property
    def alternatives(self) -> list[dict[str, Any]]:
        """What would lead to a push, or not: one or two ``changes``, and the ``decision`` then."""
        return list(self["alternatives"])

    @property
    def advice(self) -> list[str]:
        """The most useful of the alternatives, in sentences."""
        return list(self["advice"])

    def __repr__(self) -> str:
        steps = self["steps"]
        subjects, found = (max(len(step[name]) for step in steps) for name in ("subject", "found"))
        found = min(found, 60)
        lines = [self["answer"], ""]
        lines += [
            f"{'STOP' if step['stops'] else 'ok':4}  {step['subject']:{subjects}}  "
            f"{step['found']:{found}}  {step['rule']}"
            for step in steps
        ]
        lines.append("")
        lines += self.advice
        outcome = self.outcome
        return "\n".join([*lines, "no recipient" if outcome is None else outcome.key])

    def _repr_html_(self) -> str:
        rows = [
            ("STOP" if step["stops"] else "ok", step["subject"], step["found"], step["rule"])
            for step in self["steps"]
        ]
        rows += [("", "", text, "") for text in self.advice]
        return html_table(self.answer, ("", "subject", "found", "rule"), rows)


class Decision(NoCopy, Answer):
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

    @property
    def stamp(self) -> Stamp:
        """Which settings it is of."""
        return Stamp(*self._summary()[:3])

    @property
    def member_count(self) -> int:
        """The number of members of the conversation, and of codes."""
        return self._summary()[3]

    @property
    def recipient_count(self) -> int:
        """The number of members for whom there was something to decide: all but the sender, and
        those whose membership begins later."""
        return self._summary()[4]

    @property
    def push_count(self) -> int:
        """The number of pushes."""
        return self._summary()[5]

    @property
    def counts(self) -> dict[str, int]:
        """The number of recipients by outcome, ``action/reason/scope``, in the order of these
        keys."""
        counts = self._counts().items()
        return dict(sorted((OUTCOMES[code].key, count) for code, count in counts))

    @property
    def pushes(self) -> list[str]:
        """The ids of those who get a push, in the order of ranks."""
        return self._push_ids()

    @property
    def members(self) -> list[str]:
        """The ids of all members by rank: those that `codes` belong to. O(members)."""
        return self._members()

    @property
    def refused(self) -> list[str]:
        """The ids of members who are not decided for, as this machine does not have their time
        zone: they are no recipients."""
        return self._refused()

    @property
    def codes(self) -> npt.NDArray[np.uint8]:
        """The code of each member's outcome by rank; 0 for one who is not a recipient."""
        found: npt.NDArray[np.uint8] = _filled(self._codes, "uint8", self.member_count)
        return found

    @property
    def push_bitmap(self) -> npt.NDArray[np.uint8]:
        """A bit for each member by rank, 1 for a push, the lowest bit first:
        ``numpy.unpackbits(..., bitorder="little")`` unpacks it."""
        size = (self.member_count + 7) // 8
        found: npt.NDArray[np.uint8] = _filled(self._push_bitmap, "uint8", size)
        return found

    @property
    def push_ranks(self) -> npt.NDArray[np.uint32]:
        """The ranks of those who get a push, ascending."""
        found: npt.NDArray[np.uint32] = _filled(self._push_ranks, "uint32", self.push_count)
        return found

    @property
    def user_numbers(self) -> npt.NDArray[np.uint32]:
        """The number of each member's user by rank. It never changes while the engine lives."""
        found: npt.NDArray[np.uint32] = _filled(self._users, "uint32", self.member_count)
        return found

    def outcome(self, user: Id) -> Outcome | None:
        """The outcome for one user; None for one who is not a recipient. O(log members)."""
        return OUTCOMES.get(self._code(encoded(user, "user")))

    def targets(self) -> list[tuple[str, tuple[str, ...]]]:
        """Each user who gets a push, with the devices that it goes to, in the order of ranks."""
        return self._targets()

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
        return f"<Decision: {self.push_count:,} pushes, {self.recipient_count:,} recipients>"

    def _repr_html_(self) -> str:
        rows = [(*outcome.split("/"), "")[:3] for outcome in self.counts]
        title = f"{self.push_count:,} pushes, {self.recipient_count:,} recipients"
        names = ("action", "reason", "scope", "recipients")
        return html_table(title, names, [(*row, n) for row, n in zip(rows, self.counts.values())])


def _filled(fill: Callable[[int, int], None], kind: str, count: int) -> Any:
    """An array that C fills."""
    import numpy as np

    values = np.empty(count, kind)
    fill(values.__array_interface__["data"][0], count)
    return values
