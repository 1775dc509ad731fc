"""``tickmon compare``: two recordings or snapshots side by side."""
