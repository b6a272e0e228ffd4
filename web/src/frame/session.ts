import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { ask, Problem, tell } from '../ask.ts';

/** Who one is to the server. */
export interface Session {
  readonly name: string;
  readonly role: 'viewer' | 'operator' | 'admin';
  /** Set: this team's money and the fleet's totals, nothing else. */
  readonly team: string | null;
  /** False on loopback, where nobody has to. */
  readonly signedIn: boolean;
}

const UNAUTHORISED = 401;

/** True once the server has refused an answer for want of a token: at the start, or because one was revoked meanwhile. */
export function useNeedsToken(): boolean {
  const client = useQueryClient();
  const listen = useCallback((changed: () => void) => client.getQueryCache().subscribe(changed), [client]);
  return useSyncExternalStore(listen, () =>
    client
      .getQueryCache()
      .getAll()
      .some(({ state }) => state.error instanceof Problem && state.error.status === UNAUTHORISED),
  );
}

function useSessionQuery() {
  return useQuery({
    queryKey: ['session'],
    queryFn: async () => (await ask<Session>('/api/v1/session')).data,
    retry: false,
  });
}

export function useSession(): Session | undefined {
  return useSessionQuery().data;
}

/**
 * Whether one sees the whole fleet; undefined until the server has said. What a viewer of one team would be refused is not asked for.
 * Where the server does not say, it is asked all the same: its refusal has the words.
 */
export function useSeesFleet(): boolean | undefined {
  const { data, isPending } = useSessionQuery();
  if (isPending) return undefined;
  return data === undefined || data.team === null;
}

/** Signs in with a token; the session is a cookie that no script can read. Throws what the server says where it is wrong. */
export async function signIn(token: string): Promise<void> {
  await tell<Session>('/session', { token });
}

/** Ends the session; nothing of what was seen stays in the page. */
export async function signOut(): Promise<void> {
  await fetch('/api/v1/session', { method: 'DELETE' });
  location.reload();
}
