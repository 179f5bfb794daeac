"""Views of the rows, their weights from leave-one-out scores, refinement and calibration."""
