#!/usr/bin/env python3
"""One peer deciding one day, in a process of its own, which `day.py` starts.

    day_contestant.py duckdb|polars|polars-numba WORLD MESSAGES THREADS ANSWERS

Writes ANSWERS, NumPy's: a row a message, the numbers of its outcomes. Prints seconds and processor
seconds of loading and deciding, as JSON. Both are of this process, with all its threads.
"""
import json
import resource
import sys
import time
from importlib import import_module

CONTESTANTS = {
    "duckdb": ("day_duckdb", "DuckDBDay"), "polars": ("day_polars", "PolarsDay"),
    "polars-numba": ("day_numba", "NumbaDay"),
}


def clocks():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime


def main(name, folder, messages, threads, answers):
    import numpy as np

    from day_world import DayWorld

    module, kind = CONTESTANTS[name]
    peer = getattr(import_module(module), kind)(DayWorld.load(folder, messages), int(threads))
    started = clocks()
    peer.load()
    loaded = clocks()
    decided = peer.decide()
    ended = clocks()
    np.save(answers, decided)
    print(json.dumps({
        "load": [late - early for late, early in zip(loaded, started, strict=True)],
        "decide": [late - early for late, early in zip(ended, loaded, strict=True)],
    }))


if __name__ == "__main__":
    main(*sys.argv[1:])
