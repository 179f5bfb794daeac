"""The Spark session of the tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from candide.sources.cluster_files import find_java


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A session on two cores, in which a task may fail three times."""
    find_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession

    # Workers do not know the folder of the tests.
    for name in ("mortal", "test_spark", "test_spark_ml"):
        if f"{__package__}.{name}" in sys.modules:
            cloudpickle.register_pickle_by_value(sys.modules[f"{__package__}.{name}"])
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "600m",
        "spark.default.parallelism": "1",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2,4]").appName("candide")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
