// A text by several sets of tokens, each in bins by how strongly a token separates the classes, with fitted weights.

const TINY = 2.2250738585072014e-308;

// Counts by class of each token: how many classes have it, then class and count of each.
function readCounts(given) {
  const stream = decodeArray(given.stream);
  const values = given.values && decodeArray(given.values);
  let at = 0;
  const next = () => {
    let number = 0;
    for (let shift = 1; ; shift *= 128) {
      number += (stream[at] & 127) * shift;
      if (stream[at++] < 128) return number;
    }
  };
  const begins = new Uint32Array(given.tokens + 1);
  const classOf = new Uint32Array(given.entries);
  const count = values ?? new Float64Array(given.entries);
  for (let token = 0, entry = 0; token < given.tokens; token++) {
    const single = N_CLASSES === 1;
    for (let n = next(); n > 0; n--, entry++) {
      classOf[entry] = single ? 0 : next();
      if (!values) count[entry] = next();
    }
    begins[token + 1] = entry;
  }
  return { begins, classOf, count };
}

function readFeatureSet(given) {
  const table = readCounts(given.counts);
  const size = decodeArray(given.size);
  const whole = size.reduce((sum, one) => sum + one, 0);
  const spare = given.alpha * Math.max(1, given.nTokens);
  return {
    ...given,
    ...table,
    tokenizer: readTokenizer(given.tokenizer),
    placeOf: readCoding(given.coding, -1),
    share: size.map((one) => one / (whole || 1)),
    bins: [...given.knots.keys()],
    logKnots: given.knots.map((knot) => Math.log(Math.max(1, N_CLASSES - 1) * knot)),
    logSizes: [size.map((one) => Math.log(one + spare)), size.map((one) => Math.log(Math.max(whole - one, 0) + spare))],
  };
}

const FEATURE_SETS = MODEL.stacked.featureSets.map(readFeatureSet);
const BIAS = decodeArray(MODEL.stacked.bias);

// What a token adds to the scores of each kind (by the class, by all others), and between which bins it lies.
function tokenParts(own, place) {
  const begin = own.begins[place];
  const end = own.begins[place + 1];
  let weight = 0;
  for (let i = begin; i < end; i++) weight += own.count[i];
  const parts = own.complement
    ? [Array.from(own.logSizes[0], (size) => -size), Array.from(own.logSizes[1])]
    : [Array.from(own.logSizes[0], (size) => -size)];
  let evidence = 0;
  for (let i = begin; i < end; i++) {
    const k = own.classOf[i];
    evidence += 2 * own.count[i] * Math.log(own.count[i] / (weight * own.share[k]));
    parts[0][k] += Math.log1p(own.count[i] / own.alpha);
    if (own.complement) {
      parts[1][k] -= Math.log((Math.max(weight - own.count[i], 0) + own.alpha) / (weight + own.alpha));
    }
  }
  const level = interpolate(Math.log(Math.max(evidence, TINY)), own.logKnots, own.bins);
  return { parts, level };
}

// The contributions of the tokens of a text by one feature set, and of the limits of views.
function featureTerms(own, counts, terms) {
  const tokens = [...placedTokens(counts, own.placeOf)];
  const found = tokens.map(([place]) => tokenParts(own, place));
  const contributions = found.map(() => new Array(N_CLASSES).fill(0));
  const beyond = new Array(N_CLASSES).fill(0);
  const scale = 1 / Math.sqrt(1 + tokens.length);
  for (const view of own.views) {
    const sum = new Array(N_CLASSES).fill(0);
    found.forEach(({ parts, level }, i) => {
      const member = Math.max(0, 1 - Math.abs(level - view.bin));
      if (!member) return;
      const part = parts[view.kind];
      const mean = part.reduce((total, one) => total + one, 0) / N_CLASSES;
      for (let k = 0; k < N_CLASSES; k++) {
        const shown = (scale * member * (part[k] - mean)) / view.scale;
        sum[k] += shown;
        contributions[i][k] += shown * view.weight[k];
      }
    });
    for (let k = 0; k < N_CLASSES; k++) beyond[k] += (clip(sum[k], -view.limit, view.limit) - sum[k]) * view.weight[k];
  }
  tokens.forEach(([, { value, count }], i) => {
    terms.push({ kind: "token", column: null, value, view: own.name, count, scores: contributions[i] });
  });
  if (beyond.some((score) => score !== 0)) {
    const value = `${own.name}: clipped to the training range`;
    terms.push({ kind: "limit", column: null, value, view: own.name, scores: beyond });
  }
}

// Weights of a logistic regression on tokens, divided by the root of how many the text has.
function readRefined(given) {
  return { ...given, ...readTerm(given), tokenizer: readTokenizer(given.tokenizer), placeOf: readCoding(given.coding, -1) };
}

const REFINED = MODEL.stacked.refinement.map(readRefined);

function refinedTerms(countsOf, terms) {
  const found = REFINED.map((own) => [...placedTokens(countsOf(own.tokenizer), own.placeOf)]);
  const scale = 1 / Math.sqrt(Math.max(1, found.reduce((sum, tokens) => sum + tokens.length, 0)));
  REFINED.forEach(({ name, weights }, i) => {
    for (const [place, { value, count }] of found[i]) {
      const scores = Array.from({ length: N_CLASSES }, (_, k) => weights[place * N_CLASSES + k] * scale);
      terms.push({ kind: "token", column: null, value, view: `${name}, refined`, count, scores });
    }
  });
}

export function classify(text) {
  checkText(text);
  const terms = [{ kind: "prior", column: null, value: "class bias", view: null, scores: Array.from(BIAS) }];
  if (OFFSET.includes(-Infinity)) {
    terms.push({ kind: "prior", column: null, value: "impossible classes", view: null, scores: Array.from(OFFSET) });
  }
  for (const own of FEATURE_SETS) featureTerms(own, countTokens(text, own.tokenizer), terms);
  if (REFINED.length) refinedTerms((tokenizer) => countTokens(text, tokenizer), terms);
  let amount = 0;
  if (MODEL.amount) for (const times of countTokens(text, readTokenizer(MODEL.amount)).values()) amount += times;
  return answer(terms, amount);
}
