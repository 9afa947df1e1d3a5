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
    # Tests are many small jobs: what compiles less begins sooner.
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    builder = (
        SparkSession.builder.master(master)
        .config("spark.driver.extraJavaOptions", java)
        .config("spark.executor.extraJavaOptions", java)
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


@pytest.fixture(scope="session")
def spark(cache):
    """Two workers in one process, for all tests: those that need another Spark come last."""
    session = start("local[2]")
    yield session
    session.stop()


def pytest_configure(config):
    config.addinivalue_line("markers", "cluster: starts another Spark")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("cluster") is not None)
