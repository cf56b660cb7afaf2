#!/usr/bin/env python3
"""An alignment as a picture: heed predict MODEL --json --alignments=matrix < line | docs/pictures/draw_alignment.py > picture.svg

One row per output token, one column per source token; the darker, the more attention. Light and dark pages both work."""
import json
import sys
from xml.sax.saxutils import escape

CELL, LEFT, TOP = 26, 34, 34
STYLE = """<style>
text { font: 15px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #1f2328; text-anchor: middle; dominant-baseline: central }
.cell { fill: #0969da } .grid { fill: #eaeef2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .cell { fill: #58a6ff } .grid { fill: #21262d } }
</style>"""


def shown(token):
    return {" ": "␣", "\u00a0": "␣"}.get(token, token)


def picture(found):
    source, tokens, weights = found["source_tokens"], found["tokens"], found["alignment"]
    width, height = LEFT + CELL * len(source) + 8, TOP + CELL * len(tokens) + 8
    title = f"{found['source']} becomes {found['output']}: where each character of the output looked"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             f'role="img" aria-label="{escape(title, {chr(34): "&quot;"})}">', f"<title>{escape(title)}</title>", STYLE]
    for j, token in enumerate(source):
        parts.append(f'<text x="{LEFT + CELL * j + CELL / 2}" y="{TOP / 2}">{escape(shown(token))}</text>')
    for i, token in enumerate(tokens):
        y = TOP + CELL * i
        parts.append(f'<text x="{LEFT / 2}" y="{y + CELL / 2}">{escape(shown(token))}</text>')
        for j, weight in enumerate(weights[i]):
            x = LEFT + CELL * j
            place = f'x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" rx="3"'
            parts.append(f'<rect class="grid" {place}/>')
            if weight >= 0.02:
                parts.append(f'<rect class="cell" {place} opacity="{weight:.2f}"/>')
    return "\n".join([*parts, "</svg>"])


if __name__ == "__main__":
    line = sys.stdin.readline()
    if not line.strip():
        sys.exit(__doc__)
    print(picture(json.loads(line)))
