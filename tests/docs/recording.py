"""A terminal, recorded: runs a command at a pseudo terminal, and draws what it showed as an SVG that moves.

`python -m tests.docs.recording` runs `gossamer demo`, and writes docs/images/demo.svg. What is drawn is what was
printed, when it was printed; only pauses in which nothing changes are cut short.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path

from tests.docs.reading import ROOT

COLUMNS, LINES = 112, 34
#: Seconds: between two pictures, the longest pause, and how long the last picture stays.
FRAME, PAUSE, STAY = 0.8, 1.5, 8.0
#: What a letter takes, and the rim around all of them.
WIDE, HIGH, RIM, BAR = 8.4, 18, 18, 34
DARK, LIGHT = "#15181e", "#d6dae0"
COLOURS = ("#4b5263", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d6dae0")


@dataclass(frozen=True)
class Look:
    """How letters are shown."""

    colour: str = LIGHT
    bold: bool = False
    dim: bool = False
    italic: bool = False

    def told(self, codes: Sequence[int]) -> Look:
        """As a terminal is told by the numbers of an SGR sequence."""
        look, rest = self, list(codes)
        while rest:
            code = rest.pop(0)
            if code in (38, 48):
                colour, rest = _extended(rest)
                look = replace(look, colour=colour) if code == 38 else look
            else:
                look = look._changed(code)
        return look

    def _changed(self, code: int) -> Look:
        if 30 <= code <= 37 or 90 <= code <= 97:
            return replace(self, colour=COLOURS[code % 10])
        match code:
            case 0:
                return Look()
            case 1:
                return replace(self, bold=True)
            case 2:
                return replace(self, dim=True)
            case 3:
                return replace(self, italic=True)
            case 22:
                return replace(self, bold=False, dim=False)
            case 23:
                return replace(self, italic=False)
            case 39:
                return replace(self, colour=LIGHT)
        return self


def _extended(rest: list[int]) -> tuple[str, list[int]]:
    """The colour that `38;5;n` or `38;2;r;g;b` names, and what comes after it."""
    if rest[:1] == [2] and len(rest) >= 4:
        return "#{:02x}{:02x}{:02x}".format(*rest[1:4]), rest[4:]
    number = rest[1] if len(rest) > 1 else 7
    return COLOURS[number % 8] if number < 16 else LIGHT, rest[2:]


#: A line of the screen: texts, each with its look and where it begins.
Line = tuple[tuple[int, str, Look], ...]


@dataclass
class Screen:
    """As much of a terminal as our own output needs."""

    columns: int = COLUMNS
    lines: int = LINES
    row: int = 0
    column: int = 0
    look: Look = field(default_factory=Look)
    cells: list[dict[int, tuple[str, Look]]] = field(default_factory=lambda: [{}])
    _rest: str = ""

    def feed(self, text: str) -> None:
        """What a program writes."""
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._letter(text[at])
                at += 1
            elif found := _SEQUENCE.match(text, at):
                self._obey(found["letter"], found["numbers"])
                at = found.end()
            else:  # the rest of it is still to come
                self._rest = text[at:]
                return

    def _letter(self, letter: str) -> None:
        match letter:
            case "\n":
                self.row += 1
                while len(self.cells) <= self.row:
                    self.cells.append({})
            case "\r":
                self.column = 0
            case _ if letter.isprintable():
                if self.column >= self.columns:
                    self._letter("\n")
                    self.column = 0
                self.cells[self.row][self.column] = (letter, self.look)
                self.column += 1

    def _obey(self, letter: str, numbers: str) -> None:
        given = [int(number or 0) for number in numbers.lstrip("?").split(";")] if numbers else []
        match letter:
            case "m":
                self.look = self.look.told(given or [0])
            case "A":
                self.row = max(0, self.row - max(1, given[0] if given else 1))
            case "K" if given == [2]:
                self.cells[self.row] = {}
            case "K":
                self.cells[self.row] = {at: cell for at, cell in self.cells[self.row].items() if at < self.column}
            case "J":
                self._obey("K", "")
                self.cells[self.row + 1 :] = []

    def shown(self) -> tuple[Line, ...]:
        """The last lines, as many as there is room for."""
        written = self.cells if any(self.cells[-1].values()) else self.cells[:-1]
        return tuple(_runs(cells) for cells in written[-self.lines :])


_SEQUENCE = re.compile(r"\x1b(?:\[(?P<numbers>[?\d;]*)(?P<letter>[A-Za-z])|\][^\x07]*\x07)")


def _runs(cells: dict[int, tuple[str, Look]]) -> Line:
    """The letters of a line as texts of one look each; blanks at their ends are left out."""
    found: list[tuple[int, str, Look]] = []
    for at in sorted(cells):
        letter, look = cells[at]
        if found and found[-1][2] == look and found[-1][0] + len(found[-1][1]) == at:
            found[-1] = (found[-1][0], found[-1][1] + letter, look)
        else:
            found.append((at, letter, look))
    return tuple((at, text.rstrip(), look) for at, text, look in found if text.strip())


# -- recording ----------------------------------------------------------------------------------------------------


def record(command: Sequence[str], folder: str, *, seconds: float = 120) -> Iterator[tuple[float, str]]:
    """What a command writes to a terminal, with the seconds since it began."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(LINES)}
    env = {name: value for name, value in env.items() if not name.startswith("GOSSAMER_") and name != "NO_COLOR"}
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=env, stdin=its, stdout=its, stderr=its)
    os.close(its)
    rest = b""
    while time.monotonic() - began < seconds:
        if not select.select([ours], [], [], 0.05)[0]:
            continue
        try:
            rest += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        whole = rest[: len(rest) - _unfinished(rest)]
        rest = rest[len(whole) :]
        yield time.monotonic() - began, whole.decode("utf-8", "replace")
    os.close(ours)
    if process.wait(timeout=10) != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")


