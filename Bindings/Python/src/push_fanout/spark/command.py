"""``push-fanout-spark``: the command for files."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from .. import __version__
from ..errors import Error
from ..sources import read_settings
from .preparing import GIANT_LIMIT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXAMPLES = """\
examples:
  push-fanout-spark prepare --settings app.ndjson --users users.parquet --members members.parquet \\
      --shards /shared/settings
  push-fanout-spark decide --shards /shared/settings --messages messages.parquet \\
      --output /shared/counts
  push-fanout-spark update --shards /shared/settings --changes changes.parquet --at 1717400000000
  spark-submit --master spark://host:7077 $(push-fanout-spark --where) decide ...

An input is a Parquet file or folder, or CSV or NDJSON (a file, or a folder of them; one file is
read by one task), with .gz or without, with the columns and fields of docs/formats.md. Without
spark-submit, --master says where Spark runs: all cores of this machine by default.

exit status: 0 success, 1 problems found, 2 wrong usage. Output is complete or has no _SUCCESS.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and where help is."""
        self.exit(2, f"Error: {message}\nSee '{self.prog} --help' for more information.\n")


def _parser() -> argparse.ArgumentParser:
    shape = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="push-fanout-spark", epilog=EXAMPLES, formatter_class=shape,
        description="Decides who gets a push for messages to groups, on Spark.",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=__version__)
    parser.add_argument(
        "--where", action="version", version=os.path.join(os.path.dirname(__file__), "__main__.py"),
        help="print the file for spark-submit",
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text, epilog=EXAMPLES,
                                      formatter_class=shape)  # fmt: skip
        command.add_argument("--master", help="where Spark runs (local[*])")
        return command

    def shards(command: argparse.ArgumentParser) -> None:
        command.add_argument("--shards", required=True, metavar="FOLDER", help="where shards are")

    prepare = add("prepare", "split settings into shards")
    shards(prepare)
    prepare.add_argument("--settings", metavar="FILE", help="the app, conversations, and others")
    prepare.add_argument("--users", metavar="PATH", help="settings of users")
    prepare.add_argument("--members", metavar="PATH", required=True, help="members")
    prepare.add_argument("--conversations", metavar="PATH", help="records, Parquet or NDJSON")
    prepare.add_argument("--at", type=int, default=0, metavar="MS", help="hold from then on (0)")
    prepare.add_argument("--count", type=int, metavar="N", help="how many shards")
    prepare.add_argument(
        "--giant-limit", type=int, default=GIANT_LIMIT, metavar="N",
        help="split conversations of more members (%(default)s)",
    )  # fmt: skip
    update = add("update", "make shards of changed settings")
    shards(update)
    update.add_argument("--changes", metavar="PATH", required=True,
                        help="Parquet with the columns sequence, kind, record")  # fmt: skip
    update.add_argument("--at", type=int, required=True, metavar="MS", help="hold from then on")
    decide = add("decide", "decide messages")
    shards(decide)
    decide.add_argument("--messages", metavar="PATH", required=True, help="what is decided")
    decide.add_argument("--output", metavar="FOLDER", required=True, help="is written")
    decide.add_argument("--format", choices=("counts", "bitmap", "rows", "held"), default="counts",
                        help="what a row of the output is (%(default)s)")  # fmt: skip
    decide.add_argument("--csv", action="store_true", help="write CSV, not Parquet (no bitmaps)")
    decide.add_argument("--number", type=int, metavar="N", help="which settings (the last)")
    decide.add_argument("--before", choices=("refuse", "older"), default="refuse",
                        help="messages from before the settings (%(default)s)")  # fmt: skip
    decide.add_argument("--slices", type=int, metavar="N",
                        help="tasks a shard; more for large ones without it")  # fmt: skip
    decide.add_argument("--overwrite", action="store_true", help="replace complete output")
    decide.add_argument("--quarantine", metavar="FOLDER", help="list bad messages there")
    for command in (prepare, update):
        command.add_argument("--quarantine", action="store_true", help="leave bad rows out")
    for command in (prepare, update, decide):
        command.add_argument(
            "--unknown-zones", choices=("refuse", "ignore"), default="refuse",
            help="time zones that a machine does not have: refuse them as bad rows, and their "
            "users in decisions, or decide without quiet hours (%(default)s)",
        )  # fmt: skip
    compare = add("compare", "where two outputs differ; exit status 1 if they do")
    compare.add_argument("a", metavar="FOLDER")
    compare.add_argument("b", metavar="FOLDER")
    compare.add_argument("--output", metavar="FOLDER", help="write the differences as Parquet")
    clean = add("clean", "remove earlier shards")
    shards(clean)
    clean.add_argument("--keep", type=int, default=1, metavar="N", help="how many stay (1)")
    return parser


def _session(options: argparse.Namespace) -> SparkSession:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from .inputs import spark_module

    spark_module()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(f"push-fanout-spark {options.command}")
    if options.master is not None:
        builder = builder.master(options.master)
    elif "SPARK_ENV_LOADED" not in os.environ:
        builder = builder.master("local[*]")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _prepare(spark: SparkSession, options: argparse.Namespace) -> str:
    from .preparing import prepare
    from .progress import summary_text
    from .readers import read

    def given(path: str | None, kind: str) -> DataFrame | None:
        return None if path is None else read(spark, path, kind)

    shards = prepare(
        given(options.users, "users"), read(spark, options.members, "members"),
        path=options.shards, conversations=given(options.conversations, "conversations"),
        settings=None if options.settings is None else read_settings(options.settings),
        at=options.at, shards=options.count, giant_limit=options.giant_limit,
        on_error="quarantine" if options.quarantine else "fail",
        unknown_zones=options.unknown_zones,
    )  # fmt: skip
    return summary_text(shards.summary)


def _update(spark: SparkSession, options: argparse.Namespace) -> str:
    from .manifest import Shards
    from .progress import summary_text
    from .updating import update

    shards = update(
        Shards.open(options.shards), spark.read.parquet(options.changes), at=options.at,
        on_error="quarantine" if options.quarantine else "fail",
        unknown_zones=options.unknown_zones,
    )  # fmt: skip
    return summary_text(shards.summary)


def _decide(spark: SparkSession, options: argparse.Namespace) -> str:
    from .deciding import decide
    from .manifest import Shards
    from .progress import Metrics, summary_text
    from .readers import read

    metrics = Metrics(spark)
    place = f"{options.output.rstrip('/')}.parquet" if options.csv else options.output
    given: dict[str, Any] = {
        "path": place, "before": options.before, "overwrite": options.overwrite,
        "slices": options.slices, "metrics": metrics,
        "on_error": "fail" if options.quarantine is None else "quarantine",
        "quarantine": options.quarantine, "unknown_zones": options.unknown_zones,
    }  # fmt: skip
    shards = Shards.open(options.shards, options.number)
    found = decide(read(spark, options.messages, "messages"), shards, options.format, **given)
    if options.csv:
        from .storage import Storage

        mode = "overwrite" if options.overwrite else "error"
        _for_csv(found).write.mode(mode).csv(options.output, header=True)
        Storage(place).remove("")
    return summary_text(metrics.values())


def _for_csv(found: DataFrame) -> DataFrame:
    """Rows with words, and counts as a row for each outcome."""
    from .comparing import outcomes
    from .inputs import spark_module

    F = spark_module()
    if "counts" in found.columns:
        found = found.select(
            F.col("id").alias("message"), "conversation", "recipients",
            F.explode_outer("counts").alias("code", "count"),
        )  # fmt: skip
    joined = found.join(F.broadcast(outcomes(found.sparkSession)), "code", "left")
    words = ["action", "reason", "scope"]
    if "count" in joined.columns:
        return joined.select("message", "conversation", "recipients", *words, "count")
    if "pushAt" in joined.columns:
        return joined.select("message", "user", *words[1:], "at", "pushAt")
    return joined.select("message", "user", *words)


def _compare(spark: SparkSession, options: argparse.Namespace) -> str:
    from .comparing import compare

    found = compare(spark.read.parquet(options.a), spark.read.parquet(options.b))
    if options.output is not None:
        found.write.parquet(options.output)
        found = spark.read.parquet(options.output)
    count = found.count()
    if count:
        raise Error(f"{options.a} and {options.b} differ in {count:,} rows", "PF_INVALID")
    return "no differences"


def _clean(spark: SparkSession, options: argparse.Namespace) -> str:
    from .manifest import Shards

    return json.dumps({"removed": Shards.open(options.shards).clean(options.keep)})


def main(arguments: list[str] | None = None) -> int:
    """Runs the command.

    Returns:
        the exit status.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command == "decide" and options.csv and options.format == "bitmap":
        parser.error("--csv has no bitmaps")
    runs = {"prepare": _prepare, "update": _update, "decide": _decide, "compare": _compare,
            "clean": _clean}  # fmt: skip
    try:
        print(runs[options.command](_session(options), options), file=sys.stderr)
    except Error as error:
        print(str(error).replace("overwrite=True", "--overwrite"), file=sys.stderr)
        return 1
    except (ImportError, TypeError, ValueError) as error:
        print(f"push-fanout-spark: {error}", file=sys.stderr)
        return 1
    return 0
