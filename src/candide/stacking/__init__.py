"""Stacking of views: views, their weights fitted to leave-one-out scores, refinement and calibration."""
