"""A small picture of bars and words: written as SVG with nothing but text, as PNG by Pillow where that is there."""

from __future__ import annotations

import importlib.util
from html import escape
from pathlib import Path
from typing import Literal

import msgspec

from gossamer.errors import ConfigError

#: Pixels of a PNG for each of the picture's own.
SCALE = 2
_FONT = "font-family='DejaVu Sans, Helvetica, Arial, sans-serif'"

Anchor = Literal["start", "middle", "end"]


class Bar(msgspec.Struct, frozen=True):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


class Words(msgspec.Struct, frozen=True):
    """A line of text, its middle at `y`."""

    x: float
    y: float
    text: str
    size: int = 13
    colour: str = "#24292f"
    anchor: Anchor = "start"
    bold: bool = False


class Picture:
    """Bars and words, in the order they are drawn."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.height = 0
        self._things: list[Bar | Words] = []

    def bar(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Draw a rectangle; a line is one that is thin."""
        self._things.append(Bar(x, y, max(width, 1.0), height, colour))
        self.height = max(self.height, int(y + height) + 20)

    def words(self, words: Words) -> None:
        """Draw a line of text."""
        self._things.append(words)
        self.height = max(self.height, int(words.y + words.size) + 10)

    def svg(self) -> str:
        """The picture as a document."""
        size = f"width='{self.width}' height='{self.height}' viewBox='0 0 {self.width} {self.height}'"
        lines = [f"<svg xmlns='http://www.w3.org/2000/svg' {size} {_FONT}>"]
        lines.append(f"<rect width='{self.width}' height='{self.height}' fill='#ffffff'/>")
        for thing in self._things:
            if isinstance(thing, Bar):
                place = f"x='{thing.x:.1f}' y='{thing.y:.1f}' width='{thing.width:.1f}' height='{thing.height:.1f}'"
                lines.append(f"<rect {place} fill='{thing.colour}' rx='1.5'/>")
            else:
                how = f"font-size='{thing.size}' fill='{thing.colour}' text-anchor='{thing.anchor}'"
                bold = " font-weight='bold'" if thing.bold else ""
                place = f"x='{thing.x:.1f}' y='{thing.y:.1f}' dominant-baseline='central'"
                lines.append(f"<text {place} {how}{bold}>{escape(thing.text)}</text>")
        return "\n".join([*lines, "</svg>", ""])

    def save(self, path: Path) -> None:
        """Write it, as the name of the file says. Raises ConfigError if it cannot be written."""
        try:
            if path.suffix.lower() == ".png":
                self._save_png(path)
            else:
                path.write_text(self.svg(), "utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from None

    def _save_png(self, path: Path) -> None:
        from PIL import Image, ImageDraw, ImageFont

        image = Image.new("RGB", (self.width * SCALE, self.height * SCALE), "#ffffff")
        draw = ImageDraw.Draw(image)
        for thing in self._things:
            if isinstance(thing, Bar):
                left, top = thing.x * SCALE, thing.y * SCALE
                draw.rectangle((left, top, left + thing.width * SCALE, top + thing.height * SCALE), fill=thing.colour)
                continue
            font = ImageFont.load_default(thing.size * SCALE)
            anchor = {"start": "lm", "middle": "mm", "end": "rm"}[thing.anchor]
            stroke = 1 if thing.bold else 0
            draw.text(
                (thing.x * SCALE, thing.y * SCALE),
                thing.text,
                fill=thing.colour,
                font=font,
                anchor=anchor,
                stroke_width=stroke,
                stroke_fill=thing.colour,
            )
        image.save(path)


def check(path: Path) -> None:
    """Raises ConfigError if no picture can be written there: said before anything is measured, not after."""
    kind = path.suffix.lower()
    if kind not in (".svg", ".png"):
        raise ConfigError(f"--plot {path} cannot be used: give a file that ends in .svg or .png")
    if kind == ".png" and importlib.util.find_spec("PIL") is None:
        raise ConfigError("a PNG needs Pillow: pip install 'gossamer[images]', or give a file that ends in .svg")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ConfigError(f"--plot {path} cannot be written: its folder does not exist, or it is one")
