# SPDX-License-Identifier: Apache-2.0
"""Drawing SVG by hand: a canvas with one style sheet, legible on light and on dark pages."""

from __future__ import annotations

from html import escape

FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
CHARACTER = 7.0  # mean width at 12 px

# Series by entry name: (light, dark). kiln is warm, the peers are cool, so that it is found at a glance.
COLOURS: dict[str, tuple[str, str]] = {
    "kiln": ("#c2410c", "#fb923c"),
    "kiln_many": ("#e8963a", "#fcd29b"),
    "kiln_operator": ("#e8963a", "#fcd29b"),
    "kiln_library": ("#b45309", "#fbbf24"),
    "kiln_autograd": ("#c2410c", "#fb923c"),
    "kiln_forward": ("#e8963a", "#fcd29b"),
    "aten": ("#0f766e", "#2dd4bf"),
    "aten_autograd": ("#0f766e", "#2dd4bf"),
    "aten_forward": ("#5fa8a1", "#99f0e4"),
    "inductor": ("#1d4ed8", "#60a5fa"),
    "inductor_many": ("#7ba1f2", "#b9d7fe"),
    "inductor_split": ("#64748b", "#94a3b8"),
    "liger": ("#7e22ce", "#c084fc"),
    "quack": ("#be185d", "#f472b6"),
    "te": ("#4d7c0f", "#a3e635"),
    "torch": ("#1d4ed8", "#60a5fa"),
    "torch_add": ("#1d4ed8", "#60a5fa"),
    "cublas": ("#4d7c0f", "#a3e635"),
    "cublas_composed": ("#a3c46b", "#d9f99d"),
    "deepgemm": ("#7e22ce", "#c084fc"),
    "kiln_portable": ("#e8963a", "#fcd29b"),
    "kiln_composed": ("#b45309", "#fbbf24"),
    "forward": ("#c2410c", "#fb923c"),
    "dgrad": ("#e8963a", "#fcd29b"),
    "wgrad_bf16": ("#0f766e", "#2dd4bf"),
    "wgrad_f32": ("#1d4ed8", "#60a5fa"),
    "wgrad_accumulate": ("#7e22ce", "#c084fc"),
    "wgrad_accumulate_bf16": ("#be185d", "#f472b6"),
    "step": ("#4d7c0f", "#a3e635"),
    "copy": ("#1f2328", "#f0f6fc"),
}
OTHER = ("#6e7781", "#9198a1")

_PAGE = {
    # selector: (property, light, dark)
    ".page": ("fill", "#ffffff", "#0d1117"),
    # Text over lines: a rim in the colour of the page keeps it legible.
    ".rim": ("stroke", "#ffffff", "#0d1117"),
    ".ink": ("fill", "#1f2328", "#f0f6fc"),
    ".muted": ("fill", "#59636e", "#9198a1"),
    ".grid": ("stroke", "#d1d9e0", "#3d444d"),
    ".frame": ("stroke", "#59636e", "#9198a1"),
    ".limit": ("stroke", "#1f2328", "#f0f6fc"),
    ".whisker": ("stroke", "#1f2328", "#f0f6fc"),
}


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Canvas:
    def __init__(self, width: float, height: float, title: str, description: str) -> None:
        self.width, self.height = width, height
        self._title, self._description = title, description
        self._parts: list[str] = []
        self._series: list[str] = []

    def series(self, name: str) -> str:
        """The class of a series: fills of shapes, strokes of lines."""
        if name not in self._series:
            self._series.append(name)
        return f"s{self._series.index(name)}"

    def text(
        self,
        x: float,
        y: float,
        text: str,
        kind: str = "ink",
        anchor: str = "start",
        size: int = 12,
        bold: bool = False,
    ) -> None:
        """`kind` is a class of the style sheet; with "rim" the text stays legible over lines."""
        weight = ' font-weight="600"' if bold else ""
        if "rim" in kind.split():
            weight += ' paint-order="stroke" stroke-width="3" stroke-linejoin="round"'
        self._parts.append(
            f'<text class="{kind}" x="{number(x)}" y="{number(y)}" text-anchor="{anchor}" '
            f'font-size="{size}"{weight}>{escape(text)}</text>'
        )

    def bar(self, x: float, y: float, width: float, height: float, name: str, tip: str) -> None:
        self._parts.append(
            f'<rect class="{self.series(name)}" x="{number(x)}" y="{number(y)}" '
            f'width="{number(max(width, 0.5))}" height="{number(height)}" rx="1.5">'
            f"<title>{escape(tip)}</title></rect>"
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, kind: str, dash: str = "", width: float = 1
    ) -> None:
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<line class="{kind}" x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" '
            f'stroke-width="{number(width)}"{dashes}/>'
        )

    def curve(self, points: list[tuple[float, float]], name: str, dash: str = "") -> None:
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<polyline class="{self.series(name)} curve" points="{path}" stroke-width="2"{dashes}/>'
        )

    def dot(self, x: float, y: float, name: str, tip: str) -> None:
        self._parts.append(
            f'<circle class="{self.series(name)}" cx="{number(x)}" cy="{number(y)}" r="3">'
            f"<title>{escape(tip)}</title></circle>"
        )

    def legend(self, x: float, y: float, names: list[tuple[str, str]], right: float) -> float:
        """Swatches with labels, wrapped at `right`; gives the y below them."""
        at = x
        for name, label in names:
            wide = 18 + CHARACTER * len(label) + 16
            if at > x and at + wide > right:
                at, y = x, y + 18
            self.bar(at, y - 9, 12, 10, name, label)
            self.text(at + 18, y, label)
            at += wide
        return y + 18

    def render(self) -> str:
        width, height = number(self.width), number(self.height)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-labelledby="title description" font-family="{FONT}">'
        )
        page = f'<rect class="page" width="{width}" height="{height}" rx="6"/>'
        lines = [
            head,
            f'<title id="title">{escape(self._title)}</title>',
            f'<desc id="description">{escape(self._description)}</desc>',
            f"<style>\n{self._style()}\n</style>",
            page,
            *self._parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"

    def _style(self) -> str:
        def rules(shade: int) -> list[str]:
            page = [f"{selector}{{{rule[0]}:{rule[1 + shade]}}}" for selector, rule in _PAGE.items()]
            own = []
            for index, name in enumerate(self._series):
                colour = COLOURS.get(name, OTHER)[shade]
                own.append(f".s{index}{{fill:{colour};stroke:none}}")
                own.append(f".s{index}.curve{{fill:none;stroke:{colour}}}")
            return page + own

        dark = "\n".join(rules(1))
        return "\n".join([*rules(0), "@media (prefers-color-scheme: dark){", dark, "}"])
