#!/usr/bin/env python3
"""Measures, and writes reports/<date>-<suite>.md, .json and charts, the index, and the figures of
README.md and docs/figures.md."""
import argparse
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

import charts
import index
import measure
import readme
import texts

ROOT = measure.ROOT
EXAMPLES = """\
examples:
  report.py --suite decide --decided "States are kept a message longer."
  report.py --suite replay --push-data /srv/push-data
  report.py --quick --users 100000
  report.py --from reports/2026-01-31-decide.json     writes text and charts again

A quick run is called <date>-<suite>-quick; it stays out of git, of the index and of the pages.
Everything is measured before anything is written. Needs matplotlib: run it by make -C Benchmarks report.
"""


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=[*measure.SUITES, "all"], default="all")
    parser.add_argument("--quick", action="store_true", help="a small and fast run")
    parser.add_argument("--users", type=int, help="users of the day (1,000,000), or of decide (10,000,000)")
    parser.add_argument("--rules", choices=["easemob", "open"], default="easemob",
                        help="open: open rules' day too, beside Easemob's, with the suite day")
    parser.add_argument("--push-data", metavar="FOLDER", help="more slices, in FOLDER/small")
    parser.add_argument("--date", type=datetime.date.fromisoformat, default=datetime.date.today())
    parser.add_argument("--decided", default="", help="what the report decided, for the index")
    parser.add_argument("--from", dest="source", metavar="FILE",
                        help="a report's figures; nothing is measured")
    options = parser.parse_args(arguments)
    if options.rules != "easemob" and options.suite not in ("day", "all"):
        parser.error(f"--rules {options.rules} goes with --suite day")
    if options.users is not None and not 1000 <= options.users <= 100_000_000:
        parser.error("--users: 1000 to 100000000")
    return options


def commit():
    """The revision; reports that were written since do not make it dirty."""
    def git(*arguments):
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    written = (":!reports", ":!README.md", ":!docs/figures.*")
    changes = git("status", "--porcelain", "--", ".", *written)
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("-dirty" if changes else "")


def made(options, suite):
    words = ["make -C Benchmarks report", f"SUITE={suite}"]
    if options.quick:
        words.append("QUICK=1")
    if options.users:
        words.append(f"USERS={options.users}")
    if suite == "day" and options.rules != "easemob":
        words.append(f"RULES={options.rules}")
    if options.push_data and suite == "replay":
        words.append("PUSH_DATA=FOLDER")
    return " ".join(words)


def measured(options):
    suites = measure.SUITES if options.suite == "all" else [options.suite]
    revision = commit()
    documents = []
    for suite in suites:
        more = {"rules": options.rules} if suite == "day" else {}
        document = measure.SUITES[suite](
            options.quick, options.users, options.push_data, **more)
        document["machine"]["commit"] = revision
        documents.append({
            "suite": suite, "quick": options.quick, "date": options.date.isoformat(),
            "commit": revision, "made": made(options, suite), **document,
        })
        # Hours of measuring are not lost when a later suite fails.
        write_json(ROOT / measure.SCRATCH / f"{name_of(documents[-1])}.json", documents[-1])
    return documents


def name_of(document):
    return f"{document['date']}-{document['suite']}" + ("-quick" if document["quick"] else "")


def write_json(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def write(document, folder, decided=None):
    """Writes one report, and its row of the index unless it is a quick one."""
    name = name_of(document)
    write_json(folder / f"{name}.json", document)
    drawn = charts.DRAW[document["suite"]](folder / name, document)
    text = texts.report(document, name, drawn)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    print(f"report: wrote {os.path.relpath(folder / name, ROOT)}.md", file=sys.stderr)
    if document["quick"]:
        return
    index.remove_older(folder, document["suite"], name)
    path = folder / "README.md"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(
        index.with_report(
            old, f"{name}.md", document["date"], document["suite"],
            texts.MEASURED[document["suite"]], document["commit"], decided),
        encoding="utf-8")


def main(arguments):
    options = parse(arguments)
    try:
        if options.source:
            documents = [json.loads(Path(options.source).read_text(encoding="utf-8"))]
        else:
            documents = measured(options)
    except (measure.MeasureError, OSError, ValueError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 1
    for document in documents:
        write(document, ROOT / "reports", options.decided)
    if any(one["suite"] == "day" and not one["quick"] for one in documents):
        return readme.main([])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
