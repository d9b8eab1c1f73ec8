// Elo ratings from the results of all pairs, as `ggp tournament` computes them (crates/play/src/rating.rs).

/** Rating points of one unit of log-odds. */
const SCALE = 400 / Math.LN10;
/** The precision of the prior, whose standard deviation is 1000 points. */
const PRIOR = (SCALE / 1000) ** 2;
/** The number of standard deviations on both sides that contain 95 %. */
const TWO_SIDED = 1.96;

/**
 * The ratings with their margins, relative to the mean. `cells` are the results of each player
 * against each other one: the points and their maximum, both weighted.
 */
export function elo(cells) {
  const strength = cells.map(() => 0);
  let inverse;
  for (let turn = 0, longest = 1; turn < 200 && longest > 1e-9; turn += 1) {
    const slope = strength.map((value) => -PRIOR * value);
    inverse = inverted(cells.map((row, player) => {
      const curvature = row.map(() => 0);
      curvature[player] = PRIOR;
      row.forEach(({ won, met }, other) => {
        const expected = 1 / (1 + Math.exp(strength[other] - strength[player]));
        const information = met * expected * (1 - expected);
        slope[player] += won - met * expected;
        curvature[player] += information;
        curvature[other] -= information;
      });
      return curvature;
    }));
    const steps = inverse.map((row) => row.reduce((sum, value, index) => sum + value * slope[index], 0));
    longest = Math.max(...steps.map(Math.abs));
    steps.forEach((step, player) => { strength[player] += step / Math.max(longest, 1); });
  }
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const among = inverse.map(mean);
  return strength.map((value, player) => ({
    rating: SCALE * (value - mean(strength)),
    margin: SCALE * TWO_SIDED * Math.sqrt(Math.max(inverse[player][player] - 2 * among[player] + mean(among), 0)),
  }));
}

/** The inverse of a positive definite matrix, by elimination. */
function inverted(matrix) {
  const rows = matrix.map((row, index) => [...row, ...row.map((_, column) => Number(column === index))]);
  for (const [pivot, row] of rows.entries()) {
    const lead = row[pivot];
    row.forEach((value, column) => { row[column] = value / lead; });
    for (const other of rows) {
      const factor = other[pivot];
      if (other !== row) row.forEach((value, column) => { other[column] -= factor * value; });
    }
  }
  return rows.map((row) => row.slice(matrix.length));
}
