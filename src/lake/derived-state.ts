import { FACT_TABLES } from '../facts/fact-table.ts';
import type { Batch, DerivedUnit, LakeFile, Snapshot } from '../facts/manifest.ts';

/** A file of a fact table and the batch it came in. */
export interface BatchFile {
  readonly batch: Batch;
  readonly file: LakeFile;
}

/** The lake while it is being derived: the facts of one snapshot, and the derived units as they come about. */
export class DerivedState {
  private readonly facts = new Map<string, Map<string, BatchFile[]>>();
  private readonly derived = new Map<string, Map<string, DerivedUnit>>();
  private readonly stored = new Map<string, DerivedUnit>();
  private readonly touched = new Set<string>();

  constructor(snapshot: Snapshot) {
    for (const table of FACT_TABLES) this.facts.set(table.name, new Map());
    for (const batch of snapshot.batches) {
      for (const file of batch.files) {
        const partitions = this.facts.get(batch.table);
        if (partitions === undefined) continue;
        const members = partitions.get(file.partition) ?? [];
        members.push({ batch, file });
        partitions.set(file.partition, members);
      }
    }
    for (const unit of snapshot.derived) {
      this.put(unit);
      this.stored.set(`${unit.table}\n${unit.unit}`, unit);
    }
  }

  isFact(table: string): boolean {
    return this.facts.has(table);
  }

  factsOn(table: string, partition: string): readonly BatchFile[] {
    return this.facts.get(table)?.get(partition) ?? [];
  }

  allFacts(table: string): readonly BatchFile[] {
    return [...(this.facts.get(table)?.values() ?? [])].flat();
  }

  unit(table: string, unit: string): DerivedUnit | undefined {
    return this.derived.get(table)?.get(unit);
  }

  units(table: string): readonly DerivedUnit[] {
    return [...(this.derived.get(table)?.values() ?? [])];
  }

  set(unit: DerivedUnit): void {
    this.put(unit);
    this.touched.add(`${unit.table}\n${unit.unit}`);
  }

  /** Forgets units of a table that no longer exist: a bill taken back, a day without facts. */
  keepOnly(table: string, units: ReadonlySet<string>): void {
    for (const unit of this.units(table)) if (!units.has(unit.unit)) this.derived.get(table)?.delete(unit.unit);
  }

  /** What a commit has to change in the manifest. */
  changes(): { setDerived: DerivedUnit[]; dropDerived: { table: string; unit: string }[] } {
    const setDerived = [...this.touched].flatMap((key) => {
      const [table = '', unit = ''] = key.split('\n');
      const current = this.unit(table, unit);
      return current === undefined ? [] : [current];
    });
    const dropDerived = [...this.stored.values()]
      .filter(({ table, unit }) => this.unit(table, unit) === undefined)
      .map(({ table, unit }) => ({ table, unit }));
    return { setDerived, dropDerived };
  }

  private put(unit: DerivedUnit): void {
    const units = this.derived.get(unit.table) ?? new Map<string, DerivedUnit>();
    units.set(unit.unit, unit);
    this.derived.set(unit.table, units);
  }
}
