"""Whether the parts of a model go together: whatever could make a kernel read foreign memory, or a score no number.

Types were seen to when the parts were made. Here are shapes, ranges and what one part says of another.
"""

from .model import KINDS, check_content, check_stored_rows

__all__ = ["KINDS", "check_content", "check_stored_rows"]
