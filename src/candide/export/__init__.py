"""Models that leave home: as queries, as estimators of scikit-learn, as graphs for onnxruntime."""
