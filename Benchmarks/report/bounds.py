"""A chart of what must be reached: a line for each figure with a bound, and a dot where it is.

Written by hand as SVG, so that it needs no library: the same report gives the same bytes.
"""
from html import escape

import figures
from figures import must, number

ROW, TOP, LEFT, WIDTH, RIGHT = 18, 58, 430, 330, 220
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.head { font-weight: 600 } .small { fill: #59636e }
.line { stroke: #c8ced5; stroke-width: 2 } .bound { stroke: #1f2328; stroke-width: 2 }
.dot { fill: #0969da } .missed { fill: #d1242f }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117 } text { fill: #f0f6fc } .small { fill: #9198a1 }
  .line { stroke: #3d444d } .bound { stroke: #f0f6fc }
  .dot { fill: #4493f8 } .missed { fill: #f85149 }
}
"""


def share(line):
    """How much of what is allowed a figure takes: 1 is at the bound, more misses it."""
    if line.get("least") is not None:
        return line["least"] / line["value"] if line["value"] else 2.0
    return line["value"] / line["most"] if line["most"] else 2.0


def rows(document):
    """(title, lines with a bound) of each part; a line's name tells which it belongs to."""
    found = {}
    names = {id(line): name for name, line in figures.flat(document).items()}
    for part in document["parts"]:
        bound = [(names[id(line)].removeprefix(part["title"] + ": "), line)
                 for line in part["lines"] if must(line)]
        if bound:
            found[part["title"]] = bound
    return found


def chart(document):
    parts = rows(document)
    # Room for what misses its bound; a figure twice as bad as allowed stands at the edge.
    most = min(2.0, max([1.1, *(share(line) for each in parts.values() for _, line in each)]))
    height = TOP + ROW * sum(len(each) + 2 for each in parts.values())
    scale = WIDTH / most
    edge = LEFT + scale
    drawn = []
    y = TOP
    for title, lines in parts.items():
        y += ROW
        drawn.append(f'<text class="head" x="16" y="{y}">{escape(title)}</text>')
        for name, line in lines:
            y += ROW
            x = LEFT + scale * min(share(line), most)
            kind = "missed" if figures.misses(line) else "dot"
            unit = f" {line['unit']}" if line["unit"] else ""
            said = f"{number(line['value'])}{unit} ({must(line)})"
            drawn.append(
                f'<text x="{LEFT - 12}" y="{y}" text-anchor="end">{escape(shorter(name))}</text>'
                f'<line class="line" x1="{LEFT}" y1="{y - 4}" x2="{edge:.1f}" y2="{y - 4}"/>'
                f'<line class="bound" x1="{edge:.1f}" y1="{y - 9}" x2="{edge:.1f}" y2="{y + 1}"/>'
                f'<circle class="{kind}" cx="{x:.1f}" cy="{y - 4}" r="4.5"/>'
                f'<text class="small" x="{LEFT + WIDTH + 12}" y="{y}">{escape(said)}</text>')
        y += ROW
    width = LEFT + WIDTH + RIGHT
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img">',
        f"<title>Measured against must, {document['date']}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}" fill="white"/>',
        f'<text class="head" x="16" y="24">Measured against must, {document["date"]}</text>',
        '<text class="small" x="16" y="42">A dot is how much of what is allowed a figure takes: '
        "further left is better, and the upright mark is the bound.</text>",
        *drawn, "</svg>", ""])


def shorter(name, most=62):
    """A name that fits; of a line that belongs to the one before, its own words stay."""
    if len(name) <= most:
        return name
    above, mark, own = name.rpartition(": ")
    return above[:most - len(mark + own) - 1] + "…" + mark + own
