import { ledgerHash } from '../../src/app/ledger-hash.ts';
import { NO_RULES } from '../../src/app/rules/rule.ts';
import type { Snapshot } from '../../src/facts/manifest.ts';
import { STAGES } from '../../src/ledger/stages.ts';
import { askerOf } from '../../src/lake/ask.ts';
import type { Engine } from '../../src/lake/engine.ts';
import { scopeOf } from '../../src/lake/scope.ts';

/** `bursar ledger hash` of one state of the lake as it lies there: whatever is behind stays behind. */
export async function ledgerHashOf(engine: Engine, dataDir: string, snapshot: Snapshot): Promise<string> {
  const { hash } = await ledgerHash({
    dataDir,
    snapshot,
    scope: scopeOf(snapshot),
    staleRows: 0,
    sources: [],
    rules: NO_RULES,
    statements: { closings: () => [], statement: () => undefined },
    findings: { records: () => [], history: () => [] },
    ...askerOf(engine, dataDir, snapshot, STAGES),
  });
  return hash;
}
