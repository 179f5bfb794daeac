"""Settings of the property tests: the same examples in every run; HYPOTHESIS_PROFILE=explore tries new ones."""

from __future__ import annotations

import os

# Read when scipy is first imported; without it scikit-learn skips its array API checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=40, suppress_health_check=_QUIET)
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=_QUIET)
settings.register_profile("sanitize", settings.get_profile("ci"), max_examples=10)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
