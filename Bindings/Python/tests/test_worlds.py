"""The conformance vectors and random worlds, against the independent evaluator of Tests/Oracle.

PUSH_WORLDS=100 compares so many worlds, PUSH_SEED=n begins with another seed.
"""

from __future__ import annotations

import json
import os

import numpy as np
import pyarrow
import pytest
from worlds_under_test import load

from push_fanout import OUTCOMES, Fanout

worlds = load("Bindings/C/Tests/worlds.py", "worlds")
FIRST = int(os.environ.get("PUSH_SEED", "0"))
SEEDS = range(FIRST, FIRST + int(os.environ.get("PUSH_WORLDS", "10")))
with open(worlds.VECTORS, encoding="utf-8") as file:
    CASES = [json.loads(line) for line in file]


class Engine:
    """What worlds.py asks of an engine."""

    def __init__(self, settings: bytes, threads: int) -> None:
        self.fanout = Fanout.from_ndjson(settings, threads=threads)

    def close(self) -> None:
        self.fanout.close()

    def evaluate(self, messages: bytes, form: str, devices: int) -> bytes:
        return self.fanout.evaluate(messages, form, devices=bool(devices))  # type: ignore[arg-type]

    def rows(self, messages: bytes) -> list[dict[str, object]]:
        """The rows from single decisions; batches and Arrow must have the same."""
        fanout = self.fanout
        rows, coded = [], []
        lines = [json.loads(line) for line in messages.splitlines() if line.strip()]
        decisions = [fanout.decide(line) for line in lines]
        for number, (line, decision) in enumerate(zip(lines, decisions)):
            for row in decision.rows():
                found: dict[str, object] = {
                    "message": line["id"], "user": row.user, "action": row.action,
                    "reason": row.reason,
                }  # fmt: skip
                if row.scope is not None:
                    found["scope"] = row.scope
                if row.action == "push":
                    found["devices"] = list(row.devices or ())
                rows.append(found)
                outcome = decision.outcome(row.user)
                worlds.expect(outcome, (row.action, row.reason, row.scope), "the user's outcome")
            codes = decision.codes
            kept = np.flatnonzero(codes)
            members = decision.members
            coded += [(number, members[rank], int(codes[rank])) for rank in kept.tolist()]
        batch = fanout.decide_batch(messages)
        worlds.expect(
            [batch.codes_of(index).tolist() for index in range(len(batch))],
            [decision.codes.tolist() for decision in decisions],
            "codes of the batch",
        )
        for ids in (True, "views"):
            table = pyarrow.table(fanout.decisions(messages, ids=ids))
            worlds.expect(_triples(table), coded, f"rows with ids={ids}")
        relation = fanout.decisions(messages)
        names = pyarrow.table(relation.users)["id"]
        numbers = pyarrow.table(relation)
        numbers = numbers.set_column(1, "user", names.take(numbers["user"]))
        worlds.expect(_triples(numbers), coded, "rows with numbers")
        return rows


def _triples(table: pyarrow.Table) -> list[tuple[int, str, int]]:
    return list(zip(*(table[name].to_pylist() for name in ("message", "user", "code"))))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_vector_is_decided_as_expected(case):
    worlds.vector(Engine, case)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_world_is_decided_as_by_the_evaluator(seed):
    worlds.world(Engine, seed, worlds.RULES[seed % len(worlds.RULES)])


def test_there_are_vectors_and_outcomes():
    assert len(CASES) >= 96
    registry = os.path.join(os.path.dirname(worlds.ORACLE), "..", "docs", "outcome-codes.csv")
    with open(registry, encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    # New codes are at the end, pushes' and others', whatever their numbers.
    assert sorted(lines, key=lambda line: int(line.split(",")[0])) == [
        f"{code},{outcome.action},{outcome.reason},{outcome.scope or ''}"
        for code, outcome in sorted(OUTCOMES.items())
    ]
