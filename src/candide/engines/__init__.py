"""Where rows come from; every engine returns a State."""
