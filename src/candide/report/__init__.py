"""The HTML report on a model: description, estimated quality, features, warnings and examples of rows."""
