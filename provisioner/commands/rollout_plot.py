"""A simulated rollout as a picture: who serves over time, on which release, above which floor."""

import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from provisioner.errors import BadInput
from provisioner.simulator.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FORMATS = frozenset({".svg", ".png"})
_BLUE, _GREEN, _RED, _GREY = "#3b6fb6", "#3f9b57", "#b3362b", "#555555"
_INCHES = (10.0, 5.2)
_DOTS_PER_INCH = 120
_NAME_SHARE = 0.07
"""Of the width, that the name of a wave takes."""


def refuse_undrawable(path: Path) -> None:
    """Before anything is computed. Raises `BadInput` for what no picture could be written to."""
    if path.suffix not in _FORMATS:
        raise BadInput(f"--plot: {path}: name a file that ends in .svg or .png")
    folder = path.parent
    if not folder.is_dir():
        raise BadInput(f"--plot: {path}: there is no folder {folder}: make it, or name another")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise BadInput(f"--plot: {path}: cannot be written: name another file")
    if importlib.util.find_spec("matplotlib") is None:
        raise BadInput("--plot: matplotlib is not installed: install firstlight with its extra, firstlight[plot]")


def draw(result: Result, path: Path) -> None:
    """Write the picture; the same result gives the same file. Raises `BadInput` where it cannot be written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "firstlight", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=_INCHES, layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        _draw_serving(upper, result)
        _draw_releases(lower, result)
        _mark(upper, result, "goes back")
        _mark(lower, result, None)
        _name_waves(upper, result)
        figure.suptitle(_title(result))
        figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=9)
        try:
            figure.savefig(path, dpi=_DOTS_PER_INCH, metadata={"Date": None} if path.suffix == ".svg" else None)
        except OSError as error:
            raise BadInput(f"--plot: {path}: cannot be written: {error}") from error


def _draw_serving(axes: "Axes", result: Result) -> None:
    hours, serving, _ = _lines(result)
    floor = 100 * result.floor / result.nodes
    axes.step(hours, serving, where="post", color=_BLUE, linewidth=1.2, label="in service")
    axes.axhline(floor, color=_RED, linestyle="--", linewidth=1.0, label="floor")
    depth = max(100 - min(floor, *serving), 0.1)
    axes.set_ylim(100 - 1.1 * depth, 100 + 0.3 * depth)
    axes.set_yticks([tick for tick in axes.get_yticks() if 100 - 1.1 * depth <= tick <= 100])
    axes.set_ylabel("nodes in service, %")


def _draw_releases(axes: "Axes", result: Result) -> None:
    hours, serving, new = _lines(result)
    out = [on_new + 100 - share for on_new, share in zip(new, serving, strict=True)]
    axes.fill_between(hours, 0, new, step="post", color=_GREEN, linewidth=0, label="on the new release")
    axes.fill_between(hours, new, out, step="post", color=_GREY, alpha=0.35, linewidth=0, label="out of service")
    axes.set_ylim(0, max(1.1 * max(out), 0.01))
    axes.set_ylabel("nodes, %")
    axes.set_xlabel("hours since the start")
    axes.set_xlim(0, max(hours[-1], 0.01))


def _lines(result: Result) -> tuple[list[float], list[float], list[float]]:
    """Hours; nodes in service; those of them on the new release, both in percent. The last moment lasts to the end."""
    moments = [*result.curve, replace(result.curve[-1], at=result.seconds)]
    shares = [(100 * one.serving / result.nodes, 100 * one.serving_new / result.nodes) for one in moments]
    return [one.at / 3600 for one in moments], [one for one, _ in shares], [new for _, new in shares]


def _mark(axes: "Axes", result: Result, label: str | None) -> None:
    """Where a wave opened, and how long everything goes back."""
    for wave in result.waves:
        axes.axvline(wave.opened / 3600, color=_GREY, linewidth=0.7, linestyle=":")
    begin = next((one.at for one in result.curve if one.returning), None)
    if begin is not None:
        axes.axvspan(begin / 3600, result.seconds / 3600, color=_RED, alpha=0.12, linewidth=0, label=label)


def _name_waves(axes: "Axes", result: Result) -> None:
    """One name where several would stand on each other."""
    room = result.seconds / 3600 * _NAME_SHARE
    last = -room
    for wave in result.waves:
        hours = wave.opened / 3600
        if hours - last < room:
            continue
        last = hours
        text = f"wave {wave.number}\n{wave.units} unit{'s' * (wave.units != 1)}"
        axes.annotate(
            text,
            (hours, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -3),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=_GREY,
        )


def _title(result: Result) -> str:
    return f"{result.nodes:,} nodes, seed {result.seed}: {result.outcome.value.replace('_', ' ')}"
