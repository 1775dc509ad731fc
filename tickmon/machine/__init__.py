"""Facts about this machine, read-only, from a root folder that tests can swap."""
