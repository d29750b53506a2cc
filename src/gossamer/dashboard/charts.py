"""Charts over time, drawn by the browser from numbers. Names in them are ours, or shown on canvas, never as markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from nicegui import ui

#: Readable on light and on dark.
_GREY = "#8592a3"
COLOURS = {"blue": "#4a86e8", "green": "#2fa36b", "red": "#d9525b", "amber": "#d99a1e"}


class Line(msgspec.Struct, frozen=True):
    """One row of numbers in a chart."""

    name: str
    colour: str = "blue"
    #: Bars that stand on each other rather than a line.
    bars: bool = False


class Chart:
    """Numbers over time. What did not change is not drawn again."""

    def __init__(self, lines: Sequence[Line], label: str) -> None:
        self._shown: list[list[tuple[int, float]]] = []
        self._chart = ui.echart(
            {
                "animation": False,
                "grid": {"left": 46, "right": 12, "top": 30, "bottom": 24},
                "legend": {"top": 0, "left": 0, "textStyle": {"color": _GREY}, "itemHeight": 8},
                # On canvas: whatever a name holds stays text.
                "tooltip": {"trigger": "axis", "renderMode": "richText", "confine": True},
                "xAxis": {"type": "time", "axisLabel": {"color": _GREY, "hideOverlap": True}},
                "yAxis": {
                    "type": "value",
                    "minInterval": 1,
                    "axisLabel": {"color": _GREY},
                    "splitLine": {"lineStyle": {"color": "rgba(128,128,128,0.18)"}},
                },
                "series": [_series(line) for line in lines],
            }
        ).classes("g-chart")
        self._chart.props["role"] = "img"
        self._chart.props["aria-label"] = label

    def show(self, rows: Sequence[Sequence[tuple[float, float]]]) -> None:
        """Other numbers: for each line, moments and values."""
        told = [[(round(1000 * at), value) for at, value in row] for row in rows]
        if told != self._shown:
            self._shown = told
            for series, row in zip(self._chart.options["series"], told, strict=True):
                series["data"] = row
            self._chart.update()


def _series(line: Line) -> dict[str, Any]:
    colour = COLOURS[line.colour]
    drawn: dict[str, Any] = {"type": "line", "showSymbol": False, "areaStyle": {"opacity": 0.12}}
    if line.bars:
        drawn = {"type": "bar", "stack": "all", "barMaxWidth": 14}
    return {"name": line.name, "data": [], "color": colour, **drawn}
