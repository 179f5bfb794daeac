#include "token_pass.hpp"

#include <algorithm>
#include <numeric>

#include "in_order.hpp"

namespace candide {
namespace {

AnyShardRows rows_for(const Coding& coding) {
    if (coding.vocabulary) return ShardRows<Vocabulary>(Vocabulary{});
    return ShardRows<BucketSet>(BucketSet(coding.bits));
}

void read_shard(Reader& reader, Texts texts, std::vector<AnyShardRows>& rows) {
    for (const Text& text : texts) {
        reader.open(text);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            std::visit(
                [&](auto& shard) {
                    reader.each_token(k, [&](const Byte* at, std::size_t n) { shard.add(at, n); });
                    shard.end_row();
                },
                rows[k]);
        }
    }
}

// The codes of a shard's tokens among those of all shards, which are numbered as the shards come; buckets are numbers
// already.
std::vector<Code> join(const AnyShardRows& rows, Vocabulary& all) {
    std::vector<Code> codes;
    if (const auto* hashed = std::get_if<ShardRows<BucketSet>>(&rows)) {
        for (std::size_t i = 0; i < hashed->local().size(); ++i) codes.push_back(hashed->local().bucket(i));
        return codes;
    }
    const Vocabulary& local = std::get<ShardRows<Vocabulary>>(rows).local();
    for (std::size_t i = 0; i < local.size(); ++i) codes.push_back(all.find_or_add(local.token(i)));
    return codes;
}

// From codes among the tokens of this pass to those of the vocabulary.
void settle(Pass& pass, Vocabulary&& all, bool grow) {
    if (!pass.coding.vocabulary) return;
    SharedVocabulary& vocabulary = *pass.coding.vocabulary;
    if (grow && vocabulary.size() == 0) {
        vocabulary = SharedVocabulary(std::move(all));
        return;
    }
    std::vector<Code> known;
    if (grow)
        std::tie(vocabulary, known) = vocabulary.with(all);
    else
        known = vocabulary.find_all(all);
    for (auto& codes : pass.codes)
        for (Code& code : codes) code = known[static_cast<std::size_t>(code)];
}

}  // namespace

Reader::Reader(const Looks& looks) : looks_(looks) {
    for (const Look& look : looks) {
        const auto found = std::find(normals_.begin(), normals_.end(), look.recipe.normal);
        normal_of_.push_back(static_cast<std::size_t>(found - normals_.begin()));
        if (found == normals_.end()) normals_.push_back(look.recipe.normal);
    }
    normal_texts_.resize(normals_.size());
}

void Reader::open(const Text& text) {
    bytes_ = utf8_of(text, scratch_);
    for (std::size_t i = 0; i < normals_.size(); ++i) normal_texts_[i].read(bytes_, normals_[i]);
}

std::vector<std::size_t> pass_bounds(Texts texts) { return shard_bounds(texts, std::size_t{1} << 21, 64); }

std::vector<Pass> pass_over(Texts texts, const std::vector<std::size_t>& bounds, const Looks& looks, bool grow,
                            int n_threads, const Finish& finish) {
    const std::size_t n_shards = bounds.size() - 1;
    std::vector<std::vector<AnyShardRows>> made(n_shards);
    std::vector<Vocabulary> all(looks.size());
    std::vector<Pass> passes(looks.size());
    for (std::size_t k = 0; k < looks.size(); ++k) passes[k].coding = looks[k].coding;
    parallel_in_order(
        n_shards, total_units(texts) * looks.size(), n_threads,
        [&](std::size_t s) {
            for (const Look& look : looks) made[s].push_back(rows_for(look.coding));
            Reader reader(looks);
            read_shard(reader, texts.subspan(bounds[s], bounds[s + 1] - bounds[s]), made[s]);
            for (std::size_t k = 0; k < looks.size(); ++k) finish({k, s, bounds[s]}, made[s][k]);
        },
        [&](std::size_t s) {
            for (std::size_t k = 0; k < looks.size(); ++k) {
                passes[k].codes.push_back(join(made[s][k], all[k]));
                passes[k].shards.push_back(std::move(made[s][k]));
            }
        });
    for (std::size_t k = 0; k < looks.size(); ++k) settle(passes[k], std::move(all[k]), grow);
    return passes;
}

}  // namespace candide
