"""Charts as SVG, for docs/pictures: nothing but the standard library, the same bytes everywhere."""

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


def _begin(title, width, height):
    return [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="DejaVu Sans, Verdana, sans-serif" font-size="11" role="img">',
            f"<title>{title}</title>", f'<rect width="{width}" height="{height}" fill="#fff"/>',
            f'<text x="{LEFT}" y="18" font-size="13" font-weight="bold" fill="#222">{title}</text>']


def bar_chart(title, unit, bars):
    """bars: [(name, value, spread)] -> SVG: a bar each, with its number; the spread as a line at its end."""
    left, full, row = 250, 220, 26
    width, height = left + full + 90, 40 + row * len(bars) + 8
    most = max(value + spread for _, value, spread in bars) or 1
    out = _begin(f"{title}, {unit}", width, height)
    for n, (name, value, spread) in enumerate(bars):
        y, end = 34 + row * n, left + full * value / most
        out.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end" fill="#222">{name}</text>'
                   f'<rect x="{left}" y="{y + 2}" width="{max(end - left, 0):.1f}" height="{row - 8}" fill="{COLOURS[0]}"/>')
        if spread > 0:
            reach = full * spread / most
            out.append(f'<path d="M{max(end - reach, left):.1f} {y + 11}H{end + reach:.1f}" stroke="#222"/>')
        out.append(f'<text x="{left + full * (value + spread) / most + 6:.1f}" y="{y + 14}" fill="#222">{value:.1f}</text>')
    return "\n".join(out) + "\n</svg>\n"


def line_chart(title, x_name, y_name, series, log_x=False, log_y=False, ticks_x=None):
    """series: {name: [(x, y) or (x, y, spread), ...]} -> SVG. A spread draws a bar of y - spread to y + spread."""
    points = [p for line in series.values() for p in line]
    x = _Axis([p[0] for p in points], LEFT, WIDTH - RIGHT, log_x)
    ends = [p[1] + sign * (p[2] if len(p) > 2 else 0) for p in points for sign in (-1, 1)]
    y = _Axis([p[1] for p in points] if log_y else ends, HEIGHT - BOTTOM, TOP, log_y, from_zero=not log_y)
    out = _begin(title, WIDTH, HEIGHT)
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
