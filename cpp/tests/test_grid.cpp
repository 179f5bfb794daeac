#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "grid.hpp"
#include "helpers.hpp"
#include "keys.hpp"

using namespace candide;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

TEST_CASE("keys are in the order of numbers, and -0.0 is 0.0") {
    const std::vector<double> ordered{-1e300, -2.0, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.5, 2.0, 1e300};
    for (std::size_t i = 1; i < ordered.size(); ++i) CHECK(key_of(ordered[i - 1]) < key_of(ordered[i]));
    CHECK(key_of(-0.0) == key_of(0.0));
}

TEST_CASE("equal numbers share a cell, and weights are summed by class") {
    const std::vector<double> values{1.0, 2.0, 1.0, 3.0, 1.0};
    const std::vector<std::int32_t> classes{0, 0, 1, 1, 0};
    const std::vector<double> weight{1.0, 2.0, 3.0, 4.0, 0.5};
    const Grid cells = grid(table_of(values, 1), classes.data(), weight.data(), 2, 16, 1);
    CHECK(cells.key == std::vector<std::uint64_t>{key_of(1.0), key_of(2.0), key_of(3.0)});
    CHECK(cells.indptr == std::vector<std::int64_t>{0, 2, 3, 4});
    CHECK(cells.classes == std::vector<std::int32_t>{0, 1, 0, 1});
    CHECK(cells.weight == std::vector<double>{1.5, 3.0, 2.0, 4.0});
    CHECK(cells.offsets == std::vector<std::int64_t>{0, 3});
    CHECK_FALSE(cells.infinite);
}

TEST_CASE("missing numbers and rows of weight 0 occupy nothing") {
    const std::vector<double> values{kNaN, 2.0, 7.0};
    const std::vector<std::int32_t> classes{0, 0, 0};
    const std::vector<double> weight{1.0, 1.0, 0.0};
    const Grid cells = grid(table_of(values, 1), classes.data(), weight.data(), 1, 16, 1);
    CHECK(cells.key == std::vector<std::uint64_t>{key_of(2.0)});
}

TEST_CASE("infinite numbers are reported") {
    const std::vector<double> values{1.0, -kInf};
    const std::vector<std::int32_t> classes{0, 0};
    CHECK(grid(table_of(values, 1), classes.data(), nullptr, 1, 16, 1).infinite);
}

TEST_CASE("no binade has more cells than the limit, and no weight is lost") {
    std::vector<double> values;
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 20000; ++i) {
        values.push_back(1.0 + std::fmod(i * 0.6180339887498949, 1.0));
        classes.push_back(i % 3);
    }
    for (const std::size_t limit : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
        const Grid cells = grid(table_of(values, 1), classes.data(), nullptr, 3, limit, 1);
        CHECK(cells.key.size() <= limit);
        CHECK(sum(cells.weight) == 20000.0);
        for (std::size_t k = 0; k < cells.key.size(); ++k)
            CHECK((cells.key[k] & ((std::uint64_t{1} << cells.shift[k]) - 1)) == 0);
    }
}

TEST_CASE("many classes give the same cells as few, and threads the same as one") {
    std::vector<double> values;
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 6000; ++i) {
        values.push_back(std::sin(i) * 100.0);
        values.push_back(static_cast<double>(i % 11));
        classes.push_back(i % 2);
    }
    const Table table = table_of(values, 2);
    const Grid few = grid(table, classes.data(), nullptr, 2, 32, 1),
               many = grid(table, classes.data(), nullptr, 40, 32, 1);
    const Grid threads = grid(table, classes.data(), nullptr, 2, 32, 4);
    CHECK(few.key == many.key);
    CHECK(few.weight == many.weight);
    CHECK(few.classes == many.classes);
    CHECK(few.key == threads.key);
    CHECK(few.weight == threads.weight);
    CHECK(few.offsets == threads.offsets);
}
