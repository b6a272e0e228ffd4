/** `H100` of `NVIDIA H100 80GB HBM3`: what people call it; a name without such a word stays whole. */
export function shortModel(model: string): string {
  return /\b((?:[A-Z]{1,3}\d{1,3}[A-Z]{0,2}|MI\d{3}[A-Z]?))\b/.exec(model)?.[1] ?? model;
}
