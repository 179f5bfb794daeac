// A text by the likelihood of its tokens.

const PLAIN = MODEL.plain;
const TOKENIZER = readTokenizer(PLAIN.tokenizer);
const placeOf = readCoding(PLAIN.coding, PLAIN.others);
const FACTOR = PLAIN.factor && decodeArray(PLAIN.factor);
const GROUPS = [PLAIN.terms, ...PLAIN.limitTerms].map((group) => group.map(readTerm));

const WEIGHTINGS = { count: (n) => n, tfidf: (n) => n, binary: () => 1, log: (n) => 1 + Math.log(n) };

function tokenScores(terms, x, place) {
  const scores = new Array(N_CLASSES).fill(0);
  for (const term of terms) {
    if (term.kind === "rowTotal") continue;
    const score = CELL_TERMS[term.kind];
    for (let k = 0; k < N_CLASSES; k++) scores[k] += score(term, x, place * N_CLASSES + k);
  }
  return scores;
}

function restScores(terms, total) {
  const scores = new Array(N_CLASSES).fill(0);
  for (const term of terms) {
    for (let k = 0; k < N_CLASSES; k++) {
      if (term.kind === "linear") scores[k] += term.base[k];
      if (term.kind === "rowTotal") scores[k] -= logRising(term.start[k], total);
    }
  }
  return scores;
}

export function classify(text) {
  checkText(text);
  const counts = countTokens(text, TOKENIZER);
  const terms = [{ kind: "prior", column: null, value: "prior", view: null, scores: Array.from(OFFSET) }];
  let total = 0;
  for (const [place, { value, count }] of placedTokens(counts, placeOf)) {
    const x = WEIGHTINGS[PLAIN.weighting](count) * (FACTOR ? FACTOR[place] : 1);
    total += x;
    const [scores, ...limits] = GROUPS.map((group) => tokenScores(group, x, place));
    const term = { kind: "token", column: null, value, view: null, count, scores };
    terms.push(limits.length ? { ...term, limits } : term);
  }
  const [scores, ...limits] = GROUPS.map((group) => restScores(group, total));
  if ([scores, ...limits].some((part) => part.some((score) => score !== 0))) {
    const rest = { kind: "rest", column: null, value: "everything absent", view: null, scores };
    terms.push(limits.length ? { ...rest, limits } : rest);
  }
  let amount = 0;
  for (const times of counts.values()) amount += times;
  return answer(terms, amount);
}
