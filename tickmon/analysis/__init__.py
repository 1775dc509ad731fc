"""Numbers from windows, pure numpy: ``analyse(window, clocks)`` and what goes on from there."""
