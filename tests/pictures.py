"""Makes the pictures of the screen: ``python -m tests.pictures`` writes screenshots/*.svg and *.png.

Needs resvg-py and the font Fira Code (Debian: fonts-firacode).
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import resvg_py

from tests.desk import desk
from tests.scripted import LIFE, examine_scripted, scripted_cpus, scripted_rows
from tickmon.machine.cpus import Cpus
from tickmon.tui.board import CpuRow
from tickmon.tui.screens.overview import Overview
from tickmon.windows import Method, Settings

FOLDER = Path(__file__).parent.parent / "screenshots"
CPUS = scripted_cpus(8, nohz_full=frozenset())
FONTS = "/usr/share/fonts"
_FONT_FACE = re.compile(r"@font-face \{.*?\}", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is to be seen in one picture."""

    name: str
    size: tuple[int, int]
    windows: int = 50
    keys: tuple[str, ...] = ()
    theme: str = "dark"
    method: Method = Method.GAP
    cpus: Cpus = CPUS
    tuned: int = 0
    """Pinned, and so many windows later, somebody having made its ticks shorter and rarer disturbed."""


TUNED = replace(LIFE, tick_ns=8_600.0, noise_hz=120.0)
MANY_CPUS = scripted_cpus(128)
PICTURES = (
    Picture(name="live-80x24", size=(80, 24)),
    Picture(name="live-120x40", size=(120, 40)),
    Picture(name="live-200x50", size=(200, 50)),
    Picture(name="light-120x40", size=(120, 40), theme="light"),
    Picture(name="colour-blind-safe-120x40", size=(120, 40), theme="safe"),
    Picture(name="loop-method-80x24", size=(80, 24), windows=8, method=Method.LOOP),
    Picture(name="cpus-80x24", size=(80, 24), keys=("c",)),
    Picture(name="paused-80x24", size=(80, 24), keys=("w", "w")),
    Picture(name="overview-80x24", size=(80, 24), windows=1, keys=("o",), cpus=MANY_CPUS),
    Picture(name="overview-worst-120x40", size=(120, 40), windows=1, keys=("o", "w"), cpus=MANY_CPUS),
    Picture(name="overview-200x50", size=(200, 50), windows=1, keys=("o",), cpus=MANY_CPUS),
    Picture(name="before-after-120x40", size=(120, 40), tuned=24),
    Picture(name="doctor-80x24", size=(80, 24), keys=("d",)),
    Picture(name="help-80x24", size=(80, 24), keys=("question_mark", "question_mark")),
)


async def take(picture: Picture) -> None:
    """Writes one picture as SVG and PNG."""
    settings = Settings(cpu=7, method=picture.method)
    async with desk(size=picture.size, cpus=picture.cpus, settings=settings, examine=examine_scripted) as at:
        at.app.theme = picture.theme
        await at.windows(picture.windows)
        if picture.tuned:
            await at.press("p")
            await at.windows(picture.tuned, life=TUNED)
        await at.press(*picture.keys)
        if isinstance(at.app.screen, Overview):
            show_rows(at.app.screen)
        if "c" in picture.keys:
            await at.until(lambda: len(at.looked) >= 7)
        await at.pilot.pause()
        # Without the addresses of fonts: whoever looks at it shall load nothing from elsewhere.
        svg = _FONT_FACE.sub("", at.app.export_screenshot(title="tickmon"))
    (FOLDER / f"{picture.name}.svg").write_text(svg)
    png = resvg_py.svg_to_bytes(svg_string=svg, font_dirs=[FONTS], width=picture.size[0] * 14)
    (FOLDER / f"{picture.name}.png").write_bytes(bytes(png))


@cache
def many_rows() -> Mapping[int, CpuRow]:
    """Making them takes a while."""
    return scripted_rows(MANY_CPUS)


def show_rows(screen: Overview) -> None:
    """Shows what a long scan has found; the one that just began tells nothing more."""
    screen._survey += 1
    screen._rows |= many_rows()
    screen._lines_stale = True
    screen._frames.now()


def main() -> None:
    """Makes them all."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    for picture in PICTURES:
        asyncio.run(take(picture))


if __name__ == "__main__":
    main()
