/** The seeds of a test, `last` excluded, or those the environment asks for: `ORACLE_SEEDS=100-400 npx vitest run …`. */
export function seedsOf(variable: string, last: number): number[] {
  const [from = 0, until = last] = (process.env[variable] ?? '').split('-').filter(Boolean).map(Number);
  return Array.from({ length: until - from }, (_, index) => from + index);
}
