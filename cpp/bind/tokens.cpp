#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "../core/token_rows.hpp"
#include "../core/token_scores.hpp"
#include "../core/token_tally.hpp"
#include "fields.hpp"
#include "shapes.hpp"
#include "texts.hpp"

namespace candide {
namespace {

// From candide.kernels.tokenizer.TokenizerConfig; analyzer and accents are numbers of the core's enumerations.
TokenizerConfig config_of(nb::handle source, int analyzer, int accents, const SharedVocabulary* stop_words) {
    require(analyzer >= 0 && analyzer <= 4 && accents >= 0 && accents <= 2, "no such analyzer or treatment of accents");
    const auto [low, high] = scalar<std::pair<std::size_t, std::size_t>, "ngrams">(source);
    require(1 <= low && low <= high, "low must be 1 or more, and high at least as much");
    const Normal normal{scalar<bool, "lowercase">(source), static_cast<Accents>(accents),
                        scalar<bool, "fold_numbers">(source)};
    // Never wait for a lock of the core while holding the GIL: the thread that holds that lock may wait for the GIL.
    const auto copied = [&] { return std::make_shared<Vocabulary>(stop_words->copy()); };
    const WordRule words{scalar<std::size_t, "min_length">(source), scalar<bool, "marks">(source),
                         stop_words ? unlocked(copied) : nullptr};
    return {static_cast<Analyzer>(analyzer), low, high, normal, words, scalar<bool, "ends">(source)};
}

Coding coding_of(nb::handle source) {
    if (nb::isinstance<SharedVocabulary>(source)) return {nb::cast<SharedVocabulary>(source), 0};
    if (nb::isinstance<BucketList>(source)) {
        const auto some = nb::cast<std::shared_ptr<BucketList>>(source);
        return {std::nullopt, some->bits(), some};
    }
    const auto bits = nb::cast<unsigned>(source);
    require(bits >= 1 && bits <= 30, "bits must lie in 1 ... 30");
    return {std::nullopt, bits};
}

FeatureList features_of(const std::vector<TokenizerConfig>& configs, const nb::list& codings) {
    require(configs.size() == codings.size(), "there must be a coding for each tokenizer");
    FeatureList features;
    for (std::size_t k = 0; k < configs.size(); ++k) features.push_back({configs[k], coding_of(codings[k])});
    return features;
}

nb::object native_of(const Coding& coding) {
    if (coding.some) return nb::cast(coding.some);
    return coding.vocabulary ? nb::cast(*coding.vocabulary) : nb::none();
}

nb::tuple as_tuple(TokenRows&& rows) {
    return nb::make_tuple(native_of(rows.coding), to_array(std::move(rows.indptr)), to_array(std::move(rows.codes)),
                          to_array(std::move(rows.counts)), to_array(std::move(rows.unknown)));
}

nb::tuple as_tuple(TokenTally&& tally) {
    ClassSums& sums = tally.sums;
    return nb::make_tuple(native_of(tally.coding), to_array(std::move(sums.indptr)), to_array(std::move(sums.codes)),
                          to_array(std::move(sums.occurrences)), to_array(std::move(sums.texts)));
}

template <class Result>
nb::list as_list(std::vector<Result>&& results) {
    nb::list out;
    for (Result& result : results) out.append(as_tuple(std::move(result)));
    return out;
}

TokenTable table_from(nb::handle source, std::size_t n_codes) {
    if (source.is_none()) return {};
    const auto array = array_of<nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>>(source);
    const auto type = type_of(array_of<AnyArray>(source));
    require(type == Type::f64 || type == Type::f32, "a table must hold floating-point numbers");
    const Shape shape = shape_of(array, "table");
    require(shape.n_rows >= n_codes, "a table must have a row for each token");
    return {array.data(), shape.n_columns, type == Type::f64};
}

// The arrays of one config's answer, and where the core writes them.
struct Answer {
    nb::object scores = nb::none(), once = nb::none(), known, unknown, distinct = nb::none();
    TokenScores out;

