"""The table of the suites of Python and Spark, and their worlds."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAM = ".build/release/push-fanout"


class Table:
    """Lines, which also go to a file if there is one: it is there when a run is broken off, too."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        self.missed: list[str] = []

    def say(self, text: str) -> None:
        """Prints a line."""
        print(text, flush=True)
        if self.file is not None:
            with self.file.open("a") as file:
                file.write(f"{text}\n")

    def row(self, name: str, value: str, must: str = "", holds: bool = True) -> None:
        """A line with a figure, and what it must be."""
        if not holds:
            self.missed.append(f"{name.strip()} ({value})")
        verdict = f"{must}  {'held' if holds else 'MISSED'}" if must else ""
        self.say(f"{name:<58}{value:>26}  {verdict}".rstrip())


def best(
    rounds: int, call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> float:
    """The seconds of the fastest call."""
    found = []
    for _ in range(rounds):
        start = clock()
        call()
        found.append(clock() - start)
    return min(found)


def generate(program: str, folder: Path, *options: str) -> Path:
    """A world of push-fanout generate, which is made once: its folder is complete or absent."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not folder.exists():
        subprocess.run(
            [program, "generate", "--output", folder, "--seed", "5", "--rates", "1", *options],
            check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    return folder


def world_files(program: str, folder: Path, *options: str) -> Path:
    """A world of push-fanout generate as Parquet files, which are made once."""
    if (folder / "messages.parquet").exists():
        return folder
    import duckdb

    made = generate(program, folder.with_suffix(".csv"), *options)
    folder.mkdir(exist_ok=True)
    shutil.copy(made / "settings.ndjson", folder)
    run = duckdb.connect().execute

    def text(file: str, **types: str) -> str:
        names = ", ".join(f"'{column}': '{kind}'" for column, kind in types.items())
        return f"read_csv('{made / file}', header = true, types = {{{names}}})"

    hours = "CASE WHEN quietStart IS NULL THEN NULL ELSE {'start': quietStart, 'end': quietEnd} END"
    users = text("users.csv", level="VARCHAR", quietStart="VARCHAR", quietEnd="VARCHAR",
                 timeZone="VARCHAR")  # fmt: skip
    members = text("members.csv", level="VARCHAR", since="BIGINT")
    messages = text("messages.csv", mentions="VARCHAR", mentionsAll="TINYINT", at="BIGINT")
    queries = {
        "users": f"SELECT id, level, {hours} AS quietHours, timeZone FROM {users}",
        "members": f'SELECT conversation, "user", level, since FROM {members}',
        "messages": "SELECT 'm' || row_number() OVER () AS id, conversation, sender, \"at\", "
        f"string_split(mentions, ';') AS mentions, mentionsAll = 1 AS mentionsAll FROM {messages}",
    }
    for kind, query in queries.items():
        part = folder / f"{kind}.part"
        run(f"COPY ({query}) TO '{part}' (FORMAT parquet, ROW_GROUP_SIZE 200000)")
        part.rename(folder / f"{kind}.parquet")
    shutil.rmtree(made)
    return folder
