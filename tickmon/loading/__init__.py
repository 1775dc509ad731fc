"""Recordings back from files: whatever a file holds, values or one clear line come out."""
