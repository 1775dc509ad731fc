"""What the timer tick and every other interruption take from a program pinned to a CPU, live."""

__version__ = "0.1.0"
