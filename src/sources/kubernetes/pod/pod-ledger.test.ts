import { describe, expect, it } from 'vitest';
import { PodLedger } from './pod-ledger.ts';

const NOW_S = Date.parse('2026-11-16T10:00:00Z') / 1000;
const at = (time: string): string => `2026-11-16T${time}Z`;
const seconds = (time: string): number => Date.parse(at(time)) / 1000;

interface Wish {
  readonly phase?: string;
  readonly finished?: string | null;
  readonly exitReason?: string;
  readonly reason?: string;
  readonly disruption?: string;
  readonly deletion?: string;
  readonly graceS?: number;
  readonly node?: string | null;
}

/** A pod with one GPU, bound at 09:00:00. */
function pod({
  phase = 'Running',
  finished,
  exitReason,
  reason,
  disruption,
  deletion,
  graceS,
  node = 'n1',
}: Wish = {}) {
  const state =
    finished === undefined
      ? { running: { startedAt: at('09:00:02') } }
      : { terminated: { finishedAt: finished === null ? null : at(finished), reason: exitReason ?? 'Error' } };
  return {
    metadata: {
      uid: 'u1',
      name: 'p',
      namespace: 'nlp',
      creationTimestamp: at('08:59:00'),
      ...(deletion !== undefined && { deletionTimestamp: at(deletion), deletionGracePeriodSeconds: graceS ?? 0 }),
    },
    spec: {
      ...(node !== null && { nodeName: node }),
      containers: [{ name: 'c', resources: { limits: { 'nvidia.com/gpu': '1' } } }],
    },
    status: {
      phase,
      reason,
      conditions: [
        ...(node === null ? [] : [{ type: 'PodScheduled', status: 'True', lastTransitionTime: at('09:00:00') }]),
        ...(disruption === undefined
          ? []
          : [{ type: 'DisruptionTarget', status: 'True', reason: disruption, lastTransitionTime: at('09:40:00') }]),
      ],
      containerStatuses: [{ name: 'c', state }],
    },
  };
}

type Event = readonly ['seen' | 'deleted', ReturnType<typeof pod>];
const seen = (wish?: Wish): Event => ['seen', pod(wish)];
const deleted = (wish?: Wish): Event => ['deleted', pod(wish)];

const cases: Record<
  string,
  { events: readonly Event[]; want: readonly [until: string, outcome: string] | 'open' | 'nothing' }
> = {
  'it runs': { events: [seen()], want: 'open' },
  'it completes': {
    events: [seen(), seen({ phase: 'Succeeded', finished: '09:30:00' })],
    want: ['09:30:00', 'completed'],
  },
  'it fails': { events: [seen({ phase: 'Failed', finished: '09:30:00' })], want: ['09:30:00', 'failed'] },
  'it runs out of memory': {
    events: [seen({ phase: 'Failed', finished: '09:30:00', exitReason: 'OOMKilled' })],
    want: ['09:30:00', 'out-of-memory'],
  },
  'it takes too long': {
    events: [seen({ phase: 'Failed', finished: '09:30:00', reason: 'DeadlineExceeded' })],
    want: ['09:30:00', 'timeout'],
  },
  'asked to go, it still has its GPU': { events: [seen({ deletion: '09:30:30', graceS: 30 })], want: 'open' },
  'until its containers have ended': {
    events: [
      seen({ deletion: '09:30:30', graceS: 30 }),
      seen({ deletion: '09:30:30', graceS: 30, phase: 'Failed', finished: '09:30:12' }),
      deleted({ deletion: '09:30:14', phase: 'Failed', finished: '09:30:12' }),
    ],
    want: ['09:30:12', 'cancelled'],
  },
  'one that ends well when told to is cancelled all the same': {
    events: [
      seen({ deletion: '09:30:30', graceS: 30 }),
      deleted({ deletion: '09:30:14', phase: 'Succeeded', finished: '09:30:12' }),
    ],
    want: ['09:30:12', 'cancelled'],
  },
  'one that was over before somebody cleaned up was not cancelled': {
    events: [
      seen({ phase: 'Succeeded', finished: '09:30:00' }),
      deleted({ deletion: '09:50:00', phase: 'Succeeded', finished: '09:30:00' }),
    ],
    want: ['09:30:00', 'completed'],
  },
  'nor one that had failed': {
    events: [
      seen({ phase: 'Failed', finished: '09:30:00' }),
      deleted({ deletion: '09:50:00', phase: 'Failed', finished: '09:30:00' }),
    ],
    want: ['09:30:00', 'failed'],
  },
  'deleted by force it is gone at that second': {
    events: [seen(), deleted({ deletion: '09:30:00', graceS: 0 })],
    want: ['09:30:00', 'cancelled'],
  },
  'gone without a last word, at the latest when its patience was over': {
    events: [seen(), deleted({ deletion: '09:30:30', graceS: 30 })],
    want: ['09:30:30', 'cancelled'],
  },
  'gone without any word, when it was noticed': { events: [seen(), deleted()], want: ['10:00:00', 'cancelled'] },
  'pushed aside by the scheduler': {
    events: [
      deleted({ deletion: '09:40:05', phase: 'Failed', finished: '09:40:03', disruption: 'PreemptionByScheduler' }),
    ],
    want: ['09:40:03', 'preempted'],
  },
  'evicted by a drain': {
    events: [
      deleted({ deletion: '09:40:05', phase: 'Failed', finished: '09:40:03', disruption: 'EvictionByEvictionAPI' }),
    ],
    want: ['09:40:03', 'preempted'],
  },
  'evicted by its kubelet, which keeps no container': {
    events: [seen({ phase: 'Failed', finished: null, reason: 'Evicted', disruption: 'TerminationByKubelet' })],
    want: ['09:40:00', 'preempted'],
  },
  'its node is lost: over when somebody noticed, though a container seems to run': {
    events: [seen({ phase: 'Failed', disruption: 'DeletionByPodGC' })],
    want: ['09:40:00', 'node-fail'],
  },
  'it never had a machine': {
    events: [seen({ phase: 'Pending', node: null }), deleted({ phase: 'Pending', node: null })],
    want: 'nothing',
  },
};

