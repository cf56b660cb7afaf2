"""A line chart as SVG, for docs/pictures: nothing but the standard library, the same bytes everywhere."""

import math

COLOURS = ("#1f6f8b", "#c8553d", "#5a8f3c", "#8a5fa8", "#b8860b")
WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 150, 34, 46


def _round_steps(low, high):
    """Four to seven round numbers from low to high."""
    span = high - low or 1.0
    step = 10 ** math.floor(math.log10(span / 4))
    step = next(step * times for times in (1, 2, 2.5, 5, 10) if span / (step * times) <= 6)
    first = math.ceil(low / step - 1e-9)
    return [first * step + n * step for n in range(int((high - first * step) / step + 1e-9) + 1)]


def _powers(low, high):
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0 ** n for n in range(first, last + 1) if low * 0.999 <= 10.0 ** n <= high * 1.001]


def _number(value):
    return f"{value:.10g}"


class _Axis:
    """Values to pixels, on a linear or a logarithmic scale."""

    def __init__(self, values, begin, end, logarithmic, from_zero=False):
        low, high = min(values), max(values)
        if from_zero:
            low = min(0.0, low)
        if low == high:
            high = low + 1
        self._at = math.log10 if logarithmic else float
        self.ticks = _powers(low, high) if logarithmic else _round_steps(low, high)
        self._low, self._span, self._begin, self._size = self._at(low), self._at(high) - self._at(low), begin, end - begin

    def __call__(self, value):
        return self._begin + self._size * (self._at(value) - self._low) / self._span


def line_chart(title, x_name, y_name, series, log_x=False, log_y=False, ticks_x=None):
    """series: {name: [(x, y) or (x, y, spread), ...]} -> SVG. A spread draws a bar of y - spread to y + spread."""
    points = [p for line in series.values() for p in line]
    x = _Axis([p[0] for p in points], LEFT, WIDTH - RIGHT, log_x)
    ends = [p[1] + sign * (p[2] if len(p) > 2 else 0) for p in points for sign in (-1, 1)]
    y = _Axis([p[1] for p in points] if log_y else ends, HEIGHT - BOTTOM, TOP, log_y, from_zero=not log_y)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="DejaVu Sans, Verdana, sans-serif" font-size="11" role="img">',
           f"<title>{title}</title>", f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
           f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold" fill="#222">{title}</text>']
    for tick in y.ticks:
        out.append(f'<path d="M{LEFT} {y(tick):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                   f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end" fill="#444">{_number(tick)}</text>')
    for tick in ticks_x or x.ticks:
        out.append(f'<path d="M{x(tick):.1f} {HEIGHT - BOTTOM}v4" stroke="#666"/>'
                   f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle" fill="#444">{_number(tick)}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    out.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#666"/>'
               f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle" fill="#222">{x_name}</text>'
               f'<text transform="translate(14 {middle:.0f})rotate(-90)" text-anchor="middle" fill="#222">{y_name}</text>')
    for n, (name, line) in enumerate(series.items()):
        colour = COLOURS[n % len(COLOURS)]
        path = "L".join(f"{x(p[0]):.1f} {y(p[1]):.1f}" for p in line)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for p in line:
            if len(p) > 2 and p[2] > 0 and not log_y:
                out.append(f'<path d="M{x(p[0]):.1f} {y(p[1] - p[2]):.1f}V{y(p[1] + p[2]):.1f}" stroke="{colour}"/>')
            out.append(f'<circle cx="{x(p[0]):.1f}" cy="{y(p[1]):.1f}" r="3" fill="{colour}"/>')
        row = TOP + 14 + 18 * n
        out.append(f'<path d="M{WIDTH - RIGHT + 12} {row - 4}h16" stroke="{colour}" stroke-width="2"/>'
                   f'<text x="{WIDTH - RIGHT + 33}" y="{row}" fill="#222">{name}</text>')
    return "\n".join(out) + "\n</svg>\n"
