"""What can be done in the overview."""

from __future__ import annotations

from dataclasses import replace

from tickmon.tui.actions import PALETTE, REMEMBER_THEME, THEME, Action

OVERVIEW_ACTIONS = (
    Action(
        name="screen.open",
        title="Open the chosen CPU",
        keys="",
        shown="Enter",
        word="open",
        sentence="the chosen CPU's own screen",
        rank=0,
    ),
    Action(
        name="screen.sort",
        title="The worst first, or by number",
        keys="w",
        shown="w",
        word="worst",
        sentence="the worst first, or by number",
        rank=1,
    ),
    Action(
        name="screen.save",
        title="Save the chosen CPU's last window",
        keys="s",
        shown="s",
        word="save",
        sentence="snapshot: the chosen CPU's last window with each interruption, and a summary",
        rank=2,
    ),
    Action(
        name="screen.group",
        title="Group by node and core",
        keys="g",
        shown="g",
        word="group",
        sentence="by node and core, or one list",
        rank=2,
    ),
    Action(
        name="screen.feed",
        title="Scan, or all at once",
        keys="a",
        shown="a",
        word="all at once",
        sentence="a sampler on every idle CPU, or one that goes round",
        rank=1,
    ),
    Action(
        name="help", title="Help", keys="question_mark,h,f1", shown="?", word="help", sentence="keys", rank=3
    ),
    replace(THEME, word="", rank=9),
    REMEMBER_THEME,
    PALETTE,
    Action(
        name="screen.close",
        title="Back to one CPU",
        keys="o,escape,q",
        shown="o Esc",
        word="back",
        sentence="back to the screen of one CPU",
        rank=0,
    ),
)
"""For bindings, the last line and the palette."""