    Answer(nb::handle each_table, nb::handle once_table, bool count_distinct, std::size_t n_texts,
           std::size_t n_codes) {
        out.each = table_from(each_table, n_codes);
        out.once = table_from(once_table, n_codes);
        if (out.each.cells) std::tie(scores, out.scores) = made_scores(n_texts, out.each.width);
        if (out.once.cells) std::tie(once, out.once_scores) = made_scores(n_texts, out.once.width);
        std::tie(known, out.known) = made<std::int64_t>(n_texts);
        std::tie(unknown, out.unknown) = made<std::int64_t>(n_texts);
        if (count_distinct) std::tie(distinct, out.distinct) = made<std::int64_t>(n_texts);
    }

    nb::tuple as_tuple() const { return nb::make_tuple(scores, once, known, unknown, distinct); }

  private:
    static std::pair<nb::object, double*> made_scores(std::size_t n_texts, std::size_t width) {
        auto [flat, data] = made<double>(n_texts * width);
        return {flat.attr("reshape")(n_texts, width), data};
    }

    template <class T>
    static std::pair<nb::object, T*> made(std::size_t n) {
        auto array = to_array(std::vector<T>(n));
        return {array.cast(), array.data()};
    }
};

nb::list scores(const HeldTexts& texts, const std::vector<TokenizerConfig>& configs, const nb::list& codings,
                const nb::list& tables, const nb::list& once_tables, bool distinct, int n_threads) {
    const FeatureList features = features_of(configs, codings);
    require(tables.size() == features.size() && once_tables.size() == features.size(),
            "there must be tables for each tokenizer");
    std::vector<Answer> answers;
    std::vector<TokenScores> out;
    for (std::size_t k = 0; k < features.size(); ++k) {
        answers.emplace_back(tables[k], once_tables[k], distinct, texts.rows.size(), features[k].coding.size());
        out.push_back(answers.back().out);
    }
    unlocked([&] { score_tokens(texts.view(), features, out, n_threads); });
    nb::list done;
    for (const Answer& answer : answers) done.append(answer.as_tuple());
    return done;
}

}  // namespace

void bind_tokens(nb::module_& module) {
    module.attr("unicode_version") = kUnicodeVersion;
    nb::class_<TokenizerConfig>(module, "Tokenizer")
        .def(
            "__init__",
            [](TokenizerConfig* self, nb::handle config, int analyzer, int accents,
               const SharedVocabulary* stop_words) {
                new (self) TokenizerConfig(config_of(config, analyzer, accents, stop_words));
            },
            nb::arg("config"), nb::arg("analyzer"), nb::arg("accents"), nb::arg("stop_words").none());
    module.def(
        "count_tokens",
        [](const HeldTexts& texts, const std::vector<TokenizerConfig>& configs, const nb::list& codings, bool grow,
           bool counts, int n_threads) {
            const FeatureList features = features_of(configs, codings);
            return as_list(unlocked([&] { return count_tokens(texts.view(), features, grow, counts, n_threads); }));
        },
        nb::arg("texts"), nb::arg("tokenizers"), nb::arg("codings"), nb::arg("grow"), nb::arg("counts"),
        nb::arg("n_threads"));
    module.def(
        "tally_tokens",
        [](const HeldTexts& texts, const Positions& classes, const MaybeDoubles& weight, std::size_t n_classes,
           const std::vector<TokenizerConfig>& configs, const nb::list& codings, bool grow, int n_threads) {
            require(n_classes >= 1, "there must be a class");
            check_groups(texts.rows.size(), classes, weight, n_classes);
            const FeatureList features = features_of(configs, codings);
            return as_list(unlocked([&] {
                return tally_tokens(texts.view(), classes.data(), data_or_null(weight), n_classes, features, grow,
                                    n_threads);
            }));
        },
        nb::arg("texts"), exact("classes"), nb::arg("weight").noconvert().none(), nb::arg("n_classes"),
        nb::arg("tokenizers"), nb::arg("codings"), nb::arg("grow"), nb::arg("n_threads"));
    module.def("score_tokens", &scores, nb::arg("texts"), nb::arg("tokenizers"), nb::arg("codings"), nb::arg("tables"),
               nb::arg("once_tables"), nb::arg("distinct"), nb::arg("n_threads"));
}

}  // namespace candide
