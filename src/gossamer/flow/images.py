"""Executors for images that `scrape` has fetched. They need Pillow: pip install pillow."""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from gossamer.errors import ConfigError
from gossamer.fetch.bodies import in_thread
from gossamer.flow.executor import Context, Output, taskify
from gossamer.flow.scrape import scrape_path
from gossamer.flow.status import StatusData, place

#: The longer side of a thumbnail, in pixels.
THUMBNAIL = 256
#: Larger images are not opened: a small file can hold a huge one.
MOST_PIXELS = 64_000_000


@taskify
async def parse_image(context: Context, key: str, status: StatusData) -> Output:
    """The format, width and height of the image in `<key>.scrape`. Raises RuntimeError if it is none."""
    return await in_thread(_looked_at, _pillow(), scrape_path(context.dir, key))


@taskify
async def thumbnail(context: Context, key: str, status: StatusData) -> Output:
    """A small WebP of the image in `<key>.scrape`, as `<key>.thumbnail.webp`. Raises RuntimeError if it is none."""
    path = context.dir / f"{key}.thumbnail.webp"
    return await in_thread(_made_small, _pillow(), scrape_path(context.dir, key), path)


def _looked_at(pillow: Any, path: Path) -> Output:
    with _opened(pillow, path) as image:
        return {"format": image.format, "width": image.width, "height": image.height}


def _made_small(pillow: Any, path: Path, to: Path) -> Output:
    made = io.BytesIO()
    with _opened(pillow, path) as image:
        try:
            small = image.convert("RGBA" if "A" in image.getbands() or image.mode == "P" else "RGB")
            small.thumbnail((THUMBNAIL, THUMBNAIL))
            small.save(made, "WEBP")
        except (OSError, ValueError, SyntaxError) as why:
            raise RuntimeError(f"the image cannot be read: {why}") from None
    place(to, made.getvalue())
    return {"file": to.name, "width": small.width, "height": small.height}


def _opened(pillow: Any, path: Path) -> Any:
    """An image, its pixels not read yet. Raises RuntimeError if it is none, or too large."""
    if not path.exists():
        raise RuntimeError(f"there is no {path.name}: put scrape before this executor")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large images: those that are too large are refused below
            image = pillow.open(path)
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError) as why:
        raise RuntimeError(f"{path.name} is no image that can be read: {why}") from None
    if image.width * image.height > MOST_PIXELS:
        image.close()
        raise RuntimeError(f"the image has {image.width} x {image.height} pixels, more than are read")
    return image


def _pillow() -> Any:
    try:
        return import_module("PIL.Image")
    except ImportError:
        raise ConfigError("images are read with Pillow, which is not installed: pip install pillow") from None
