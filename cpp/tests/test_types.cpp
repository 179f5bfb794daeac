#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "helpers.hpp"
#include "levels.hpp"
#include "types.hpp"

using namespace candide;

namespace {

using Limits = std::numeric_limits<std::int64_t>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("numbers out of range become the nearest int64, and NaN becomes -1") {
    CHECK(to_int64(3.9) == 3);
    CHECK(to_int64(-3.9) == -3);
    CHECK(to_int64(kNaN) == -1);
    CHECK(to_int64(kInf) == Limits::max());
    CHECK(to_int64(-kInf) == Limits::min());
    CHECK(to_int64(9223372036854775808.0) == Limits::max());
    CHECK(to_int64(-9223372036854775808.0) == Limits::min());
    CHECK(to_int64(1e300) == Limits::max());
    CHECK(to_int64(1e30f) == Limits::max());
    CHECK(to_int64(std::numeric_limits<std::uint64_t>::max()) == Limits::max());
    CHECK(to_int64(std::uint64_t{5}) == 5);
    CHECK(to_int64(std::int8_t{-5}) == -5);
}

TEST_CASE("rows of codes are read from doubles of any size") {
    const std::vector<double> values{0.0, 2.0, kNaN, -kInf, 1e300, 7.0};
    std::vector<std::int64_t> scratch;
    const std::int64_t* codes = table_of(values, 3).code_rows(0, 2, scratch);
    CHECK(std::vector<std::int64_t>(codes, codes + 6) ==
          std::vector<std::int64_t>{0, 2, -1, Limits::min(), Limits::max(), 7});
}

TEST_CASE("whole numbers are recognized without overflow") {
    CHECK(is_whole(3.0));
    CHECK_FALSE(is_whole(3.5));
    CHECK_FALSE(is_whole(kNaN));
    CHECK_FALSE(is_whole(kInf));
    CHECK_FALSE(is_whole(1e300));
    CHECK_FALSE(is_whole(-1e300));
}
