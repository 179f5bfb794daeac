"""From a plan and rows to a state, from a state to a scorer, from a scorer to answers."""
