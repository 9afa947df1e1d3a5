"""reports/README.md: one row a report."""
import re

HEADER = """\
# Reports

`make report` measures and writes these: text, charts and the figures as JSON. Ratios within a \
report hold; times of different days differ by what else the machine did.

| date | suite | what it measured | commit | what it decided |
| --- | --- | --- | --- | --- |
"""
NOTHING = "—"
_CELL = re.compile(r"(?<!\\)\|")
_LINK = re.compile(r"\]\(([^)]+\.md)\)")


def after(text):
    """What people have written below the table."""
    lines = text.splitlines(keepends=True)
    table = [number for number, line in enumerate(lines) if line.startswith("| ")]
    return "".join(lines[table[-1] + 1:]) if table else ""


def rows_of(text):
    """{file: cells} of the table."""
    rows = {}
    for line in text.splitlines():
        link = _LINK.search(line)
        if line.startswith("| [") and link:
            rows[link.group(1)] = [cell.strip() for cell in _CELL.split(line)[1:-1]]
    return rows


def with_report(text, file, date, suite, measured, commit, decided=None):
    """The index with this report's row, new or in place of the old one, newest first, days at
    the top; what follows the table stays.

    Without `decided` an existing sentence stays.
    """
    rows = rows_of(text)
    old = rows.get(file)
    if decided:
        decided = " ".join(decided.split()).replace("|", "\\|")
    else:
        decided = old[-1] if old else NOTHING
    rows[file] = [f"[{date}]({file})", suite, measured, f"`{commit}`", decided]
    lines = [
        "| " + " | ".join(cells) + " |\n"
        for _, cells in sorted(
            rows.items(), reverse=True,
            key=lambda item: (item[1][0][1:11], item[1][1] == "day", item[1][1]))
    ]
    return HEADER + "".join(lines) + after(text)
