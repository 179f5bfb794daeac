#!/usr/bin/env bash
# The tokenizer under clang's libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer:
#   tests/fuzz/run.sh [seconds, 60 if not given] [a folder for what it finds worth keeping]
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
corpus=${2:-$work/corpus}
mkdir -p "$corpus" "$work/seeds"

python3 tools/unicode_tables.py "$work/unicode_tables.cpp"
sources=(reader texts normal_text words blank_words tokenizer vocabulary shared_vocabulary token_list token_pass
         token_rows token_tally token_scores stop)
sources=("${sources[@]/#/cpp/core/}")
clang++ -std=c++20 -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
  -DCANDIDE_NO_CLONES -I cpp/core -pthread -o "$work/fuzz" \
  tests/fuzz/tokens.cpp "$work/unicode_tables.cpp" "${sources[@]/%/.cpp}"

# One text with characters of all lengths for every analyzer, so that it need not guess them.
for kind in 0 1 2 3 4; do
  printf "\\x$kind\\x1\\x81\\x0of THE ΑΣ İ é 日本 🎉 ½ \\xff\\xe2\\x80 a  b\\t1" >"$work/seeds/$kind"
done
"$work/fuzz" -max_total_time="$seconds" -max_len=512 -print_final_stats=1 -artifact_prefix="$corpus/" \
  "$corpus" "$work/seeds"
