import assert from 'node:assert/strict';

/** One thing observed: the logarithm of what it is over what was predicted, and how the prediction moves with each parameter. */
export interface LogRow {
  readonly residual: number;
  readonly weight: number;
  /** Parameter and d log(prediction) / d log(parameter). */
  readonly slopes: readonly (readonly [parameter: number, slope: number])[];
}

/** A belief held before the data: the sum of `slopes` times the parameters' logarithms is `target`, as sure as `weight` rows. */
export interface LogPrior {
  readonly target: number;
  readonly weight: number;
  readonly slopes: readonly (readonly [parameter: number, slope: number])[];
}

const STEPS_MAX = 60;
const STEP_MAX = 0.5;
/** A change of prices by less than this share is none. */
const DONE_BELOW = 1e-4;
/** Residuals beyond this share count less and less (Huber): price lists have rows that are simply wrong. */
const ROBUST_BEYOND = 0.15;

/**
 * Promise: the logarithms of the parameters that fit the rows best, robustly and with the priors, by Gauss and Newton's steps.
 *
 * Everything is a logarithm, so a price cannot become negative and an error of ten percent counts the same for a T4 and a B200.
 * Priors are stated for every parameter, so that the system always has exactly one solution.
 */
export function fitLogRidge(
  start: readonly number[],
  rowsAt: (parameters: readonly number[]) => readonly LogRow[],
  priors: readonly LogPrior[],
): number[] {
  let parameters = [...start];
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const move = newtonStep(parameters, rowsAt(parameters), priors);
    const largest = Math.max(...move.map(Math.abs));
    const scale = largest > STEP_MAX ? STEP_MAX / largest : 1;
    parameters = parameters.map((value, index) => value + scale * (move[index] ?? 0));
    if (largest < DONE_BELOW) break;
  }
  return parameters;
}

function newtonStep(at: readonly number[], rows: readonly LogRow[], priors: readonly LogPrior[]): number[] {
  const size = at.length;
  const matrix = new Float64Array(size * size);
  const right = new Float64Array(size);
  const add = (slopes: LogRow['slopes'], weight: number, residual: number): void => {
    for (const [i, a] of slopes) {
      right[i] = (right[i] ?? 0) + weight * a * residual;
      for (const [j, b] of slopes) matrix[i * size + j] = (matrix[i * size + j] ?? 0) + weight * a * b;
    }
  };
  for (const { residual, weight, slopes } of rows) {
    const off = Math.abs(residual);
    add(slopes, off > ROBUST_BEYOND ? (weight * ROBUST_BEYOND) / off : weight, residual);
  }
  for (const { target, weight, slopes } of priors) {
    add(slopes, weight, target - slopes.reduce((sum, [i, a]) => sum + a * (at[i] ?? 0), 0));
  }
  return solveSymmetric(matrix, right);
}

/** Solves a symmetric, positive definite system by Cholesky's way; both arguments are overwritten. */
function solveSymmetric(matrix: Float64Array, solution: Float64Array): number[] {
  const size = solution.length;
  const cell = (i: number, j: number): number => matrix[i * size + j] ?? 0;
  const value = (i: number): number => solution[i] ?? 0;
  for (let i = 0; i < size; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let left = cell(i, j);
      for (let k = 0; k < j; k += 1) left -= cell(i, k) * cell(j, k);
      assert(i !== j || left > 0, 'every parameter has a prior');
      matrix[i * size + j] = i === j ? Math.sqrt(left) : left / cell(j, j);
    }
  }
  for (let i = 0; i < size; i += 1) {
    let left = value(i);
    for (let k = 0; k < i; k += 1) left -= cell(i, k) * value(k);
    solution[i] = left / cell(i, i);
  }
  for (let i = size - 1; i >= 0; i -= 1) {
    let left = value(i);
    for (let k = i + 1; k < size; k += 1) left -= cell(k, i) * value(k);
    solution[i] = left / cell(i, i);
  }
  return Array.from(solution);
}
