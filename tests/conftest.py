"""Settings of the property tests: the same examples in every run; HYPOTHESIS_PROFILE=explore tries new ones."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator

# Pictures are drawn, and nobody looks.
os.environ.setdefault("MPLBACKEND", "Agg")
# Read when scipy is first imported; without it scikit-learn skips its array API checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=40, suppress_health_check=_QUIET)
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=_QUIET)
settings.register_profile("sanitize", settings.get_profile("ci"), max_examples=10)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    """Figures stay open until they are closed, and matplotlib warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL that nobody else uses."""
    # Not in the folder of pytest, which others may not enter: the server runs as another user than root.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of where a machine without a session keeps files
            import pgserver

            server = pgserver.get_server(folder)
        yield server.get_uri()
        server.cleanup()
