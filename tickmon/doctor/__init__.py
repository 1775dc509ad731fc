"""What of this machine helps or hurts a measurement, and what to change; read-only."""
