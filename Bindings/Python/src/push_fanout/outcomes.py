"""Outcomes and their codes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from . import _native


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


OUTCOMES: Mapping[int, Outcome] = MappingProxyType(
    {code: Outcome(*words) for code, words in _native.outcomes().items()}
)
"""The registry of outcomes by code (docs/outcome-codes.csv), which cannot be changed. Codes are
frozen: later versions only append. A push has an odd code; 0 is a member who is not a recipient."""

REGISTRY_VERSION: int = _native.REGISTRY_VERSION
"""The number of outcomes in the registry. Codes that were stored with a version are understood by
every later one."""
