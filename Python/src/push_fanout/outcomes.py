"""Outcomes and their codes."""

from __future__ import annotations

import ctypes as C
from typing import NamedTuple

from ._library import CODE_COUNT, OK, library


class Outcome(NamedTuple):
    """What happens for a recipient, why, and which setting decided.

    Attributes:
        action: ``"push"``, ``"local"`` or ``"none"``.
        reason: such as ``"quietHours"``.
        scope: the scope of the setting that decided, such as ``"conversation"``; None when there is
            none.

    >>> OUTCOMES[9].key
    'push/allowed/conversation'
    """

    action: str
    reason: str
    scope: str | None

    @property
    def key(self) -> str:
        """``action/reason/scope``, without ``/scope`` when there is none."""
        return "/".join(word for word in self if word is not None)


def _outcomes() -> dict[int, Outcome]:
    found = {}
    words = [C.c_char_p() for _ in range(3)]
    for code in range(1, CODE_COUNT):
        if library.pf_outcome(code, *map(C.byref, words)) == OK:
            action, reason, scope = (word.value.decode() if word.value else None for word in words)
            assert action is not None and reason is not None
            found[code] = Outcome(action, reason, scope)
    return found


OUTCOMES: dict[int, Outcome] = _outcomes()
"""The registry of outcomes by code (docs/outcome-codes.csv). Codes are frozen: later versions only
append. A push has an odd code; 0 is a member who is not a recipient."""

REGISTRY_VERSION: int = library.pf_outcome_registry_version()
"""The number of outcomes in the registry. Codes that were stored with a version are understood by
every later one."""
