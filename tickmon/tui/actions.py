"""What can be done on the main screen: one table for bindings, key line, help and palette."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do, and how to ask for it."""

    name: str
    """What Textual calls: ``action_<name>`` of the app."""
    keys: str
    """Textual's names, separated by commas; the digits are bound apart."""
    shown: str
    """The keys as people read them."""
    title: str
    """In the palette."""
    word: str
    """In the key line."""
    sentence: str
    """In help and palette: what it does."""
    rank: int
    """The key line leaves out the highest ranks first."""


THEME = Action(
    name="theme",
    title="Next theme",
    keys="t",
    shown="t",
    word="theme",
    sentence="next theme: dark, light, colour-blind safe",
    rank=5,
)
REMEMBER_THEME = Action(
    name="remember_theme",
    title="Remember this theme",
    keys="T",
    shown="T",
    word="",
    sentence="have the next start begin with this theme",
    rank=9,
)
PALETTE = Action(
    name="command_palette",
    title="Palette",
    keys="colon",
    shown=": ctrl+p",
    word="",
    sentence="command palette: all of this by name",
    rank=9,
)

ACTIONS = (
    Action(
        name="go(-1)",
        title="Previous CPU",
        keys="left,left_square_bracket",
        shown="← [",
        word="",
        sentence="previous CPU",
        rank=9,
    ),
    Action(
        name="go(1)",
        title="Next CPU",
        keys="right,right_square_bracket",
        shown="→ ]",
        word="",
        sentence="next CPU",
        rank=9,
    ),
    Action(
        name="cpus",
        title="List of CPUs",
        keys="c",
        shown="c",
        word="list",
        sentence="list of CPUs: what each is and is busy with; type to filter",
        rank=2,
    ),
    Action(
        name="overview",
        title="Overview of all CPUs",
        keys="o",
        shown="o",
        word="all",
        sentence="overview: all CPUs, one after another or all at once",
        rank=1,
    ),
    Action(
        name="pause",
        title="Pause, go on",
        keys="space",
        shown="space",
        word="pause",
        sentence="pause: keep what is shown while sampling goes on; again: go on",
        rank=1,
    ),
    Action(
        name="step(-1)",
        title="One window back",
        keys="comma",
        shown=",",
        word="",
        sentence="one window back",
        rank=9,
    ),
    Action(
        name="step(1)",
        title="One window on",
        keys="full_stop",
        shown=".",
        word="",
        sentence="one window on",
        rank=9,
    ),
    Action(
        name="oldest",
        title="Oldest window",
        keys="home",
        shown="Home",
        word="",
        sentence="oldest window that is kept",
        rank=9,
    ),
    Action(
        name="newest",
        title="Newest window",
        keys="end",
        shown="End",
        word="",
        sentence="newest window, on hold",
        rank=9,
    ),
    Action(
        name="worst",
        title="The worst interruption's window",
        keys="w",
        shown="w",
        word="worst",
        sentence="the worst interruption's window; again: the next worst",
        rank=3,
    ),
    Action(
        name="all_worst",
        title="The ten worst interruptions",
        keys="W",
        shown="W",
        word="",
        sentence="list of the ten worst interruptions",
        rank=9,
    ),
    Action(
        name="snapshot",
        title="Save a snapshot",
        keys="s",
        shown="s",
        word="save",
        sentence="snapshot: the window on show with each interruption, and a summary",
        rank=1,
    ),
    Action(
        name="pin",
        title="Pin for before and after",
        keys="p",
        shown="p",
        word="pin",
        sentence="pin this reading: figures then say what they were; again: unpin",
        rank=2,
    ),
    Action(
        name="record",
        title="Record, stop recording",
        keys="R",
        shown="R",
        word="rec",
        sentence="record all windows from now on into a file; again: end it",
        rank=4,
    ),
    Action(
        name="window(1)",
        title="Longer window",
        keys="plus,equals_sign",
        shown="+ =",
        word="",
        sentence="longer window",
        rank=9,
    ),
    Action(
        name="window(-1)",
        title="Shorter window",
        keys="minus,underscore",
        shown="- _",
        word="",
        sentence="shorter window",
        rank=9,
    ),
    Action(
        name="unit",
        title="Times or cycles",
        keys="u",
        shown="u",
        word="unit",
        sentence="lengths as times or as cycles of the counter",
        rank=3,
    ),
    Action(
        name="method",
        title="Method: gap or loop",
        keys="m",
        shown="m",
        word="method",
        sentence="method: gaps between reads, or the fixed loop of 2004",
        rank=4,
    ),
    Action(
        name="trace",
        title="Kernel trace on, off",
        keys="k",
        shown="k",
        word="trace",
        sentence="kernel trace on and off: names what interrupts, needs root",
        rank=4,
    ),
    Action(
        name="restart",
        title="Start again",
        keys="r",
        shown="r",
        word="restart",
        sentence="start again: forget worst and drift; the past stays, marked",
        rank=4,
    ),
    Action(
        name="warnings",
        title="Warnings and details",
        keys="exclamation_mark",
        shown="!",
        word="more",
        sentence="all warnings, all sources, and what the figures rest on",
        rank=2,
    ),
    Action(
        name="doctor",
        title="Doctor",
        keys="d",
        shown="d",
        word="doctor",
        sentence="what of this machine helps or hurts, and what to change",
        rank=3,
    ),
    THEME,
    REMEMBER_THEME,
    Action(
        name="help",
        title="Help",
        keys="question_mark,h,f1",
        shown="? h F1",
        word="help",
        sentence="keys, and what each figure means",
        rank=0,
    ),
    PALETTE,
    Action(
        name="quit",
        title="Quit",
        keys="q",
        shown="q",
        word="quit",
        sentence="quit (on other pages: back to this one)",
        rank=0,
    ),
)
