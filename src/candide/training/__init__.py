"""Training and predicting on anything: rows in memory, chunks, sources, Dask, Spark and databases."""

from .distributed import PartitionCounter
from .everywhere import evaluate, forget, labeled_batches, learn, predict, score, train
from .stream import StreamTrainer

__all__ = [
    "PartitionCounter",
    "StreamTrainer",
    "evaluate",
    "forget",
    "labeled_batches",
    "learn",
    "predict",
    "score",
    "train",
]
