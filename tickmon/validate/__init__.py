"""How far the reading can be trusted: judgements on data (pure functions), and the run that gathers it."""
