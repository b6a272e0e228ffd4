/** What a category means, and which fields of which sources decide it; the words of docs/GLOSSARY.md and src/ledger/README.md. */
export const DEFINITIONS: Readonly<Record<string, { readonly means: string; readonly from: string }>> = {
  beside: {
    means: 'Storage, transfer, network, hosts without GPUs, tax and support: no GPU’s.',
    from: 'ServiceCategory and ChargeCategory of the bill',
  },
  stranded: {
    means: 'Paid for under a commitment or owned, and no machine of it runs.',
    from: 'CommitmentDiscountStatus of the bill, presence of the inventory',
  },
  unallocated: {
    means: 'The GPU is up and nobody has it.',
    from: 'inventory and scheduler: no allocation holds it',
  },
  unknown: {
    means: 'Held, and no sample covers the time, or signals disagree. Never counted as idle.',
    from: 'gaps between samples; engine beside utilisation and power',
  },
  idle: {
    means: 'Held while no kernel ran: engine active below 1%.',
    from: 'PROF_GR_ENGINE_ACTIVE, else SM, else GPU_UTIL; POWER_USAGE must agree; time without samples is not in it',
  },
  starved: {
    means:
      'Held by work that computes and stood still: gaps and pauses between kernels, waiting for input or for others.',
    from: 'the pattern of engine activity within a run, CPU and exchange signals where known',
  },
  lost: {
    means:
      'Computed, and thrown away: the attempt failed, was preempted, or repeated what was done since its last save.',
    from: 'outcome and checkpoints of the attempt',
  },
  computing: {
    means: 'What remains: seconds in which kernels ran and whose work was kept.',
    from: 'PROF_GR_ENGINE_ACTIVE, else SM, else GPU_UTIL',
  },
};
