"""Models as graphs of ONNX."""

from .export import to_onnx

__all__ = ["to_onnx"]
