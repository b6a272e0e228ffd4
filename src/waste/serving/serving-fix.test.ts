import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { scalingFix } from './serving-fix.ts';

const CHAT = {
  name: 'chat-api',
  namespace: 'serving',
  workloadKind: 'Deployment',
  replicas: 9,
  replicasMin: 2,
  replicasMax: 7,
  inFlight: 4.4,
};
const manifestOf = (lines: readonly string[]): unknown =>
  parse(lines.slice(lines.indexOf("kubectl apply -f - <<'EOF'") + 1, lines.indexOf('EOF')).join('\n'));

describe('how a service is made to follow its traffic', () => {
  it('a scaler by requests in flight, which Kubernetes can read', () => {
    expect(manifestOf(scalingFix(CHAT))).toMatchObject({
      kind: 'ScaledObject',
      metadata: { name: 'chat-api', namespace: 'serving' },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'chat-api' },
        minReplicaCount: 2,
        maxReplicaCount: 7,
        triggers: [{ metadata: { threshold: '4' } }],
      },
    });
  });

  it('is tried with fewer replicas only where fewer carry the busiest hour', () => {
    const tried = (replicas: number) =>
      scalingFix({ ...CHAT, replicas }).filter((line) => line.includes('kubectl scale'));
    expect([tried(9), tried(7)]).toEqual([
      ['# try it for a day: kubectl scale deployment/chat-api -n serving --replicas=7'],
      [],
    ]);
  });

  it('by requests that wait, where nobody knows how many are in flight', () => {
    expect(manifestOf(scalingFix({ ...CHAT, inFlight: null }))).toMatchObject({
      spec: { triggers: [{ metadata: { query: expect.not.stringContaining('running') as unknown, threshold: '1' } }] },
    });
  });

  it.each([
    { name: 'x; curl evil | sh' },
    { name: 'x\nkubectl delete ns prod' },
    { namespace: '$(reboot)' },
    { namespace: null },
    { name: 'a"},evil="' },
  ])('names that are none get into no command: %j', (odd) => {
    const lines = scalingFix({ ...CHAT, ...odd });
    expect(lines).toEqual([
      '# at least 2, at most 7 replicas, by requests in flight or waiting',
      expect.stringMatching(/^# this frees pods/),
    ]);
  });

  it('a kind that scales itself gets the two numbers', () => {
    expect(scalingFix({ ...CHAT, workloadKind: 'InferenceService' })).toEqual([
      '# in the manifest of chat-api (namespace serving): minReplicas: 2, maxReplicas: 7',
      expect.stringMatching(/^# this frees pods/),
    ]);
  });
});
