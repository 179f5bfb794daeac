"""Whether the parts of a model go together: whatever could make a kernel read foreign memory, or a score no number.

Types were seen to when the parts were made. Here are shapes, ranges and what one part says of another.
"""

from .model import check_content

__all__ = ["check_content"]
