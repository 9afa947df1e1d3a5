"""Jobs that run at once."""

from __future__ import annotations

import threading
import time

import pytest

from push_fanout.spark.progress import at_once

AGES = 300
"""Seconds: longer than any test waits unless it fails."""


def test_functions_run_at_once_and_keep_their_order(spark):
    meeting = threading.Barrier(2, timeout=AGES)

    def job(number):
        meeting.wait()
        return [row.id for row in spark.range(number).collect()]

    assert at_once(spark, [lambda: job(3), lambda: job(1)]) == [[0, 1, 2], [0]]


def test_properties_of_the_thread_hold_in_all(spark):
    context = spark.sparkContext
    context.setLocalProperty("push-fanout.test", "as given")
    try:
        ask = lambda: context.getLocalProperty("push-fanout.test")  # noqa: E731
        assert at_once(spark, [ask, ask]) == ["as given", "as given"]
    finally:
        context.setLocalProperty("push-fanout.test", None)
    assert not context.getJobTags()


def sleeping(batches):
    time.sleep(AGES)
    yield from batches


def test_the_first_failure_cancels_the_jobs_of_the_others(spark):
    status = spark.sparkContext.statusTracker()

    def long():
        return spark.range(1, numPartitions=1).mapInArrow(sleeping, "id bigint").collect()

    def failing():
        end = time.monotonic() + AGES
        while not any(
            status.getStageInfo(stage).numActiveTasks for stage in status.getActiveStageIds()
        ):
            assert time.monotonic() < end
            time.sleep(0.01)
        raise KeyError("the first failure")

    start = time.monotonic()
    with pytest.raises(KeyError, match="the first failure"):
        at_once(spark, [long, failing])
    assert time.monotonic() - start < AGES
    assert not status.getActiveJobsIds()
