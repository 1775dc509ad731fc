"""Our themes: dark, light, one for people who do not tell red from green; and what each ink looks like."""

from __future__ import annotations

from functools import cache

from rich.style import Style
from textual.theme import Theme

from tickmon.tui.rows import Ink

THEMES = (
    Theme(
        name="dark",
        primary="#5fafd7",
        secondary="#87afd7",
        accent="#ffaf5f",
        warning="#ffaf00",
        error="#ff5f5f",
        success="#87ff87",
        foreground="#d0d0d0",
        background="#121212",
        surface="#1c1c1c",
        panel="#262626",
        dark=True,
        variables={
            "ink-label": "#8a8a8a",
            "ink-faint": "#444444",
            "ink-older": "#5f5f5f",
            "ink-value": "#eeeeee",
            "ink-tick": "#5fafff",
            "ink-train": "#ffaf5f",
            "ink-rest": "#af87d7",
            "ink-bar": "#303030",
            "ink-on": "#121212",
        },
    ),
    Theme(
        name="light",
        primary="#005f87",
        secondary="#005faf",
        accent="#af5f00",
        warning="#af5f00",
        error="#af0000",
        success="#008700",
        foreground="#303030",
        background="#ffffff",
        surface="#f0f0f0",
        panel="#e4e4e4",
        dark=False,
        variables={
            "ink-label": "#6c6c6c",
            "ink-faint": "#c6c6c6",
            "ink-older": "#a8a8a8",
            "ink-value": "#000000",
            "ink-tick": "#005fd7",
            "ink-train": "#af5f00",
            "ink-rest": "#8700af",
            "ink-bar": "#dadada",
            "ink-on": "#ffffff",
        },
    ),
    # Blue against orange, and every pair also differs in brightness (Okabe & Ito, 2008).
    Theme(
        name="safe",
        primary="#56b4e9",
        secondary="#0072b2",
        accent="#e69f00",
        warning="#e69f00",
        error="#f0e442",
        success="#56b4e9",
        foreground="#d0d0d0",
        background="#000000",
        surface="#121212",
        panel="#262626",
        dark=True,
        variables={
            "ink-label": "#949494",
            "ink-faint": "#4e4e4e",
            "ink-older": "#626262",
            "ink-value": "#ffffff",
            "ink-tick": "#56b4e9",
            "ink-train": "#e69f00",
            "ink-rest": "#d0d0d0",
            "ink-bar": "#303030",
            "ink-on": "#000000",
        },
    ),
)
"""Named as in ``options.THEMES``; the first is the default, ``t`` goes through them."""

_STYLES: dict[Ink, str] = {
    "plain": "foreground",
    "label": "ink-label",
    "faint": "ink-faint",
    "value": "bold ink-value",
    "head": "bold primary",
    "large": "bold ink-value",
    "tick": "ink-tick",
    "train": "ink-train",
    "rest": "ink-rest",
    "line": "primary",
    "older": "ink-older",
    "good": "success",
    "warn": "bold warning",
    "bad": "bold error",
    "bar": "bold foreground on ink-bar",
    "live": "bold ink-on on success",
    "paused": "bold ink-on on warning",
    "cursor": "warning on ink-faint",
    "key": "bold ink-value",
}
_COLOURLESS: dict[Ink, str] = {
    "label": "dim",
    "faint": "dim",
    "older": "dim",
    "value": "bold",
    "head": "bold",
    "large": "bold",
    "warn": "bold",
    "bad": "bold reverse",
    "bar": "bold underline",
    "live": "bold underline",
    "paused": "bold reverse",
    "cursor": "reverse",
    "key": "bold",
}
"""Without colours, what must not be missed is in reverse."""


@cache
def ink_style(ink: Ink, theme_name: str, *, colourless: bool) -> Style:
    """How an ink is drawn; resolved here and not in CSS, which would do it anew for every part."""
    if colourless:
        return Style.parse(_COLOURLESS.get(ink, ""))
    theme = next(theme for theme in THEMES if theme.name == theme_name)
    colours = {"primary": theme.primary, **theme.variables}
    colours |= {name: getattr(theme, name) for name in ("foreground", "success", "warning", "error")}
    return Style.parse(" ".join(colours.get(word, word) for word in _STYLES[ink].split()))
