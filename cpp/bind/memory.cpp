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
    // From now on, blocks of so many bytes and more go back to the system when they are freed. The C library would let
    // that size grow to 32 MB, and keep what lies between smaller ones.
    module.def(
        "return_blocks_from",
        [](int bytes) {
#if defined(__GLIBC__)
            mallopt(M_MMAP_THRESHOLD, bytes);
#else
            static_cast<void>(bytes);
#endif
        },
        nb::arg("bytes"));
}

}  // namespace candide