def _unfinished(data: bytes) -> int:
    """How many bytes at the end are the beginning of a letter."""
    for back in range(1, min(4, len(data)) + 1):
        if data[-back] >= 0xC0:
            length = 2 if data[-back] < 0xE0 else 3 if data[-back] < 0xF0 else 4
            return back if length > back else 0
    return 0


def pictures(prompt: str, written: Iterator[tuple[float, str]]) -> list[tuple[float, tuple[Line, ...]]]:
    """The screens that were seen, with when each came: the command typed, then what it did."""
    screen = Screen()
    found: list[tuple[float, tuple[Line, ...]]] = []
    typed = 0.0
    screen.feed("\x1b[32m$\x1b[0m ")
    for letter in prompt:
        screen.feed(f"\x1b[1m{letter}\x1b[0m")
        typed += 0.06
        found.append((typed, screen.shown()))
    screen.feed("\r\n")
    shift = typed + 0.4
    for at, text in written:
        screen.feed(text)
        when = at + shift
        if found and when - found[-1][0] > PAUSE:
            shift -= when - found[-1][0] - PAUSE
            when = found[-1][0] + PAUSE
        shown = screen.shown()
        if shown == found[-1][1]:
            continue
        if when - found[-1][0] < FRAME and len(found) > len(prompt):
            found[-1] = (found[-1][0], shown)
        else:
            found.append((when, shown))
    return found


# -- drawing ------------------------------------------------------------------------------------------------------


def svg(title: str, seen: list[tuple[float, tuple[Line, ...]]]) -> str:
    """The pictures one after the other, again and again. What stays in its place is drawn once."""
    tall = max(len(picture) for _, picture in seen)
    wide, high = COLUMNS * WIDE + 2 * RIM, tall * HIGH + BAR + RIM
    total = seen[-1][0] + STAY
    drawn, rules = [], []
    for number, (row, line, begin, end) in enumerate(_stays(seen, total)):
        last = ' class="l"' if end >= total else ""
        drawn.append(f'<g id="t{number}"{last} transform="translate(0,{row * HIGH})">{_drawn(line)}</g>')
        rules.append(_rule(number, begin / total * 100, end / total * 100))
    style = (
        f"text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;"
        f"fill:{LIGHT}}}.b{{font-weight:700}}.i{{font-style:italic}}.d{{opacity:.62}}"
        + "".join(f".c{n}{{fill:{colour}}}" for n, colour in enumerate(COLOURS))
        + f"#t g{{visibility:hidden;animation:0s step-end infinite;animation-duration:{total:.2f}s}}"
        + "".join(rules)
        # Who does not like things that move sees how it ended.
        + "@media(prefers-reduced-motion:reduce){#t g{animation:none!important}#t .l{visibility:visible}}"
    )
    dots = "".join(
        f'<circle cx="{RIM + 4 + n * 20}" cy="17" r="6" class="c{colour}"/>' for n, colour in enumerate((1, 3, 2))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high}" width="{wide:g}" height="{high}" '
        f'role="img" aria-label="{escape(title)}"><title>{escape(title)}</title><style>{style}</style>'
        f'<rect width="{wide:g}" height="{high}" rx="10" fill="{DARK}"/>{dots}'
        f'<text x="{wide / 2:g}" y="22" text-anchor="middle" class="d">{escape(title)}</text>'
        f'<g id="t" transform="translate({RIM},{BAR + 14})">{"".join(drawn)}</g></svg>\n'
    )


def _stays(seen: list[tuple[float, tuple[Line, ...]]], total: float) -> Iterator[tuple[int, Line, float, float]]:
    """Every line that was seen: in which row, and from when to when."""
    there: dict[int, tuple[Line, float]] = {}
    for at, picture in [*seen, (total, ())]:
        for row in sorted({*there, *range(len(picture))}):
            line = picture[row] if row < len(picture) else ()
            if row in there and there[row][0] != line:
                old, since = there.pop(row)
                yield row, old, since, at
            if line and row not in there:
                there[row] = (line, at)


def _rule(number: int, begin: float, end: float) -> str:
    """When a line is seen, in per cent of the whole: between its two keys, as steps end."""
    gone = "" if end >= 100 else f"{end:.2f}%{{visibility:hidden}}"
    keys = f"@keyframes k{number}{{{begin:.2f}%{{visibility:visible}}{gone}}}"
    return f"{keys}#t #t{number}{{animation-name:k{number}}}"


def _drawn(line: Line) -> str:
    """Texts at their places, as wide as they are on a terminal whatever the font."""
    spans = []
    for at, text, look in line:
        place = f'x="{at * WIDE:.4g}" textLength="{len(text) * WIDE:.4g}"'
        spans.append(f"<tspan {place}{_classes(look)}>{escape(text, quote=False)}</tspan>")
    return f'<text lengthAdjust="spacingAndGlyphs">{"".join(spans)}</text>'


def _classes(look: Look) -> str:
    names = [name for name, on in (("b", look.bold), ("d", look.dim), ("i", look.italic)) if on]
    names += [f"c{COLOURS.index(look.colour)}"] if look.colour in COLOURS and look.colour != LIGHT else []
    return f' class="{" ".join(names)}"' if names else ""


def main() -> None:
    command = sys.argv[1:] or ["gossamer", "demo"]
    prompt = " ".join(command)
    with tempfile.TemporaryDirectory() as folder:
        seen = pictures(prompt, record(command, folder))
    target = ROOT / "docs" / "images" / f"{command[1]}.svg"
    target.write_text(svg(prompt, seen), "utf-8")
    print(f"{target}: {len(seen)} pictures, {seen[-1][0]:.0f} s, {target.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
