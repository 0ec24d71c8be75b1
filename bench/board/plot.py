# SPDX-License-Identifier: MIT
"""plot: curves and bars as SVG, for a page that may be light or dark.

A drawing is text: elements are put one after the other into a list. Colours are classes, of which the
style sheet has two sets, so the same file can be read in both. What belongs to the paper is hollow
or dashed, what was measured is solid. The key stands beside the drawing in the order of the curves'
last values, which is where the eye looks for it.
"""
import math

WIDTH, HEIGHT = 900, 420
LEFT, RIGHT, TOP, BOTTOM = 80, 250, 48, 56
CHAR_W = 6.6
COLOURS = {  # on light ground, on dark ground
    "none": ("#6b6b6b", "#a8a8a8"), "text": ("#c24e00", "#ff9145"),
    "text_net": ("#ad005b", "#ff78ba"), "gzip": ("#7a6000", "#e3b81c"),
    "gzip_net": ("#5a3da6", "#ab94ff"), "trace_cmd": ("#00676e", "#3ec9d2"),
    "bsf": ("#1a69bd", "#74b9ff"), "sched": ("#08702c", "#55d780")}
SHADES = {  # of the parts of a bar
    "record": ("#6b6b6b", "#a8a8a8"), "compress": ("#08702c", "#55d780"),
    "convert": ("#c24e00", "#ff9145"), "buffer": ("#7a6000", "#e3b81c"),
    "network": ("#1a69bd", "#74b9ff")}


def style():
    def rules(n):
        rows = [f"text{{fill:{('#1f2328', '#e6edf3')[n]}}}", f".bg{{fill:{('#fff', '#0d1117')[n]}}}",
                f".grid{{stroke:{('#d8dee4', '#30363d')[n]}}}",
                f".tick{{fill:{('#57606a', '#9da7b3')[n]}}}"]
        for name, pair in {**COLOURS, **{f"part-{k}": v for k, v in SHADES.items()}}.items():
            rows.append(f".{name}{{fill:{pair[n]};stroke:{pair[n]}}}")
        return "".join(rows)
    return ("<style>text{font-family:Helvetica,Arial,sans-serif;font-size:12px;stroke:none}"
            ".title{font-size:15px;font-weight:bold}.tick{font-size:11px}.grid{stroke-width:1}"
            ".curve{fill:none!important;stroke-width:2}.dash{stroke-dasharray:6 4}"
            ".hollow{fill:none!important;stroke-width:2}.bar{stroke:none!important}"
            f"{rules(0)}@media(prefers-color-scheme:dark){{{rules(1)}}}</style>")


def escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def number(value):
    """Short enough for an axis."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def steps(top, count=6):
    """Round numbers from 0 to at least `top`."""
    raw = max(top, 1e-9) / count
    size = 10 ** math.floor(math.log10(raw))
    step = next(x * size for x in (1, 2, 2.5, 5, 10) if x * size >= raw * 0.999)
    return [i * step for i in range(math.ceil(top / step - 1e-9) + 1)]


class Drawing:
    def __init__(self, title, height=HEIGHT):
        self.height, self.out = height, []
        self.text(LEFT, 26, title, "title")

    def text(self, x, y, words, kind="", anchor="start", more=""):
        self.out.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>'
                        f"{escape(words)}</text>")

    def line(self, x1, y1, x2, y2, kind):
        self.out.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
                        f'y2="{y2:.1f}"/>')

    def rect(self, x, y, width, height, kind):
        self.out.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                        f'height="{max(height, 0):.1f}"/>')

    def dot(self, x, y, kind):
        self.out.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')

    def caption(self, horizontal, vertical):
        middle = (LEFT + WIDTH - RIGHT) / 2
        self.text(middle, self.height - 12, horizontal, anchor="middle")
        y = (TOP + self.height - BOTTOM) / 2
        self.text(18, y, vertical, anchor="middle", more=f' transform="rotate(-90 18 {y:.1f})"')

    def finish(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}" '
                f'viewBox="0 0 {WIDTH} {self.height}">{style()}<rect class="bg" width="100%" '
                'height="100%"/>\n' + "\n".join(self.out) + "\n</svg>\n")


class Axis:
    """From values to places. Logarithmic ones begin at the decade below the smallest value."""

    def __init__(self, values, start, end, is_log=False):
        self.is_log, self.start, self.end = is_log, start, end
        values = [v for v in values if v > 0] or [1]
        if is_log:
            low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
            self.marks = [10.0 ** e for e in range(low, max(high, low + 1) + 1)]
        else:
            self.marks = steps(max(values))
        self.low, self.high = self.marks[0], self.marks[-1]

    def place(self, value):
        if self.is_log:
            part = math.log10(max(value, self.low) / self.low) / math.log10(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def put_y_grid(drawing, axis):
    for mark in axis.marks:
        y = axis.place(mark)
        drawing.line(LEFT, y, WIDTH - RIGHT, y, "grid")
        drawing.text(LEFT - 6, y + 4, number(mark), "tick", "end")


def put_key(drawing, rows):
    """Rows of (class, kind, words); kinds: curve, hollow, dash, bar."""
    for i, (name, kind, words) in enumerate(rows):
        x, y = WIDTH - RIGHT + 16, TOP + 8 + i * 20
        if kind in ("curve", "dash"):
            drawing.line(x, y, x + 22, y, f"{name} curve {kind}")
        elif kind == "hollow":
            drawing.dot(x + 11, y, f"{name} hollow")
        else:
            drawing.rect(x + 4, y - 6, 14, 12, f"{name} bar")
        drawing.text(x + 28, y + 4, words)


def curves(title, labels, series, marks=(), is_log=False):
    """Series: (key, words, [(x, y)]); marks: the paper's single values (key, words, x, y), or with x
    None a value that holds for all x."""
    drawing = Drawing(title)
    x_values = [x for _, _, points in series for x, _ in points] + [m[2] for m in marks if m[2]]
    y_values = [y for _, _, points in series for _, y in points] + [m[3] for m in marks]
    x_axis = Axis(x_values, LEFT, WIDTH - RIGHT)
    y_axis = Axis(y_values, HEIGHT - BOTTOM, TOP, is_log)
    put_y_grid(drawing, y_axis)
    for mark in x_axis.marks:
        drawing.text(x_axis.place(mark), HEIGHT - BOTTOM + 18, number(mark), "tick", "middle")
    key = []
    for name, words, points in series:
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in points]
        drawing.out.append(f'<polyline class="{name} curve" points="'
                           + " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>')
        for x, y in places:
            drawing.dot(x, y, name)
        key.append((points[-1][1], (name, "curve", words)))
    for name, words, x, y in marks:
        if x is None:
            drawing.line(LEFT, y_axis.place(y), WIDTH - RIGHT, y_axis.place(y),
                         f"{name} curve dash")
        else:
            drawing.dot(x_axis.place(x), y_axis.place(y), f"{name} hollow")
        key.append((y, (name, "dash" if x is None else "hollow", words)))
    put_key(drawing, [row for _, row in sorted(key, key=lambda k: -k[0])])
    drawing.caption(*labels)
    return drawing.finish()


def bars(title, labels, groups, series):
    """Groups: names on the x axis; series: (key, words, [value of each group])."""
    drawing = Drawing(title)
    axis = Axis([v for _, _, values in series for v in values], HEIGHT - BOTTOM, TOP)
    put_y_grid(drawing, axis)
    room = (WIDTH - RIGHT - LEFT) / len(groups)
    width = room * 0.84 / len(series)
    for g, group in enumerate(groups):
        x = LEFT + g * room + room * 0.08
        drawing.text(LEFT + (g + 0.5) * room, HEIGHT - BOTTOM + 18, group, "tick", "middle")
        for s, (name, _, values) in enumerate(series):
            top = axis.place(values[g])
            drawing.rect(x + s * width, top, width - 1, axis.start - top, f"{name} bar")
    put_key(drawing, [(name, "bar", words) for name, words, _ in series])
    drawing.caption(*labels)
    return drawing.finish()


def stacks(title, label, rows, parts):
    """Lying bars: rows (words, {part: value}, words behind it); parts: (part, words) in their order."""
    height, left, row_h = TOP + BOTTOM + 24 * len(rows), 250, 24
    drawing = Drawing(title, height)
    axis = Axis([sum(values.values()) for _, values, _ in rows], left, WIDTH - 180)
    for mark in axis.marks:
        x = axis.place(mark)
        drawing.line(x, TOP, x, height - BOTTOM, "grid")
        drawing.text(x, height - BOTTOM + 16, number(mark), "tick", "middle")
    for i, (words, values, behind) in enumerate(rows):
        y, total = TOP + i * row_h, 0
        drawing.text(left - 8, y + 16, words, anchor="end")
        for part, _ in parts:
            value = values.get(part, 0)
            x = axis.place(total)
            drawing.rect(x, y + 4, axis.place(total + value) - x, row_h - 8, f"part-{part} bar")
            total += value
        drawing.text(axis.place(total) + 6, y + 16, behind, "tick")
    x = left
    for part, words in parts:
        drawing.rect(x, height - 22, 14, 12, f"part-{part} bar")
        drawing.text(x + 18, height - 12, words)
        x += 18 + CHAR_W * len(words) + 22
    drawing.text(LEFT, height - 12, label)
    return drawing.finish()
