"""The trained model: state, estimates, scores, evaluation and decisions."""
