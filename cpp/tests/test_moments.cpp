#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "helpers.hpp"
#include "moments.hpp"

using namespace candide;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Moments {
    std::vector<double> weight, mean, scatter;
};

Moments moments_of(const Table& table, const std::vector<std::int32_t>& classes, std::size_t n_classes,
                   const double* row_weight = nullptr, int n_threads = 1) {
    const std::vector<double> zeros(n_classes * table.n_columns, 0.0);
    Moments out{zeros, zeros, zeros};
    moments(table, classes.data(), row_weight, n_classes, n_threads, out.weight.data(), out.mean.data(),
            out.scatter.data());
    return out;
}

}  // namespace

TEST_CASE("weight, mean and scatter by class and column") {
    const std::vector<double> values{1.0, 10.0, 3.0, 10.0, 5.0, 2.0};
    const Moments found = moments_of(table_of(values, 2), {0, 0, 1}, 2);
    CHECK(found.weight == std::vector<double>{2.0, 2.0, 1.0, 1.0});
    CHECK(found.mean == std::vector<double>{2.0, 10.0, 5.0, 2.0});
    CHECK(found.scatter == std::vector<double>{2.0, 0.0, 0.0, 0.0});
}

TEST_CASE("missing cells are left out, cell by cell") {
    const std::vector<double> values{1.0, kNaN, 3.0, 4.0};
    const Moments found = moments_of(table_of(values, 2), {0, 0}, 1);
    CHECK(found.weight == std::vector<double>{2.0, 1.0});
    CHECK(found.mean == std::vector<double>{2.0, 4.0});
    CHECK(found.scatter == std::vector<double>{2.0, 0.0});
}

TEST_CASE("a class without rows has moments of 0") {
    const Moments found = moments_of(table_of({7.0}, 1), {2}, 3);
    CHECK(found.weight == std::vector<double>{0.0, 0.0, 1.0});
    CHECK(found.mean == std::vector<double>{0.0, 0.0, 7.0});
}

TEST_CASE("rows of weight 0 change nothing") {
    const std::vector<double> weight{0.0, 1.0, 3.0, 0.0};
    for (const double far : {1e100, 1e200, 1.7e308, kNaN}) {
        const Moments found = moments_of(table_of({far, 1.0, 2.0, -far}, 1), {0, 0, 0, 0}, 1, weight.data());
        CHECK(found.weight[0] == 4.0);
        CHECK(found.mean[0] == doctest::Approx(1.75));
        CHECK(found.scatter[0] == doctest::Approx(0.75));
    }
}

TEST_CASE("a large offset costs no digits, and a constant column has no scatter") {
    std::vector<double> values;
    for (int i = 0; i < 30000; ++i) {
        values.push_back(1e9 + i % 2);
        values.push_back(0.1);
    }
    const Moments found = moments_of(table_of(values, 2), std::vector<std::int32_t>(30000, 0), 1);
    CHECK(found.mean[0] == doctest::Approx(1e9 + 0.5));
    CHECK(found.scatter[0] == doctest::Approx(7500.0));
    CHECK(found.mean[1] == 0.1);
    CHECK(found.scatter[1] == 0.0);
}

TEST_CASE("results do not depend on the number of threads or on the type of the cells") {
    std::vector<double> values;
    std::vector<float> narrow;
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 50000; ++i) {
        narrow.push_back(static_cast<float>(std::sin(i)));
        values.push_back(static_cast<double>(narrow.back()));
        if (i % 5 == 0) classes.push_back(i % 3);
    }
    const Moments one = moments_of(table_of(values, 5), classes, 3);
    const Moments four = moments_of(table_of(values, 5), classes, 3, nullptr, 4);
    const Moments floats = moments_of(table_of(narrow, 5, Type::f32), classes, 3);
    CHECK(one.mean == four.mean);
    CHECK(one.scatter == four.scatter);
    CHECK(one.mean == floats.mean);
    CHECK(one.scatter == floats.scatter);
}
