// Arrays of the model, and from scores to probabilities.

const ARRAY_TYPES = { f8: Float64Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };

// Arrays are lists of numbers, base64 of little-endian numbers, or codes of distinct values.
function decodeArray(given) {
  if (Array.isArray(given)) return Float64Array.from(given);
  if (given.codes) {
    const values = decodeArray(given.values);
    return Float64Array.from(decodeArray(given.codes), (code) => values[code]);
  }
  const [type, text] = Object.entries(given)[0];
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new ARRAY_TYPES[type](bytes.buffer);
}

const largest = (numbers) => numbers.reduce((top, number) => (number > top ? number : top), -Infinity);
const log1pExp = (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const clip = (x, low, high) => Math.min(Math.max(x, low), high);

function logSumExp(scores) {
  const top = largest(scores);
  if (!Number.isFinite(top)) return top;
  return top + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - top), 0));
}

// Classes with infinite scores share the probability, and so do all classes if none is possible.
function logSoftmax(scores) {
  const total = logSumExp(scores);
  if (Number.isFinite(total)) return scores.map((score) => score - total);
  const n = scores.reduce((sum, score) => sum + (score === total), 0);
  return scores.map((score) => (score === total ? -Math.log(n) : -Infinity));
}

const MAX_LOG_ODDS = 1e200;
const MAX_LOG_TEMPERATURE = 50;

// Log-odds of each class against the rest; of two classes, of the second alone.
function logOdds(posterior) {
  if (posterior.length === 2) return [clip(posterior[1] - posterior[0], -MAX_LOG_ODDS, MAX_LOG_ODDS)];
  const best = posterior.indexOf(largest(posterior));
  const others = posterior.filter((_, k) => k !== best);
  const rest = (p, k) => (k === best ? logSumExp(others) : Math.log1p(-Math.exp(p)));
  return posterior.map((p, k) => clip(p - rest(p, k), -MAX_LOG_ODDS, MAX_LOG_ODDS));
}

function fromLogOdds(odds) {
  const inside = odds.map((x) => -log1pExp(-x));
  return odds.length > 1 ? logSoftmax(inside) : [-log1pExp(odds[0]), inside[0]];
}

// A value between the corners of a curve, straight from one to the next.
function interpolate(x, corners, heights) {
  if (x <= corners[0]) return heights[0];
  for (let i = 1; i < corners.length; i++) {
    if (x < corners[i]) {
      const share = (x - corners[i - 1]) / (corners[i] - corners[i - 1]);
      return heights[i - 1] + share * (heights[i] - heights[i - 1]);
    }
  }
  return heights[heights.length - 1];
}

const CALIBRATIONS = {
  chain: (own, scores, amount) => calibrate(own.second, calibrate(own.first, scores, amount), null),
  scaling(own, scores, amount) {
    let scaled = logSoftmax(scores);
    if (own.bend) {
      const top = largest(scaled);
      const shortened = (d) => (own.bend === 1 ? Math.log1p(d) : ((1 + d) ** (1 - own.bend) - 1) / (1 - own.bend));
      scaled = scaled.map((score) => -shortened(top - score));
    }
    const [low, high] = own.amounts;
    const excess = own.growth ? Math.log1p(clip(amount, low ?? 0, high ?? Infinity)) - own.typical : 0;
    const log = clip(own.logTemperature + own.growth * excess, -MAX_LOG_TEMPERATURE, MAX_LOG_TEMPERATURE);
    return logSoftmax(scaled.map((score, k) => score / Math.exp(log) + (own.bias ? own.bias[k] : 0)));
  },
  beta(own, scores) {
    const bent = logOdds(logSoftmax(scores)).map((odds, k) => {
      const [a, b, c] = own.curves[k];
      const x = clip(odds, -own.limit[k], own.limit[k]);
      return b * log1pExp(x) - a * log1pExp(-x) + c;
    });
    return fromLogOdds(bent);
  },
  isotonic(own, scores) {
    const bent = logOdds(logSoftmax(scores)).map((odds, k) => {
      const p = interpolate(odds, own.curves[k].odds, own.curves[k].probability);
      return Math.log(p) - Math.log1p(-p);
    });
    return fromLogOdds(bent);
  },
};

function calibrate(own, scores, amount) {
  return CALIBRATIONS[own.kind](own, scores, amount);
}

// What is done to the scores as a whole, as a contribution; 0 where a class stays impossible.
function difference(after, before) {
  return after.map((score, k) => (score === before[k] ? 0 : score - before[k]));
}

const N_CLASSES = MODEL.classes.length;
const OFFSET = decodeArray(MODEL.offset);

function addUp(terms, scoresOf) {
  const sum = new Array(N_CLASSES).fill(0);
  for (const term of terms) {
    const scores = scoresOf(term);
    if (scores) for (let k = 0; k < N_CLASSES; k++) sum[k] += scores[k];
  }
  return sum;
}

// Zero probabilities are powers of a number that goes to 0: the classes with the fewest lead.
function ruleOut(scores, terms) {
  let alive = scores.map((_, k) => OFFSET[k] > -Infinity);
  for (let i = 0; i < MODEL.limits; i++) {
    const limit = addUp(terms, (term) => term.limits && term.limits[i]);
    const top = largest(limit.filter((_, k) => alive[k]));
    alive = alive.map((lives, k) => lives && limit[k] >= top - 1e-12 * Math.abs(top));
  }
  const left = scores.filter((_, k) => alive[k]);
  if (left.length && (!Number.isFinite(largest(left)) || left.some(Number.isNaN))) {
    throw new RangeError("the numbers of this row are so large that the scores of all classes overflow; rescale them");
  }
  return scores.map((score, k) => (alive[k] ? score : -Infinity));
}

// `terms` are contributions to the scores of the classes; what is done to all scores is added to them.
function answer(terms, amount) {
  let posterior = logSoftmax(ruleOut(addUp(terms, (term) => term.scores), terms));
  if (MODEL.calibration) {
    const before = posterior;
    const after = calibrate(MODEL.calibration, before, amount);
    posterior = before.includes(-Infinity)
      ? logSoftmax(after.map((score, k) => (before[k] === -Infinity ? -Infinity : score)))
      : after;
    const scores = difference(posterior, before);
    terms.push({ kind: "calibration", column: null, value: "calibration", view: null, scores });
  }
  if (MODEL.priorChange) {
    const scores = Array.from(decodeArray(MODEL.priorChange));
    posterior = logSoftmax(posterior.map((score, k) => score + scores[k]));
    terms.push({ kind: "prior", column: null, value: "adapted class prior", view: null, scores });
  }
  return {
    label: MODEL.classes[posterior.indexOf(largest(posterior))],
    probabilities: posterior.map(Math.exp),
    contributions: terms,
  };
}

export const classes = MODEL.classes;
