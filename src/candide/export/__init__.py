"""Export models as SQL queries, scikit-learn estimators and ONNX graphs."""
