"""What the screen says in words: lengths in the chosen unit, the tick check, the time of day."""

from __future__ import annotations

import math
from datetime import datetime

from tickmon.analysis.change import Change
from tickmon.analysis.readings import Check
from tickmon.tui.rows import Ink
from tickmon.units import MANY_PERCENT, count_text, cycles_to_ns, duration_text, significant, times_text


def length_text(cycles: float | None, tsc_hz: float, *, in_cycles: bool) -> str:
    """A length in the unit that the user chose: ``12.1 µs`` or ``25.4 kcy``; ``–`` for None."""
    if cycles is None:
        return "–"
    return cycles_text(cycles) if in_cycles else duration_text(cycles_to_ns(cycles, tsc_hz))


def cycles_text(cycles: float) -> str:
    """Cycles, exact up to four digits: ``34 cy``, ``1,210 cy``, ``25.4 kcy``, ``4.21 Mcy``."""
    return f"{short_count(cycles)} cy" if cycles < 10_000 else f"{short_count(cycles)}cy"


def short_count(count: float) -> str:
    """A count exact up to four digits, in at most six characters: ``1,558``, ``12.3 k``, ``4.56 M``."""
    if count < 9_999.5:
        return count_text(count)
    letter, size = next(
        (letter, size) for letter, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)) if count >= size * 0.9995
    )
    return f"{significant(count / size, 3)} {letter}"


def range_text(low: str, high: str) -> str:
    """Two lengths as a range, the unit once where it is the same: ``16.2–17.1 ns``."""
    if low == high:
        return low
    if low.rpartition(" ")[2] == high.rpartition(" ")[2]:
        low = low.rpartition(" ")[0]
    return f"{low}–{high}"


def why_ended(message: str) -> str:
    """Why a sampler ended, without the advice at the end: that is said with the key that does it."""
    return message.removesuffix("; start it again")


def ended_words(message: str) -> str:
    """Why a sampler ended, and how another is started from a page on top of the main screen."""
    return f"{why_ended(message)}\nEsc, then r starts it again"


def clock_text(at: datetime) -> str:
    """The local time of day: ``15:16:18``."""
    return f"{at.astimezone():%H:%M:%S}"


def window_text(window_s: float) -> str:
    """The length of a window: ``0.2 s``, ``60 s``."""
    return f"{window_s:g} s"


def rate_text(count: float, seconds: float) -> str:
    """``count`` per second: ``250``, ``0.5``, ``14,500``."""
    rate = count / seconds
    return count_text(rate) if rate >= 1000 else significant(rate, 3)


def change_text(change: Change) -> str:
    """By how much: ``−22 % ± 2 %``, ``26 ± 13 times`` as much, ``new``, ``gone``; empty when not known."""
    if change.before is None or change.after is None or change.uncertain_share is None:
        return ""
    if change.change_share is None:
        return "new" if change.after else ""
    if not change.after:
        return "gone"
    percent, uncertain = change.change_share * 100, change.uncertain_share * 100
    if percent >= MANY_PERCENT:
        return times_text(change.change_share, change.uncertain_share)
    decimals = 1 if abs(percent) < 9.95 and uncertain <= 0.95 else 0
    # Rounded up: never more certain than it is.
    uncertain = math.ceil(round(uncertain * 10**decimals, 6)) / 10**decimals
    return f"{percent:+.{decimals}f} % ± {uncertain:.{decimals}f} %".replace("-", "−")


def change_ink(change: Change | None) -> Ink:
    """Better, worse, or no more than chance."""
    return _CHANGE_INKS.get(change.verdict if change is not None else "", "label")


_CHANGE_INKS: dict[str, Ink] = {"better": "good", "worse": "bad"}


def check_words(check: Check) -> tuple[str, str, Ink]:
    """The elapsed-tick check as a sentence: what was counted, what that means, and how good that is."""
    expected, seen = check.expected, check.seen
    if expected is None:
        return "how many were due is not known", "cannot be checked", "label"
    if seen is None:
        return f"{count_text(expected)} due", "when exactly is not known", "label"
    counted = f"{count_text(expected)} due, {count_text(seen)} seen"
    if check.verdict == "ok":
        basis = {"option": "ok, by your --hz", "measured": "regular, HZ unknown"}.get(check.basis, "ok")
        return counted, basis, "good"
    if check.verdict == "missing":
        return counted, f"{count_text(max(expected - seen, 0))} MISSING", "bad"
    if check.verdict == "extra":
        return counted, "EXTRA: it ticks faster than HZ", "bad"
    if check.verdict == "stopped":
        return counted, "tick stopped, as nohz_full may", "good"
    return counted, "cannot be judged", "label"


def kernel_row_words(check: Check) -> tuple[str, ...]:
    """The kernel's own count of all timer interrupts of that CPU, longest wording first; may be empty."""
    if check.kernel is None:
        return ()
    row = f"{check.kernel_row or 'timer'} row +{count_text(check.kernel)}"
    return f"kernel's {row}", row
