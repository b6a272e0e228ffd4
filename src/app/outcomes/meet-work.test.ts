import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meetWork } from './meet-work.ts';
import type { PaidHolding } from './paid-holdings.ts';
import type { WorkDone } from './work-done.ts';

const USD = 1_000_000n;

function holding(name: string, more: Partial<PaidHolding> = {}): PaidHolding {
  return {
    subject: `job kubernetes/uid-${name}/0`,
    source: 'kubernetes',
    allocationId: `uid-${name}`,
    cluster: 'k',
    namespace: 'serving',
    workloadName: name,
    runLabel: null,
    team: 'web',
    class: 'inference',
    heldSeconds: 3600n,
    usdMicros: 100n * USD,
    activeUsdMicros: 60n * USD,
    unknownUsdMicros: 0n,
    gpuUnits: 63_000n * 3600n,
    computingUnits: 0n,
    unknownUnits: 0n,
    unpricedUnits: 0n,
    ...more,
  };
}

function work(more: Partial<WorkDone> = {}): WorkDone {
  return {
    source: 'vllm',
    workId: 'w',
    unit: 'token',
    allocationId: null,
    run: null,
    modelName: 'chat-8b',
    namespace: null,
    pod: null,
    nodeId: null,
    quantityMillionths: USD,
    seconds: 3600n,
    ...more,
  };
}

const costs = (
  works: readonly WorkDone[],
  holdings: readonly PaidHolding[],
  onNodes: Parameters<typeof meetWork>[2] = [],
) =>
  meetWork(works, holdings, onNodes).achieved.map(({ modelName, run, paid }) => [
    modelName ?? run,
    paid?.usdMicros === undefined || paid.usdMicros === null ? null : paid.usdMicros / USD,
  ]);

describe('work meets what was held', () => {
  const two = [holding('chat'), holding('chat-large')];
  const cases: Record<string, { works: readonly WorkDone[]; holdings: readonly PaidHolding[]; want: unknown }> = {
    'by the pod’s uid': { works: [work({ allocationId: 'uid-chat' })], holdings: two, want: [['chat-8b', 100n]] },
    'by the pod’s owner, the longest name that is known': {
      works: [work({ namespace: 'serving', pod: 'chat-large-7f9c-x2x4l' })],
      holdings: two,
      want: [['chat-8b', 100n]],
    },
    'never by a pod of another namespace': {
      works: [work({ namespace: 'other', pod: 'chat-0' })],
      holdings: two,
      want: [['chat-8b', null]],
    },
    'all replicas of a service are its cost': {
      works: [work({ allocationId: 'uid-chat' })],
      holdings: [holding('chat'), holding('chat', { subject: 'job kubernetes/uid-2/0', allocationId: 'uid-2' })],
      want: [['chat-8b', 200n]],
    },
    'by the run’s name, over all jobs of that name': {
      works: [work({ modelName: null, run: 'sft', unit: 'step' })],
      holdings: [
        holding('sft', { class: 'training' }),
        holding('sft', { class: 'training', subject: 'job kubernetes/uid-2/0', allocationId: 'uid-2' }),
      ],
      want: [['sft', 200n]],
    },
    'two models of one pod share by tokens': {
      works: [
        work({ allocationId: 'uid-chat', workId: 'a', quantityMillionths: 3n * USD }),
        work({ allocationId: 'uid-chat', workId: 'b', modelName: 'tiny', quantityMillionths: USD }),
      ],
      holdings: two,
      want: [
        ['chat-8b', 75n],
        ['tiny', 25n],
      ],
    },
    'two models that count nothing alike cannot be told apart': {
      works: [
        work({ allocationId: 'uid-chat', unit: 'token' }),
        work({ allocationId: 'uid-chat', modelName: 'resnet', unit: 'inference' }),
      ],
      holdings: two,
      want: [
        ['chat-8b', null],
        ['resnet', null],
      ],
    },
    'nor can two that did nothing': {
      works: [
        work({ allocationId: 'uid-chat', quantityMillionths: 0n }),
        work({ allocationId: 'uid-chat', modelName: 'tiny', quantityMillionths: 0n }),
      ],
      holdings: two,
      want: [
        ['chat-8b', null],
        ['tiny', null],
      ],
    },
    'work that nobody is known to have done has no cost': { works: [work()], holdings: two, want: [['chat-8b', null]] },
  };
  it.each(Object.entries(cases))('%s', (_, { works, holdings, want }) => {
    expect(costs(works, holdings)).toEqual(want);
  });

  it('by machine, where there is neither pod nor job', () => {
    const bare = holding('x', {
      subject: 'node gpu-1',
      source: null,
      allocationId: null,
      workloadName: null,
      class: null,
    });
    const onNodes = [{ nodeId: 'gpu-1', subject: 'node gpu-1' }];
    expect(costs([work({ nodeId: 'gpu-1' })], [bare], onNodes)).toEqual([['chat-8b', 100n]]);
    expect(costs([work({ nodeId: 'gpu-2' })], [bare], onNodes)).toEqual([['chat-8b', null]]);
  });

  it('prompt and generation are tokens together, unless somebody counts those', () => {
    const units = (works: readonly WorkDone[]) => meetWork(works, [], []).achieved[0]?.units.get('token');
    const parts = [work({ unit: 'prompt_token' }), work({ unit: 'generation_token', quantityMillionths: 2n * USD })];
    expect(units(parts)).toBe(3n * USD);
    expect(units([...parts, work({ unit: 'token', quantityMillionths: 7n * USD })])).toBe(7n * USD);
  });

  it.each([
    { name: 'counters of one pod cover the same time', place: { namespace: 'serving', pod: 'chat-0' }, want: 3600n },
    { name: 'those of a job cover one after the other', place: { allocationId: 'uid-chat' }, want: 7200n },
  ])('$name', ({ place, want }) => {
    const works = ['a', 'b'].map((workId) => work({ ...place, workId }));
    expect(meetWork(works, [holding('chat')], []).achieved.map((each) => each.countedSeconds)).toEqual([want]);
  });

  it('inference without a counter is shown as such, training is not', () => {
    const { uncounted } = meetWork([], [holding('chat'), holding('sft', { class: 'training' })], []);
    expect(uncounted.map(({ name }) => name)).toEqual(['chat']);
  });

  it('never gives more or less money away than was paid, to the micro', () => {
    const weights = fc.array(fc.bigInt({ min: 0n, max: 10n ** 15n }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }), (quantities, usdMicros) => {
        fc.pre(quantities.some((quantity) => quantity > 0n));
        const works = quantities.map((quantityMillionths, place) =>
          work({ allocationId: 'uid-chat', workId: String(place), modelName: `m${place}`, quantityMillionths }),
        );
        const { achieved } = meetWork(works, [holding('chat', { usdMicros })], []);
        const sum = achieved.reduce((total, { paid }) => total + (paid?.usdMicros ?? 0n), 0n);
        expect(sum).toBe(usdMicros);
      }),
    );
  });
});
