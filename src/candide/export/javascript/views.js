// Views of several columns: what the codes of a row add to the scores of the classes.

// Slots of some columns, -1 where a cell is not given.
function slotsOf(merged, codes) {
  return merged.columns.map((i, place) =>
    codes[i] < 0 ? -1 : merged.maps[place][codes[i]] + merged.offsets[place],
  );
}

function readMerged(merged) {
  return { ...merged, maps: merged.maps.map(decodeArray) };
}

const COORDINATES = {
  ranks: (own, place, code) => own.quantiles[place][code],
  clipped(own, place, code, x) {
    if (Number.isNaN(x)) return 0;
    return (clip(x, own.low[place], own.high[place]) - own.mean[place]) / own.deviation[place];
  },
};

function readCoordinates(own) {
  if (own.kind === "ranks") return { ...own, quantiles: own.quantiles.map(decodeArray) };
  const parts = ["low", "high", "mean", "deviation"].map((name) => [name, decodeArray(own[name])]);
  return { ...own, ...Object.fromEntries(parts) };
}

// The points of a row, and the places of those that are given.
function pointsOf(own, row) {
  const point = own.columns.map((i, place) =>
    row.codes[i] < 0 ? 0 : COORDINATES[own.kind](own, place, row.codes[i], row.numbers[i]),
  );
  return { point, given: own.columns.flatMap((i, place) => (row.codes[i] < 0 ? [] : [place])) };
}

// The lower root of the rows and columns `at` of a symmetric matrix of n × n numbers that begin at `from`.
function cholesky(matrix, n, at, from = 0) {
  const root = at.map(() => new Float64Array(at.length));
  at.forEach((a, i) => {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[from + a * n + at[j]];
      for (let m = 0; m < j; m++) sum -= root[i][m] * root[j][m];
      root[i][j] = i === j ? Math.sqrt(sum) : sum / root[j][j];
    }
  });
  return root;
}

function solveLower(root, right) {
  const out = new Float64Array(right.length);
  for (let i = 0; i < right.length; i++) {
    let sum = right[i];
    for (let m = 0; m < i; m++) sum -= root[i][m] * out[m];
    out[i] = sum / root[i][i];
  }
  return out;
}

function solveUpper(root, right) {
  const out = new Float64Array(right.length);
  for (let i = right.length - 1; i >= 0; i--) {
    let sum = right[i];
    for (let m = i + 1; m < right.length; m++) sum -= root[m][i] * out[m];
    out[i] = sum / root[i][i];
  }
  return out;
}

// What depends on the set of columns alone is kept for the sets of a few rows.
function remembered(make) {
  const known = new Map();
  return (at) => {
    const key = at.join();
    if (!known.has(key)) {
      if (known.size >= 64) known.clear();
      known.set(key, make(at));
    }
    return known.get(key);
  };
}

