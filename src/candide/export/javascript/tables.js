// A row of a table, column by column.

const COLUMNS = MODEL.columns.map((column) => ({
  ...column,
  places: column.labels && new Map(column.labels.map((label, place) => [keyOf(label), place])),
}));
const GROUPS = [MODEL.terms, ...MODEL.limitTerms].map((group) => group.map(readTerms));

function readTerms(term) {
  const read = readTerm(term);
  return term.terms ? { ...read, terms: term.terms.map(readTerm) } : read;
}

function keyOf(value) {
  return typeof value === "boolean" ? Number(value) : value;
}

const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell);

// A cell as the model reads it: a number or a label; NaN where it is missing.
function readCell(row, column, place) {
  const key = Array.isArray(row) ? place : column.name;
  if (!(key in row)) {
    throw new TypeError(`the row has no column ${JSON.stringify(key)}; pass null where a cell is missing`);
  }
  const cell = row[key];
  if (isMissing(cell)) return NaN;
  const type = typeof cell === "boolean" && column.type !== "string" ? "number" : typeof cell;
  const known = type === "number" || type === "string";
  if (!known || (column.type !== "any" && type !== column.type)) {
    const wanted = column.type === "any" ? "number or string" : column.type;
    throw new TypeError(`column ${JSON.stringify(column.name)} has a ${typeof cell}; expected a ${wanted}, or null`);
  }
  const value = keyOf(cell);
  const below = column.least !== null && value < column.least;
  if (type === "number" && (!Number.isFinite(value) || below)) {
    const allowed = column.least === null ? "a finite number" : `a finite number of at least ${column.least}`;
    throw new RangeError(`column ${JSON.stringify(column.name)} is ${cell}; expected ${allowed}, or null`);
  }
  return value;
}

// The row of a table of scores that belongs to a cell; null where it adds nothing.
function codeOf(term, column, cell) {
  if (Number.isNaN(cell)) return term.missingCode;
  if (term.cuts) {
    let begin = 0;
    for (let end = term.cuts.length; begin < end; ) {
      const middle = (begin + end) >>> 1;
      if (term.cuts[middle] <= cell) begin = middle + 1;
      else end = middle;
    }
    return begin;
  }
  const place = term.direct ? undefined : column.places.get(cell);
  if (place !== undefined) return place;
  if (typeof cell === "number" && cell >= 0 && cell < term.rangeEnd && Number.isInteger(cell)) {
    return term.direct ? cell : column.labels.length;
  }
  if (column.refusesUnseen) {
    const value = JSON.stringify(cell);
    throw new RangeError(`column ${JSON.stringify(column.name)} is ${value}, a category that was not seen in training`);
  }
  return term.unseenCode;
}

function powerOf(log, power) {
  return Math.abs(power) < 1e-12 ? log : Math.expm1(clip(power * log, -300, 300)) / power;
}

const TRANSFORMS = {
  identity: (own, x) => (own.least === null || x >= own.least ? x : NaN),
  boxCox: (own, x) => (x > 0 ? powerOf(Math.log(x) - own.logUnit, own.power) : NaN),
  yeoJohnson(own, x) {
    const z = (x - own.center) / own.unit;
    const log = Math.log1p(Math.abs(z));
    return z < 0 ? -powerOf(log, 2 - own.power) : powerOf(log, own.power);
  },
};

// What a cell adds to the scores under a term; `j` is its place among the columns of the term.
function addCell(scores, term, column, cell, j) {
  if (term.kind === "rowTotal") return;
  if (term.kind === "codes") {
    const code = codeOf(term, column, cell);
    if (code !== null) for (let k = 0; k < N_CLASSES; k++) scores[k] += term.table[code * N_CLASSES + k];
    return;
  }
  if (term.kind === "transformed") {
    const moved = Number.isNaN(cell) ? cell : TRANSFORMS[term.transform.kind](term.transform, cell);
    for (const inner of term.terms) addCell(scores, inner, column, moved, j);
    return;
  }
  const score = CELL_TERMS[term.kind];
  const missing = term.kind === "linear" ? term.absent : term.missing;
  for (let k = 0; k < N_CLASSES; k++) {
    const at = j * N_CLASSES + k;
    if (!Number.isNaN(cell)) scores[k] += score(term, cell, at);
    else if (missing) scores[k] += missing[at];
  }
}

function restScores(terms, cells) {
  const scores = new Array(N_CLASSES).fill(0);
  for (const term of terms) {
    if (term.kind === "transformed") restScores(term.terms, cells).forEach((score, k) => (scores[k] += score));
    for (let k = 0; k < N_CLASSES; k++) {
      if (term.kind === "linear") scores[k] += term.base[k];
      if (term.kind === "rowTotal") scores[k] -= logRising(term.start[k], rowTotal(cells));
    }
  }
  return scores;
}

const rowTotal = (cells) => cells.reduce((sum, cell) => (Number.isNaN(cell) ? sum : sum + cell), 0);

export function predict(row) {
  if (row === null || typeof row !== "object") {
    throw new TypeError("expected an object with a value for each column, or an array of values");
  }
  const cells = COLUMNS.map((column) => readCell(row, column, column.place));
  const terms = [{ kind: "prior", column: null, value: "prior", view: null, scores: Array.from(OFFSET) }];
  COLUMNS.forEach((column, j) => {
    const [scores, ...limits] = GROUPS.map((group) => {
      const own = new Array(N_CLASSES).fill(0);
      for (const term of group) {
        if (term.column === undefined) addCell(own, term, column, cells[j], j);
        else if (term.column === j) addCell(own, term, column, cells[j], 0);
      }
      return own;
    });
    if ([scores, ...limits].every((part) => part.every((score) => score === 0))) return;
    const value = Number.isNaN(cells[j]) ? null : row[Array.isArray(row) ? column.place : column.name];
    const term = { kind: "cell", column: column.name, value, view: null, scores };
    terms.push(limits.length ? { ...term, limits } : term);
  });
  const [scores, ...limits] = GROUPS.map((group) => restScores(group, cells));
  if ([scores, ...limits].some((part) => part.some((score) => score !== 0))) {
    const rest = { kind: "rest", column: null, value: "all together", view: null, scores };
    terms.push(limits.length ? { ...rest, limits } : rest);
  }
  return answer(terms, MODEL.countsCells ? rowTotal(cells) : 0);
}
