"""What Spark's page and the caller see of a job."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .problems import worker_errors

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

Result = TypeVar("Result")
COUNTERS = (
    "messages", "decisions", "pushes", "held", "bad_rows", "engines_opened", "bytes_fetched",
    "refused_users", "microseconds_deciding", "bytes_written",
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


def at_once(spark: SparkSession, jobs: Sequence[Callable[[], Result]]) -> list[Result]:
    """Calls functions that run Spark jobs, each in a thread of its own: while Spark plans the jobs
    of one, or waits for its last tasks, the executors have tasks of the others.

    Args:
        spark: the session.
        jobs: the functions; Spark's properties of this thread hold in theirs, too.

    Returns:
        their results, in the order of the functions.

    Raises:
        Exception: what the first function to fail has raised, when the jobs of the others are
            cancelled.
    """
    from pyspark import InheritableThread

    context: SparkContext = spark.sparkContext
    tag = f"push-fanout-{uuid.uuid4().hex}"
    results: dict[int, Result] = {}
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            context.addJobTag(tag)
            results[number] = jobs[number]()
        except BaseException as error:
            errors.append(error)
            if len(errors) == 1:
                context.cancelJobsWithTag(tag)

    threads = [InheritableThread(target=work, args=(number,)) for number in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[number] for number in range(len(jobs))]


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
