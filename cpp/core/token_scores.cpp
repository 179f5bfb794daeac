#include "token_scores.hpp"

#include <algorithm>
#include <shared_mutex>

#include "buckets.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace candide {
namespace {

// The codes of one text, each once. A new text begins by counting on, not by clearing.
class Seen {
  public:
    void begin_text() {
        ++text_;
        size_ = 0;
    }

    bool add(Code code) {
        if (2 * size_ >= slots_.size()) grow();
        Slot& slot = slots_[place_of(code)];
        if (slot.text == text_) return false;
        slot = {text_, code};
        ++size_;
        return true;
    }

    std::size_t size() const { return size_; }

  private:
    struct Slot {
        std::uint64_t text = 0;
        Code code = 0;
    };

    std::vector<Slot> slots_ = std::vector<Slot>(256);
    std::uint64_t text_ = 1;
    std::size_t size_ = 0;

    std::size_t place_of(Code code) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = static_cast<std::uint64_t>(code) * kHash0 >> 32 & mask;
        while (slots_[at].text == text_ && slots_[at].code != code) at = (at + 1) & mask;
        return at;
    }

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.text == text_) slots_[place_of(slot.code)] = slot;
    }
};

// The sums of one text by one table.
class Sums {
  public:
    explicit Sums(const TokenTable& table) : table_(table), sums_(table.width) {}

    void ask_for(Code code) const {
        if (table_.cells) prefetch(static_cast<const char*>(table_.cells) + offset(code) * (table_.wide ? 8 : 4));
    }
    void add(Code code, std::uint32_t times) {
        if (!table_.cells) return;
        if (table_.wide)
            add_row(static_cast<const double*>(table_.cells) + offset(code), times);
        else
            add_row(static_cast<const float*>(table_.cells) + offset(code), times);
    }
    void move_to(double* out) {
        std::copy(sums_.begin(), sums_.end(), out);
        std::fill(sums_.begin(), sums_.end(), 0.0);
    }

  private:
    TokenTable table_;
    std::vector<double> sums_;

    std::size_t offset(Code code) const { return static_cast<std::size_t>(code) * table_.width; }

    template <class Cell>
    void add_row(const Cell* row, double times) {
        double* sums = sums_.data();
        for (std::size_t i = 0; i < table_.width; ++i) sums[i] += times * static_cast<double>(row[i]);
    }
};

// Scores by one tokenizer of the texts that one thread reads. Tokens wait until prefetched memory has arrived.
class Scorer {
  public:
    Scorer(const Coding& coding, const TokenScores& scores)
        : coding_(coding),
          scores_(scores),
          each_(scores.each),
          once_(scores.once),
          distinguish_(scores.once.cells || scores.distinct) {}

    void read(Reader& reader, std::size_t feature) {
        if (reader.is_within_words(feature)) {
            const auto ask = [&](const Token& token) { ask_for(token); };
            const auto code = [&](const Token& token) { return code_of(token); };
            const auto expect = [&](std::span<const Code> codes) { ask_for(codes); };
            reader.each_word(feature, ask, code, expect, [&](std::span<const Code> codes, std::uint32_t times) {
                for (const Code one : codes) score(one, times);
            });
        } else {
            reader.each_token(feature, [&](const Byte* at, std::size_t n) CANDIDE_INLINE_LAMBDA { add(at, n); });
            score_waiting();
        }
    }

    void end_text(std::size_t row) {
        if (scores_.scores) each_.move_to(scores_.scores + row * scores_.each.width);
        if (scores_.once_scores) once_.move_to(scores_.once_scores + row * scores_.once.width);
        scores_.known[row] = known_;
        scores_.unknown[row] = unknown_;
        if (scores_.distinct) scores_.distinct[row] = static_cast<std::int64_t>(seen_.size());
        known_ = unknown_ = 0;
        seen_.begin_text();
    }

  private:
    static constexpr std::size_t kWaiting = 16;
    // What it takes about to score one.
    static constexpr std::size_t kSteps = 64;

    const Coding& coding_;
    TokenScores scores_;
    Sums each_, once_;
    bool distinguish_;
    Seen seen_;
    std::int64_t known_ = 0, unknown_ = 0;
    Token waiting_[kWaiting];
    Code codes_[kWaiting];
    std::size_t n_waiting_ = 0;
    Steps steps_;

    CANDIDE_INLINE void add(const Byte* at, std::size_t n) {
        waiting_[n_waiting_] = Token(at, n);
        ask_for(waiting_[n_waiting_]);
        if (++n_waiting_ < kWaiting) return;
        score_waiting();
        steps_.add(kWaiting * kSteps);
    }

    void score_waiting() {
        for (std::size_t i = 0; i < n_waiting_; ++i) codes_[i] = code_of(waiting_[i]);
        ask_for({codes_, n_waiting_});
        for (std::size_t i = 0; i < n_waiting_; ++i) score(codes_[i], 1);
        n_waiting_ = 0;
    }

    void ask_for(const Token& token) const {
        if (coding_.vocabulary) coding_.vocabulary->tokens().prefetch(token);
    }

    Code code_of(const Token& token) const {
        return coding_.vocabulary ? coding_.vocabulary->find(token) : coding_.code_of(bucket_of(token, coding_.bits));
    }

    void ask_for(std::span<const Code> codes) const {
        for (const Code code : codes)
            if (code != kUnknown) each_.ask_for(code);
    }

    void score(Code code, std::uint32_t times) {
        if (code == kUnknown) {
            unknown_ += times;
            return;
        }
        known_ += times;
        each_.add(code, times);
        if (distinguish_ && seen_.add(code)) once_.add(code, 1);
    }
};

// The locks of the stores of the features.
std::vector<std::shared_mutex*> stores_of(const FeatureList& features) {
    std::vector<std::shared_mutex*> stores;
    for (const TokenFeatures& feature : features)
        if (feature.coding.vocabulary) stores.push_back(&feature.coding.vocabulary->lock());
    return stores;
}

}  // namespace

void score_tokens(Texts texts, const FeatureList& features, const std::vector<TokenScores>& scores, int n_threads) {
    const auto bounds = shard_bounds(texts, std::size_t{1} << 17, 1024);
    parallel_for(bounds.size() - 1, total_units(texts) * features.size(), n_threads, [&](std::size_t s) {
        const ReadLocks locks(stores_of(features));
        Reader reader(features);
        std::vector<Scorer> scorers;
        for (std::size_t k = 0; k < features.size(); ++k) scorers.emplace_back(features[k].coding, scores[k]);
        for (std::size_t row = bounds[s]; row < bounds[s + 1]; ++row) {
            reader.open(texts[row]);
            for (std::size_t k = 0; k < features.size(); ++k) {
                scorers[k].read(reader, k);
                scorers[k].end_text(row);
            }
        }
    });
}

}  // namespace candide
