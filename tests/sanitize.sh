#!/usr/bin/env bash
# The C++ unit tests and the kernel tests with a core built with AddressSanitizer and UndefinedBehaviorSanitizer. Needs
# gcc, doctest (Debian: doctest-dev) and an environment with the tests' requirements (pip install -e '.[test]').
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(mktemp -d)
trap 'rm -rf "$target"' EXIT
CANDIDE_SANITIZE=ON CANDIDE_CPP_TESTS=ON python -m pip install --quiet --no-deps --target "$target" -C build-dir=build/sanitize .
build/sanitize/core_tests

# Without this, the finder of an editable install would find the other build first, in every process.
cat > "$target/sitecustomize.py" <<'PY'
import sys
sys.meta_path = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
PY

# The sanitizer's runtime must come first in a Python that was built without it; Python itself leaks by design.
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)"
export ASAN_OPTIONS=detect_leaks=0 PYTHONPATH="$target" TARGET="$target" HYPOTHESIS_PROFILE=sanitize
python - <<'PY'
import os
from candide.kernels import _core
assert _core.__file__.startswith(os.environ["TARGET"]), _core.__file__
PY
if [ $# -eq 0 ]; then
  set -- tests/kernels tests/properties/test_kernel*.py tests/properties/test_threads.py tests/files/test_hostile.py \
    tests/regressions/test_sparse_check.py tests/regressions/test_malformed_input.py
fi
python -m pytest -q -m "not slow" -p no:cacheprovider "$@"
