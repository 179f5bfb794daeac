// Unusual values that a kernel found. It raises no errors: Python turns findings into errors with row and column.
#pragma once

#include <vector>

namespace candide {

struct Findings {
    bool negative = false, infinite = false, missing = false;

    bool finite() const { return !infinite && !missing; }

    void add(const Findings& other) {
        negative |= other.negative;
        infinite |= other.infinite;
        missing |= other.missing;
    }
};

// Those of all tasks.
inline Findings join(const std::vector<Findings>& parts) {
    Findings all;
    for (const Findings& part : parts) all.add(part);
    return all;
}

}  // namespace candide
