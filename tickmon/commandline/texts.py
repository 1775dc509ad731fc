"""What several commands say in their help."""

from __future__ import annotations

BLIND = """\
what it cannot see:
  Only time taken away. Not the slower code afterwards (cold caches and TLB),
  and not exits from idle: the CPU is kept busy while it is measured. In a
  virtual machine the figures include the work of its host."""

CONSENT = """\
A measured CPU is spun on. A CPU that --cpu does not name is taken only when
it was seen to be idle; --cpu is consent."""

LIMITS = """\
limits:
  NAME OP VALUE, in quotes, since the shell takes > and < for itself; OP is
  one of > >= < <= == !=. What it says must not come true. NAME:
  max_ns, p999_ns, p99_ns, median_ns, tick.median_ns, tick.p99_ns, tick.max_ns
         a value takes ns (also without a unit), us, ms, s; ..._cycles, none
  overhead_share, tick.overhead_share
         from 0 to 1, or with %
  ticks_per_s, interruptions_per_s, interruptions, lost
  check  with == or !=: ok, missing, extra, stopped, unknown
  and every other number of a window in the JSON output, by its name there."""
