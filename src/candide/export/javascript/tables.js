// A row of a table, column by column.

const COLUMNS = MODEL.columns;

function readTerms(term) {
  const read = readTerm(term);
  return term.terms ? { ...read, terms: term.terms.map(readTerm) } : read;
}

const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell);

// A cell as the model reads it: a number or a label; NaN where it is missing.
function readCell(row, column, place) {
  const key = Array.isArray(row) ? place : column.name;
  if (!Object.hasOwn(row, key)) {
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

// How many of the cuts, which ascend, are not above a number.
function countBelow(cuts, x) {
  let begin = 0;
  for (let end = cuts.length; begin < end; ) {
    const middle = (begin + end) >>> 1;
    if (cuts[middle] <= x) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

// The row of a table of scores that belongs to a cell; null where it adds nothing.
function codeOf(term, column, cell) {
  if (Number.isNaN(cell)) return term.missingCode;
  if (term.cuts) {
    return countBelow(term.cuts, cell);
  }
  const place = term.direct ? undefined : term.places.get(cell);
  if (place !== undefined) return place;
  if (typeof cell === "number" && cell >= 0 && cell < term.rangeEnd && Number.isInteger(cell)) {
    return term.direct ? cell : term.labels.length;
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

function cellsOf(row) {
  if (row === null || typeof row !== "object") {
    throw new TypeError("expected an object with a value for each column, or an array of values");
  }
  return COLUMNS.map((column) => readCell(row, column, column.place));
}

function shownValue(row, column, cell) {
  return Number.isNaN(cell) ? null : row[Array.isArray(row) ? column.place : column.name];
}
