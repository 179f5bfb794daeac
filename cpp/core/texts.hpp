// Texts as they lie in memory: UTF-8, or the one, two or four bytes a character of a Python string. Nothing is owned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "utf8.hpp"

namespace candide {

enum class Storage : std::uint8_t { utf8, one, two, four, missing };

struct Text {
    const void* data = nullptr;
    std::size_t units = 0;
    Storage storage = Storage::missing;

    bool missing() const { return storage == Storage::missing; }
};

using Texts = std::span<const Text>;
using Bytes = std::span<const Byte>;

// A text as UTF-8, by way of `scratch` where it is something else. Half surrogate pairs are replaced by U+FFFD.
Bytes utf8_of(const Text& text, std::vector<Byte>& scratch);

// Texts cut into at most `most` shards of about equal size, which is `least` characters or more. Where they begin
// depends on the texts alone, so results do not depend on the number of threads.
std::vector<std::size_t> shard_bounds(Texts texts, std::size_t least, std::size_t most);

// Characters in all; a measure of the work.
std::size_t total_units(Texts texts);

// The bytes that each text has as valid UTF-8, and a hash of 63 bits of them, which is fixed for all time: what a
// sample keeps depends on it. A missing text has the hash of an empty one with all bits turned.
void text_sizes(Texts texts, int n_threads, std::int64_t* sizes);
void text_hashes(Texts texts, int n_threads, std::uint64_t* hashes);

// All texts as valid UTF-8, one after the other; `ends[i]` is where text i ends.
void pack_texts(Texts texts, std::vector<Byte>& bytes, std::int64_t* ends);

}  // namespace candide
