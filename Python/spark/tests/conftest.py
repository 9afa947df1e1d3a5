"""A Spark for the tests."""

from __future__ import annotations

import os
import sys
import tempfile

import pytest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def start(master: str, **more: str):
    """A session; another one is ended before."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    builder = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
        .config("spark.sql.session.timeZone", "UTC")
    )
    for name, value in more.items():
        builder = builder.config(name.replace("__", "."), value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session", autouse=True)
def cache():
    """Snapshots of workers go to a folder of the tests."""
    with tempfile.TemporaryDirectory(prefix="push-fanout-cache-") as folder:
        os.environ["PUSH_FANOUT_CACHE"] = folder
        yield


@pytest.fixture(scope="module")
def spark(cache):
    """Two workers in one process."""
    session = start("local[2]")
    yield session
    session.stop()
