"""Where rows come from: files, folders, mailboxes, databases, as Arrow, in constant memory."""

from .bad_rows import BadRow, BadRows
from .opening import read
from .roles import Roles
from .source import Source

__all__ = ["BadRow", "BadRows", "Roles", "Source", "read"]
