"""From one CPU to windows: the sampler, and the thread that collects from it."""
