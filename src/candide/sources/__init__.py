"""Sources of rows: files, folders, mailboxes, databases, as Arrow, in constant memory."""

from ..data.column_selection import Roles
from .bad_rows import BadRow, BadRows
from .opening import read
from .source import Source

__all__ = ["BadRow", "BadRows", "Roles", "Source", "read"]
