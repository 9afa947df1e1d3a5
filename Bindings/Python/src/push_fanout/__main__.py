"""``python -m push_fanout``: the command for Parquet files."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from . import __version__
from .errors import Error

EXAMPLES = """\
examples:
  python -m push_fanout evaluate --settings world.parquet --messages m.parquet --output o.parquet
  python -m push_fanout evaluate --settings app.ndjson --users users.parquet \\
      --members members.parquet --messages m.parquet --output counts.parquet --format counts

Each input is a Parquet file, or what push-fanout reads: .ndjson, .csv, with .gz or without. The
columns of a Parquet file are the fields of docs/formats.md, by their names; that of --settings has
a column "kind". The formats of the output:

  rows      message, user, action, reason, scope, code: a row for each recipient
  numbers   message, user, code as numbers, which take a tenth of that; the numbers of users are
            those of --output-users
  counts    message, conversation, action, reason, scope, code, count: a row for each outcome
  pushlist  message, push: the ids of those who get a push

exit status: 0 success, 1 problems found (in a file, or while writing), 2 wrong usage. No output is
written unless it is complete.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and where help is."""
        self.exit(2, f"Error: {message}\nSee '{self.prog} --help' for more information.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m push_fanout",
        description="Decides who gets a push for a message to a group, on Parquet files.",
        epilog="'evaluate --help' has examples. Everything else is in the command push-fanout.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    evaluate = commands.add_parser(
        "evaluate",
        help="decide messages",
        description="Decides messages, and writes the decisions as a Parquet file.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    evaluate.add_argument("--settings", metavar="FILE", help="settings of all kinds")
    evaluate.add_argument("--users", metavar="FILE", help="settings of users")
    evaluate.add_argument("--members", metavar="FILE", help="members of conversations")
    evaluate.add_argument("--messages", metavar="FILE", required=True, help="what is decided")
    evaluate.add_argument("--output", metavar="FILE.parquet", required=True, help="is written")
    evaluate.add_argument(
        "--format", choices=("rows", "numbers", "counts", "pushlist"), default="rows",
        help="what a row of the output is (%(default)s)",
    )  # fmt: skip
    evaluate.add_argument(
        "--output-users", metavar="FILE.parquet", help="the users by number, for --format numbers"
    )
    evaluate.add_argument(
        "--compression", choices=("zstd", "snappy", "gzip", "lz4", "none"), default="zstd",
        help="that of the output (%(default)s)",
    )  # fmt: skip
    evaluate.add_argument(
        "--threads", type=int, default=0, metavar="N", help="0 for the cores it may use (0)"
    )
    evaluate.add_argument(
        "--unknown-zones", choices=("refuse", "ignore"), default="refuse",
        help="users of time zones that this machine lacks: an error, or no quiet hours "
        "(%(default)s)",
    )  # fmt: skip
    return parser


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    inputs = [options.settings, options.users, options.members]
    if not any(inputs):
        parser.error("give --settings, --users or --members")
    outputs = [options.output, options.output_users]
    for name, path in (("--output", options.output), ("--output-users", options.output_users)):
        if path is not None and not path.lower().endswith(".parquet"):
            parser.error(
                f"{name} must end in .parquet; 'push-fanout evaluate' writes other formats"
            )
    if (options.output_users is not None) and options.format != "numbers":
        parser.error("--output-users is only for --format numbers")
    used: dict[str, str] = {}
    for path in [*inputs, options.messages, *outputs]:
        if path is None:
            continue
        same = used.setdefault(os.path.realpath(path), path)
        if same is not path and path in outputs:
            parser.error(f"the output {path} is the same file as {same}")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command.

    Returns:
        the exit status.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    _check(parser, options)
    from .evaluating import evaluate

    try:
        summary = evaluate(options)
    except Error as error:
        print(error, file=sys.stderr)
        return 1
    except (ImportError, TypeError, ValueError, MemoryError) as error:
        print(f"push_fanout: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("push_fanout: interrupted; no output was written", file=sys.stderr)
        return 130
    print(summary, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
