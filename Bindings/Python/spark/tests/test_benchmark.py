"""The table of the benchmark."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path

import pytest


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """The benchmark with a folder of its own."""
    path = Path(__file__).parents[3] / "bench/spark.py"
    monkeypatch.syspath_prepend(path.parent)
    spec = importlib.util.spec_from_file_location("bench_under_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module.TABLE, "file", tmp_path / "table.txt")
    monkeypatch.setattr(module, "world_files", lambda *given: tmp_path)
    return module


def test_parts_add_up_and_those_below_noise_are_not_printed_as_numbers(bench):
    counts = {"wall": 10.0, "small": 2.0, "warm": 5.0, "used": 30.0, "small_used": 9.0,
              "warm_used": 8.0}  # fmt: skip
    parts = bench.parts_of(counts)
    assert sum(parts.values()) == pytest.approx(10)
    assert [bench.part_text(part, "s") for part in parts.values()] == ["5.0 s", "2.0 s", "3.0 s"]
    used = bench.parts_of(counts, "_used")
    assert sum(used.values()) == pytest.approx(30)
    assert [bench.part_text(part, "core s") for part in used.values()] == [
        "22.0 core s", "9.0 core s", "lost in noise",
    ]  # fmt: skip


def peak(executor, java, python):
    metrics = {"ProcessTreeJVMRSSMemory": java, "ProcessTreePythonRSSMemory": python}
    return json.dumps({"Event": "SparkListenerStageExecutorMetrics", "Executor ID": executor,
                       "Executor Metrics": metrics})  # fmt: skip


def test_the_driver_of_a_local_cluster_has_the_memory_of_its_executors(bench, tmp_path):
    log = tmp_path / "cluster"
    log.mkdir()
    lines = [peak("0", 5, 2), peak("1", 6, 3), peak("0", 7, 1), peak("driver", 20, 5)]
    (log / "events").write_text("\n".join(lines))
    found = bench.events_of(log)
    assert (found["memory"], found["all_memory"]) == (9, 25)
    (log / "events").write_text(lines[3])
    found = bench.events_of(log)
    assert (found["memory"], found["all_memory"]) == (25, 25)


def options(users):
    return argparse.Namespace(users=users, messages=users, program="", cores=4, only=None,
                              executor_memory=1536)  # fmt: skip


def fill(bench, monkeypatch, ratio):
    """Has the benchmark measure a figure, fail at another, and measure a third."""

    def failing(*given):
        raise bench.Failed("out of memory")

    monkeypatch.setattr(bench, "measure_one_process", failing)
    figure = ("faster", f"{ratio} ×", "≥ 10 ×", ratio >= 10)
    monkeypatch.setattr(bench, "measure_sql", lambda *given: bench.row(*figure))
    monkeypatch.setattr(bench, "measure_scaling", lambda *given: bench.row("cores", "1 s"))
    monkeypatch.setattr(bench, "measure_giant", lambda *given: None)


def test_a_part_that_fails_does_not_end_the_others(bench, monkeypatch, capsys):
    fill(bench, monkeypatch, 17)
    assert bench.measure(options(1000)) == 1
    table = bench.TABLE.file.read_text()
    assert table == capsys.readouterr().out
    lines = [" ".join(line.split()) for line in table.splitlines()]
    assert [lines[number] for number in (2, 4, 6)] == [
        "FAILED: out of memory", "faster 17 × ≥ 10 × held", "cores 1 s",
    ]  # fmt: skip
    assert "failed: day; missed: nothing" in lines[-1]


@pytest.mark.parametrize(("users", "status"), [(1000, 0), (2_000_000, 1)])
def test_what_was_missed_counts_in_a_world_of_full_size(bench, monkeypatch, users, status):
    fill(bench, monkeypatch, 9)
    monkeypatch.setattr(bench, "measure_one_process", lambda *given: None)
    monkeypatch.setattr(bench, "measure_master", lambda *given: 1.0)
    assert bench.measure(options(users)) == status
    assert "missed: faster (9 ×)" in bench.TABLE.file.read_text().splitlines()[-1]
