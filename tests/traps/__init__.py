"""One test or more for each of the traps into which other naive Bayes software falls, by their numbers."""
