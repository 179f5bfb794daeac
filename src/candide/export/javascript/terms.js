// The terms of log p(x | class) for cells and tokens: what a cell adds to the score of each class.

// log Γ(start + steps) / Γ(start)
function logRising(start, steps) {
  if (!(steps > 0)) return 0;
  if (Number.isInteger(steps) && steps <= 64) {
    let sum = 0;
    for (let i = 0; i < steps; i++) sum += Math.log(start + i);
    return sum;
  }
  // Stirling's formula for both, put together so that large terms cancel before they are computed.
  let shift = 0;
  for (; start < 32; start++) shift += Math.log1p(steps / start);
  const end = start + steps;
  const rest = (z) => 1 / (12 * z) - 1 / (360 * z ** 3) + 1 / (1260 * z ** 5) - 1 / (1680 * z ** 7);
  return (start - 0.5) * Math.log1p(steps / start) + steps * Math.log(end) - steps + rest(end) - rest(start) - shift;
}

const TERM_ARRAYS = ["weights", "absent", "base", "constant", "spread", "center", "power", "start", "slope", "known"];

// Parameters lie token by token or column by column, the classes of each side by side.
function readTerm(term) {
  const read = { ...term };
  for (const name of [...TERM_ARRAYS, "missing", "table", "cuts"]) if (term[name]) read[name] = decodeArray(term[name]);
  if (term.labels) read.places = new Map(term.labels.map((label, place) => [keyOf(label), place]));
  return read;
}

// Booleans and the numbers 0 and 1 are the same labels.
function keyOf(value) {
  return typeof value === "boolean" ? Number(value) : value;
}

// What a number adds to the score of class k; `at` is the place of the parameters.
const CELL_TERMS = {
  linear: (own, x, at) => own.weights[at] * (own.threshold === null ? x : x > own.threshold ? 1 : 0),
  quadratic: (own, x, at) => own.constant[at] - own.spread[at] * (x - own.center[at]) ** 2,
  logQuadratic: (own, x, at) => own.constant[at] - own.power[at] * Math.log1p(own.spread[at] * (x - own.center[at]) ** 2),
  logGamma: (own, x, at) => logRising(own.start[at], x) + own.constant[at] + x * own.slope[at],
  presence: (own, x, at) => own.known[at],
};
