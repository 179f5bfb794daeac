#include <cstdlib>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "arrays.hpp"

namespace candide {

// Settings of the C library's allocator. They concern the whole process: the command line calls them, the library
// never.
void bind_memory(nb::module_& module) {
    // For processes that end without collecting garbage.
    module.def("set_leak_warnings", [](bool on) { nb::set_leak_warnings(on); }, nb::arg("on"));
    module.def("trim_heap", [] {
#if defined(__GLIBC__)
        unlocked([] { return malloc_trim(0); });
#endif
    });
    // Blocks of this size and more return to the system when they are freed. By default glibc raises that size up to
    // 32 MB, and keeps what lies between smaller blocks.
    module.def(
        "set_mmap_threshold",
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
