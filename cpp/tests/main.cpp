// Unit tests of the core, without Python. Built with -DCANDIDE_CPP_TESTS=ON; tests/sanitize.sh runs them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
