// A row by the sum of what its columns add.

const GROUPS = [MODEL.terms, ...MODEL.limitTerms].map((group) => group.map(readTerms));

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
  const cells = cellsOf(row);
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
    const value = shownValue(row, column, cells[j]);
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
