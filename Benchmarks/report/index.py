"""reports/README.md: one row a suite, for its latest report."""
import re
import shutil

HEADER = """\
# Reports

`make -C Benchmarks report` measures and writes these: text, charts and the figures as JSON. Ratios within a \
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
    """The index with this report's row, in place of an older one of the suite, newest first, days
    at the top; what follows the table stays.

    Without `decided` the sentence of the same report stays.
    """
    rows = rows_of(text)
    old = rows.get(file)
    rows = {name: cells for name, cells in rows.items() if cells[1] != suite}
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


def remove_older(folder, suite, name):
    """Removes the files of earlier reports of a suite, which git has."""
    form = re.compile(rf"\d{{4}}-\d\d-\d\d-{suite}(\.json|\.md)?")
    for path in folder.iterdir():
        if form.fullmatch(path.name) and path.name not in (name, f"{name}.json", f"{name}.md"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
