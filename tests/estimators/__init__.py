"""The six classifiers as their users see them."""
