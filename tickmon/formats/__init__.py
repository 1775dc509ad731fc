"""Readings as data for other programs: JSON Lines, CSV and the output of the 2004 program."""