describe('how a pod ends', () => {
  for (const [name, { events, want }] of Object.entries(cases)) {
    it(name, () => {
      const ledger = new PodLedger({ live: [], leaving: {} }, NOW_S);
      for (const [type, json] of events) ledger[type](json);
      const told = ledger.ended.map(({ untilS, outcome }) => [untilS, outcome]);
      const [until, outcome] = Array.isArray(want) ? want : [];
      expect(told).toEqual(until === undefined ? [] : [[seconds(until), outcome]]);
      expect(ledger.live.size).toBe(want === 'open' ? 1 : 0);
    });
  }

  it('is told the same when its last events come in a later pull', () => {
    const events = [
      seen({ deletion: '09:30:30', graceS: 30 }),
      seen({ deletion: '09:30:30', graceS: 30, phase: 'Failed', finished: '09:30:12' }),
      deleted({ deletion: '09:30:14', phase: 'Failed', finished: '09:30:12' }),
    ];
    let kept: ConstructorParameters<typeof PodLedger>[0] = { live: [], leaving: {} };
    const told = events.flatMap(([type, json]) => {
      const ledger = new PodLedger(kept, NOW_S);
      ledger[type](json);
      kept = { live: [...ledger.live.values()], leaving: Object.fromEntries(ledger.leaving) };
      return ledger.ended.map(({ untilS, outcome }) => [untilS, outcome]);
    });
    expect(told).toEqual([
      [seconds('09:30:12'), 'cancelled'],
      [seconds('09:30:12'), 'cancelled'],
    ]);
    expect(kept).toEqual({ live: [], leaving: {} });
  });

  it('is when it was last seen, and how nobody knows, where it vanished between two lists', () => {
    const ledger = new PodLedger({ live: [], leaving: {} }, NOW_S);
    ledger.seen(pod());
    ledger.vanished(new Set(), seconds('09:45:00'));
    expect(ledger.ended.map(({ untilS, outcome }) => [untilS, outcome])).toEqual([[seconds('09:45:00'), undefined]]);
  });
});

describe('pods that are left out', () => {
  it('are counted with their reason', () => {
    const ledger = new PodLedger({ live: [], leaving: {} }, NOW_S);
    const claimed = pod();
    ledger.seen({ ...claimed, spec: { nodeName: 'n1', containers: [{}], resourceClaims: [{ name: 'gpu' }] } });
    ledger.seen({ ...claimed, metadata: { ...claimed.metadata, namespace: 'kai-resource-reservation' } });
    ledger.seen({ ...claimed, metadata: { name: 'odd' } });
    expect(ledger.skipped.map(({ reason, count, example }) => [reason.slice(0, 24), count, example])).toEqual([
      ['asks for devices by reso', 1, 'nlp/p'],
      ['holds a GPU in the name ', 1, 'kai-resource-reservation/p'],
      ['a pod without uid, name,', 1, 'odd'],
    ]);
  });
});
