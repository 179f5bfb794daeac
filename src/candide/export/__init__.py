"""Models that leave home: as estimators of scikit-learn, as graphs for onnxruntime."""
