"""A program in the eyes of type checkers: mypy --strict and pyright read it with the package.

Each line with "type: ignore" has to be an error, as unused ones are errors too.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import numpy as np
import numpy.typing as npt
import polars
import pytest

from push_fanout import (
    OUTCOMES,
    Batch,
    Change,
    Decision,
    Decisions,
    Error,
    Fanout,
    Messages,
    Outcome,
    Row,
    Stamp,
)


def test_a_typed_program_runs() -> None:
    members = polars.DataFrame({"conversation": ["g"], "user": ["ann"]})
    with Fanout.open(settings=[{"kind": "app", "rules": "easemob"}], members=members) as fanout:
        decision: Decision = fanout.decide({"id": "m", "conversation": "g", "at": 0})
        pushes: list[str] = decision.pushes
        counts: dict[str, int] = decision.counts
        codes: npt.NDArray[np.uint8] = decision.codes
        rows: Iterator[Row] = decision.rows()
        stamp: Stamp = decision.stamp
        outcome: Outcome | None = decision.outcome("ann")
        messages: Messages = fanout.messages([{"id": "m", "conversation": "g", "at": 0}])
        batch: Batch = fanout.decide_batch(messages, parts=["counts"])
        decisions: Decisions = fanout.decisions(messages, ids=True)
        change: Change = fanout.next_change("ann", "g", datetime(2024, 6, 3, tzinfo=timezone.utc))
    assert pushes == ["ann"] and counts == {"push/allowed/default": 1} and len(codes) == 1
    assert next(rows).devices == ("default",) and stamp.sequence == 1
    assert outcome == OUTCOMES[33] and batch.counts[0, 33] == 1
    assert polars.DataFrame(decisions)["user"].to_list() == ["ann"] and change.at is None


def test_wrong_types_are_found_by_the_checkers() -> None:
    fanout = Fanout.from_ndjson(b"")
    with pytest.raises(TypeError):
        fanout.decide("m")  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        Fanout.open(store="s", access="append")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        fanout.members(1.5)  # type: ignore[arg-type]
    with pytest.raises(Error):
        fanout.update("{")
