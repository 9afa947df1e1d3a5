"""What Spark's page and the caller see of a job."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .problems import worker_errors

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

COUNTERS = (
    "messages", "decisions", "pushes", "held", "bad_rows", "engines_opened", "bytes_fetched",
    "microseconds_deciding", "bytes_written",
)  # fmt: skip


class Metrics:
    """Accumulators that the workers of a job add to. As Spark counts them, work that was done twice
    counts twice; the summaries of `prepare` and of outputs in files do not.

    >>> Metrics.NAMES[0]
    'messages'
    """

    NAMES = COUNTERS

    def __init__(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        self.counters = {name: context.accumulator(0) for name in COUNTERS}

    def values(self) -> dict[str, int]:
        """What was counted so far."""
        return {name: int(counter.value) for name, counter in self.counters.items()}


@contextlib.contextmanager
def described(spark: SparkSession, text: str) -> Iterator[None]:
    """Has Spark's page show what the jobs of the block do."""
    context: SparkContext = spark.sparkContext
    before = context.getLocalProperty("spark.job.description")
    context.setJobDescription(f"push-fanout: {text}")
    try:
        yield
    finally:
        context.setLocalProperty("spark.job.description", before)  # type: ignore[arg-type]


class Clock:
    """Seconds of the steps of a job."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}

    @contextlib.contextmanager
    def step(self, spark: SparkSession, job: str, name: str) -> Iterator[None]:
        """A step, which Spark's page shows by its name."""
        start = time.monotonic()
        with described(spark, f"{job}: {name}"), worker_errors():
            yield
        self.steps[name] = round(time.monotonic() - start, 3)


def summary_text(summary: dict[str, Any]) -> str:
    """A summary for people, one line a figure.

    >>> print(summary_text({"members": 20000000, "seconds": {"build": 1.5}}))
    members               20,000,000
    seconds, build               1.5
    """
    lines = []
    for name, value in summary.items():
        values = value.items() if isinstance(value, dict) else [("", value)]
        for part, number in values:
            label = f"{name}, {part}" if part else name
            text = f"{number:,}" if isinstance(number, (int, float)) else str(number)
            lines.append(f"{label.replace('_', ' '):<20}{text:>12}")
    return "\n".join(lines)
