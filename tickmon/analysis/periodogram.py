"""At which frequencies what starts in a view repeats: a whitened periodogram and its strongest comb."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.timetable import View
from tickmon.analysis.trainfit import ENOUGH_SLOTS, FASTEST_HZ, SLOWEST_HZ

_BIN_NS = 1e9 / (2 * FASTEST_HZ)
_OVERSAMPLING = 2
_WHITENING_POINTS = 64
_OCTAVES = 7

_ENOUGH_POWER = 20.0
"""A few towering lines must not speak for all the others of a comb: more than this counts as this."""

_FALSE_ALARMS = 1e-6
"""So often chance may propose something in a periodogram."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Periodogram:
    """How strongly moments repeat at each frequency ``i * step_hz``."""

    power: NDArray[np.float64]
    """Shape ``(m,)``; exponentially distributed with mean 1 where nothing repeats."""
    step_hz: float
    slowest_hz: float
    """What is slower cannot be proven in so short a time."""

    def without(self, hz: float) -> Periodogram:
        """The same without the lines of ``hz``."""
        power = self.power.copy()
        lines = np.arange(1, int(len(power) * self.step_hz / hz) + 1) * (hz / self.step_hz)
        for beside in range(-3, 4):
            power[np.minimum(np.rint(lines).astype(np.int64) + beside, len(power) - 1)] = 0
        return Periodogram(power=power, step_hz=self.step_hz, slowest_hz=self.slowest_hz)


def periodogram(view: View) -> Periodogram:
    """The periodogram of what starts in ``view``, up to 5 kHz.

    Each start becomes an angle on a clock that turns ``hz`` times a second; the power is the squared length
    of the sum of these unit vectors (Rayleigh: Mardia & Jupp, Directional Statistics, ch. 6), for all
    frequencies at once by a Fourier transform of counts. Nothing can start while something else runs, and
    ticks leave holes that keep their time: what is transformed is the surplus over an even rate in the
    time that was left. Bursts and loops that nearly keep time raise whole regions, so the power is
    given in units of what is usual near by (the median of 64 frequencies; the median of an exponential
    distribution is ln 2 times its mean).
    """
    bins = max(1, math.ceil(view.length_ns / _BIN_NS))
    size = _OVERSAMPLING * 2 ** math.ceil(math.log2(max(bins, _WHITENING_POINTS)))
    bin_of = ((view.starts_ns - view.start_ns) / _BIN_NS).astype(np.int64)
    counts = np.bincount(np.minimum(bin_of, bins - 1), minlength=bins)
    open_ns = _BIN_NS - np.diff(view.busy_ns(view.start_ns + np.arange(bins + 1.0) * _BIN_NS))
    even = open_ns * (len(view.starts_ns) / max(float(open_ns.sum()), 1.0))
    turned = np.fft.rfft(counts - even, size)
    raw = (turned.real**2 + turned.imag**2)[: size // 2].reshape(-1, _WHITENING_POINTS)
    middle = _WHITENING_POINTS // 2
    usual = np.partition(raw, middle, axis=1)[:, middle : middle + 1] / math.log(2)
    power = (raw / np.maximum(usual, 1e-9)).ravel()
    step_hz = 1e9 / (_BIN_NS * size)
    power[: math.ceil(SLOWEST_HZ / step_hz)] = 0
    return Periodogram(
        power=power, step_hz=step_hz, slowest_hz=max(SLOWEST_HZ, ENOUGH_SLOTS * 1e9 / view.length_ns)
    )


def strongest_comb_hz(found: Periodogram) -> float | None:
    """The distance between the lines of the comb that chance explains least; None when it may explain it.

    A fast train has few lines below 5 kHz, and strong ones. A slow one has many, each of which may be lost
    in the noise, but not their sum: so combs of 1, 2, 4, … 64 lines are tried everywhere. The sum of n
    powers of noise exceeds s with a probability below exp(-e), e = s - n - n ln(s / n): Chernoff's bound on
    the gamma distribution. With m combs, exp(-e) * m of the best bounds the false alarms (for single
    lines: Scargle 1982, Astrophysical Journal 263, 835).

    A train has lines of like height at *all* multiples of its frequency, and noise lifts any of them to the
    top, so the distance may be a multiple of its frequency, or a part of it.
    """
    half = len(found.power) // 2
    best, comb = math.log(2 * len(found.power) / _FALSE_ALARMS), None
    capped = np.minimum(found.power, _ENOUGH_POWER)
    total, first = found.power, 0
    for octave in range(_OCTAVES):
        lines = 2**octave
        slowest = math.ceil(found.slowest_hz * lines / found.step_hz)
        if slowest >= half:
            break
        total, first = total[slowest - first :], slowest
        if octave:
            # The lines with even numbers are those of the comb before.
            total = np.minimum(total[: half - slowest], lines // 2 * _ENOUGH_POWER)
            tops = np.arange(slowest, half)
            place, power = tops + lines // 2, np.empty_like(total)
            for _ in range(lines // 2):
                # All lie within; but to raise an error numpy would go through a buffer of its own.
                capped.take(place >> octave, out=power, mode="clip")
                total += power
                place += 2 * tops
        top = slowest + int(np.argmax(total))
        evidence = _evidence(float(total[top - slowest]), lines)
        if evidence > best:
            best, comb = evidence, (top, lines)
    return None if comb is None else _sharpened_hz(found, *comb)


def _evidence(sum_: float, lines: int) -> float:
    """The logarithm of how many tries noise needs for such a sum over so many lines, at least."""
    return sum_ - lines - lines * math.log(sum_ / lines) if sum_ > lines else 0.0


def _sharpened_hz(found: Periodogram, top: int, lines: int) -> float:
    """The comb's distance, from ever higher lines: an error at the n-th is n times smaller at the first."""
    power = found.power
    distance = _top_between(power, top) / lines
    present = max(4.0, float(power[top]) / 10)
    while (lines := math.ceil(lines * 1.5)) * distance < len(power) - 3:
        middle = round(lines * distance)
        highest = middle - 1 + int(np.argmax(power[middle - 1 : middle + 2]))
        if power[highest] > present:
            distance = _top_between(power, highest) / lines
    return distance * found.step_hz


def _top_between(power: NDArray[np.float64], peak: int) -> float:
    """Between which points the peak really is: the top of the parabola through three amplitudes."""
    if not 0 < peak < len(power) - 1:
        return float(peak)
    left, top, right = np.sqrt(power[peak - 1 : peak + 2])
    bend = left - 2 * top + right
    return peak if bend >= 0 else peak + float(np.clip(0.5 * (left - right) / bend, -0.5, 0.5))
