import { hashOf } from '../chance.ts';
import { uuidOf } from '../fleet/machines.ts';
import type { Job } from '../organisation.ts';
import type { Pool } from '../world/world-schema.ts';

/**
 * Ids as each scheduler gives them: Slurm counts its jobs, a pod has a uid, a machine of one's own a name. The Slurm
 * clusters of an organisation count together, as federated ones do: two jobs of one id would be one to whoever reads.
 */
export class JobNames {
  #lastOfSlurm: number;

  constructor(seed: number) {
    this.#lastOfSlurm = 100_000 + (hashOf([seed, 'slurm']) % 700_000);
  }

  idOf(pool: Pool, name: string, key: Job['key']): string {
    switch (pool.scheduler) {
      case 'none':
        return name;
      case 'kubernetes':
        return uuidOf([...key, 'uid']);
      case 'slurm':
        this.#lastOfSlurm += 1;
        return String(this.#lastOfSlurm);
    }
  }
}
