// A row by its columns, their sum and views of several columns, each with its weights.

const STACKING = MODEL.stacking;
const TERMS = COLUMNS.map((_, j) => MODEL.terms.filter((term) => term.column === j).map(readTerms));
const BINNING = STACKING.binning.map((own) => ({
  ...own,
  cuts: own.cuts && decodeArray(own.cuts),
  places: own.labels && new Map(own.labels.map((label, place) => [keyOf(label), place])),
}));
const MADE_VIEWS = STACKING.views.map((own) => ({ own, scores: VIEWS[own.kind](own) }));
const BIASES = { whole: decodeArray(STACKING.bias), near: decodeArray(STACKING.near), far: decodeArray(STACKING.far) };
const MAX_SCORE = 1e290;

function binnedRow(cells, absent) {
  const codes = BINNING.map((own) => {
    const cell = cells[own.column];
    if (absent.has(own.column)) return -1;
    if (Number.isNaN(cell)) return own.size;
    return own.cuts ? countBelow(own.cuts, cell) : (own.places.get(cell) ?? own.size + 1);
  });
  return { codes, numbers: BINNING.map((own) => cells[own.column]) };
}

// Between the weights of rows with almost all columns and with almost none; of complete rows, their own.
function mixed({ whole, near, far }, share) {
  return Array.from(whole, (own, k) => (share === 1 ? own : share * near[k] + (1 - share) * far[k]));
}

function standardized(own, scores) {
  const known = scores.map((score) => clip(score, -MAX_SCORE, MAX_SCORE));
  const mean = known.reduce((sum, score) => sum + score / N_CLASSES, 0);
  return known.map((score) => clip((score - mean) / own.scale, -own.limit, own.limit));
}

export function predict(row) {
  const cells = cellsOf(row);
  const absent = new Set(STACKING.absent.filter((j) => Number.isNaN(cells[j])));
  const share = 1 - absent.size / Math.max(1, STACKING.nColumns);
  const terms = [{ kind: "prior", column: null, value: "class bias", view: null, scores: mixed(BIASES, share) }];
  if (OFFSET.includes(-Infinity)) {
    terms.push({ kind: "prior", column: null, value: "impossible classes", view: null, scores: Array.from(OFFSET) });
  }
  const add = (own, scores, term) => {
    const weights = mixed(own.weights, share);
    if (!weights.some((weight) => weight !== 0)) return;
    const weighted = standardized(own, scores).map((score, k) => score * weights[k]);
    terms.push({ ...term, scores: weighted });
  };
  const total = new Array(N_CLASSES).fill(0);
  for (const own of STACKING.singles) {
    if (absent.has(own.column)) continue;
    const column = COLUMNS[own.column];
    const scores = new Array(N_CLASSES).fill(0);
    for (const term of TERMS[own.column]) addCell(scores, term, column, cells[own.column], 0);
    const rest = restOf(TERMS[own.column]);
    scores.forEach((score, k) => (total[k] += scores[k] += rest[k]));
    const value = shownValue(row, column, cells[own.column]);
    add(own, scores, { kind: "cell", column: column.name, value, view: "column by column" });
  }
  add(STACKING.sum, total, { kind: "rest", column: null, value: MODEL.sumName, view: MODEL.sumName });
  const binned = binnedRow(cells, absent);
  for (const { own, scores } of MADE_VIEWS) {
    add(own, scores(binned), { kind: "rest", column: null, value: own.name, view: own.name });
  }
  return answer(terms, 0);
}

// What terms of one column add to every row.
function restOf(terms) {
  const scores = new Array(N_CLASSES).fill(0);
  for (const term of terms) {
    if (term.kind === "linear") scores.forEach((_, k) => (scores[k] += term.base[k]));
    if (term.kind === "transformed") restOf(term.terms).forEach((score, k) => (scores[k] += score));
    if (term.kind === "rowTotal") throw new Error("a column cannot have a term of the whole row");
  }
  return scores;
}
