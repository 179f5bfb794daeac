"""Why a model answers what it answers."""
