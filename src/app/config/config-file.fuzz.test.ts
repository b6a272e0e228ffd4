import fc from 'fast-check';
import { expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { readConfig } from './config-file.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 10_000);

const EXAMPLE = `data: ./bursar-data
sources:
  - name: prometheus
    prometheus: {url: "http://p:9090", headers: {X-Scope-OrgID: ml, Authorization: {env: A, prefix: "Bearer "}}}
    every: 60s
  - name: k
    kubernetes: {context: prod}
  - {name: s, slurm: {command_prefix: [ssh, l1], rest: {url: "http://s:6820", token: {file: t}}}}
  - {name: x, scrape: [http://g1:9400/metrics]}
rates: [{model: H100, usd_per_gpu_hour: 1.95, from: 2026-01-01}]
`;

/** The example with pieces cut out, doubled or replaced: most of it is still read. */
const edits = fc.array(
  fc.record({
    at: fc.nat(EXAMPLE.length),
    length: fc.nat(12),
    put: fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom('{', '}', '[', ']', ': ', '- ', '\n', '&a ', '*a', '!!binary ', '? ', '"', "'", '|', '#', '\t'),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

it('whatever stands in bursar.yaml, it is read or refused with its place', () => {
  fc.assert(
    fc.property(fc.oneof(edits.map(edited), fc.string({ unit: 'binary', maxLength: 80 })), (text) => {
      expect(outcomeOf(text)).toMatch(/^(read|bursar\.yaml:\d+:\d+: )/);
    }),
    { numRuns: RUNS },
  );
}, 600_000);

function outcomeOf(text: string): string {
  try {
    const { sources, rates } = readConfig(text);
    return `read ${sources.length} and ${rates.length}`;
  } catch (failure) {
    if (failure instanceof OperationError) return failure.message;
    throw failure;
  }
}

function edited(all: readonly { at: number; length: number; put: string }[]): string {
  return all.reduce((text, { at, length, put }) => text.slice(0, at) + put + text.slice(at + length), EXAMPLE);
}
