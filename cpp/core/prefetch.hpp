// Prefetches memory that will be needed soon.
#pragma once

#if defined(__GNUC__)
#define CANDIDE_INLINE inline __attribute__((always_inline))
#else
#define CANDIDE_INLINE inline
#endif

namespace candide {

CANDIDE_INLINE void prefetch(const void* at) {
#if defined(__GNUC__)
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

}  // namespace candide