const VIEWS = {
  // log of the mean over parents of exp of what all columns add beside each.
  joint(own) {
    const merged = readMerged(own.merged);
    const table = decodeArray(own.table);
    const nSlots = merged.offsets[merged.offsets.length - 1];
    const pairBegins = [0];
    for (const [a, b] of own.pairs ?? []) {
      pairBegins.push(pairBegins[pairBegins.length - 1] + merged.sizes[a] * merged.sizes[b]);
    }
    const pairSlot = (slots, [a, b], i) =>
      slots[a] < 0 || slots[b] < 0
        ? -1
        : pairBegins[i] + (slots[a] - merged.offsets[a]) * merged.sizes[b] + slots[b] - merged.offsets[b];
    return (row) => {
      const slots = slotsOf(merged, row.codes);
      const all = own.pairs ? own.pairs.map((pair, i) => pairSlot(slots, pair, i)) : slots;
      const parents = all.filter((slot) => slot >= 0);
      const given = slots.filter((slot) => slot >= 0);
      const scores = new Array(N_CLASSES).fill(0);
      if (!parents.length) return scores;
      return scores.map((_, k) => {
        const sums = parents.map((parent) =>
          given.reduce((sum, slot) => sum + table[(parent * nSlots + slot) * N_CLASSES + k], 0),
        );
        return logSumExp(sums) - Math.log(parents.length);
      });
    };
  },

  // Student's t of all number columns together; of those that a row has.
  covariance(own) {
    const coordinates = readCoordinates(own.coordinates);
    const [means, scales, sizes] = [own.means, own.scales, own.sizes].map(decodeArray);
    const n = coordinates.columns.length;
    const factors = remembered((at) => OFFSET.reduce((made, _, k) => [...made, cholesky(scales, n, at, k * n * n)], []));
    return (row) => {
      const { point, given } = pointsOf(coordinates, row);
      if (!given.length) return new Array(N_CLASSES).fill(0);
      return factors(given).map((root, k) => {
        const away = solveLower(root, given.map((place) => point[place] - means[k * n + place]));
        const square = away.reduce((sum, x) => sum + x * x, 0);
        const logDeterminant = root.reduce((sum, line, i) => sum + 2 * Math.log(line[i]), 0);
        const [freedom, shrink, constant] = [0, 1, 2].map((part) => sizes[(given.length * 3 + part) * N_CLASSES + k]);
        return constant - 0.5 * (logDeterminant + freedom * Math.log1p(shrink * square));
      });
    };
  },

  // A regression on random Fourier features; of columns that are not given, on their expectation.
  fourier(own) {
    const coordinates = readCoordinates(own.coordinates);
    const merged = readMerged(own.merged);
    const names = ["covariance", "turn", "logSize", "frequencies", "phases", "slopes", "mean"];
    const [covariance, turn, logSize, frequencies, phases, slopes, mean] = names.map((name) => decodeArray(own[name]));
    const n = coordinates.columns.length;
    const width = phases.length;
    const regression = remembered((at) => {
      const rest = coordinates.columns.flatMap((_, place) => (at.includes(place) ? [] : [place]));
      const root = cholesky(covariance, n, at);
      const lines = rest.map((r) => solveUpper(root, solveLower(root, at.map((a) => covariance[a * n + r]))));
      const left = rest.map((r) =>
        rest.map((s, j) => covariance[r * n + s] - at.reduce((sum, a, m) => sum + covariance[a * n + r] * lines[j][m], 0)),
      );
      const sizes = Float64Array.from(phases, (_, f) => {
        let sum = 0;
        rest.forEach((r, i) => {
          rest.forEach((s, j) => {
            sum += frequencies[r * width + f] * left[i][j] * frequencies[s * width + f];
          });
        });
        return -0.5 * sum;
      });
      return { rest, lines, sizes };
    });
    return (row) => {
      const scores = new Array(N_CLASSES).fill(0);
      if (own.columns.every((i) => row.codes[i] < 0)) return scores;
      const { point, given } = pointsOf(coordinates, row);
      const angles = Float64Array.from(phases);
      const sizes = new Float64Array(width);
      const add = (to, from, begin, factor) => {
        for (let f = 0; f < width; f++) to[f] += factor * from[begin + f];
      };
      if (given.length < n) {
        const known = regression(given);
        known.rest.forEach((r, i) => {
          point[r] = given.reduce((sum, a, m) => sum + point[a] * known.lines[i][m], 0);
        });
        add(sizes, known.sizes, 0, 1);
      }
      point.forEach((x, place) => add(angles, frequencies, place * width, x));
      slotsOf(merged, row.codes).forEach((slot, place) => {
        if (slot >= 0) return add(angles, frequencies, (n + slot) * width, 1);
        add(angles, turn, place * width, 1);
        return add(sizes, logSize, place * width, 1);
      });
      for (let f = 0; f < width; f++) {
        const height = Math.exp(sizes[f]) * Math.cos(angles[f]);
        for (let k = 0; k < N_CLASSES; k++) scores[k] += height * slopes[f * N_CLASSES + k];
      }
      return scores.map((score, k) => score - mean[k]);
    };
  },

  // Corrections of single cells.
  cells(own) {
    const table = decodeArray(own.table);
    const cuts = own.cuts.map((column) => column && decodeArray(column));
    return (row) => {
      const scores = new Array(N_CLASSES).fill(0);
      let begin = 0;
      own.sizes.forEach((size, i) => {
        let code = row.codes[i];
        if (code >= 0 && cuts[i]) code = Number.isNaN(row.numbers[i]) ? size : countBelow(cuts[i], row.numbers[i]);
        if (code >= 0) for (let k = 0; k < N_CLASSES; k++) scores[k] += table[(begin + code) * N_CLASSES + k];
        begin += size + 2;
      });
      return scores;
    };
  },
};
