import { expect, it } from 'vitest';
import { watchEvent } from './watch-event.ts';

const line = (type: string, object: unknown): string => JSON.stringify({ type, object });
const pod = { metadata: { name: 'p', resourceVersion: '7' } };

const cases: Record<string, { given: string; want: object }> = {
  'a new pod': { given: line('ADDED', pod), want: { type: 'seen', resourceVersion: '7' } },
  'a changed pod': { given: line('MODIFIED', pod), want: { type: 'seen', object: pod } },
  'a pod that is gone': { given: line('DELETED', pod), want: { type: 'deleted', object: pod } },
  'how far the server is': { given: line('BOOKMARK', pod), want: { type: 'bookmark', resourceVersion: '7' } },
  'a version it no longer knows, by code': { given: line('ERROR', { code: 410 }), want: { type: 'expired' } },
  'or by reason': { given: line('ERROR', { reason: 'Expired' }), want: { type: 'expired' } },
  'any other trouble': {
    given: line('ERROR', { code: 500, message: 'etcd' }),
    want: { type: 'error', message: 'etcd' },
  },
  'an event without a version': { given: line('ADDED', {}), want: { type: 'error' } },
  'an event of a later Kubernetes': { given: line('PAUSED', pod), want: { type: 'error' } },
  'half a line': { given: '{"type":"ADD', want: { type: 'error' } },
};

for (const [name, { given, want }] of Object.entries(cases)) {
  it(name, () => expect(watchEvent(given)).toMatchObject(want));
}
