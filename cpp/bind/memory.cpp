#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "arrays.hpp"

namespace candide {

void bind_memory(nb::module_& module) {
    module.def("release_memory", [] {
#if defined(__GLIBC__)
        unlocked([] { return malloc_trim(0); });
#endif
    });
}

}  // namespace candide
