import { randomBytes } from 'node:crypto';

export const SESSION_COOKIE = 'bursar_session';
export const SESSION_SECONDS = 12 * 3600;
const SESSIONS_MAX = 1000;

/** Browsers that have signed in, by a secret of their own: the token itself is not kept in a browser. */
export interface Sessions {
  /** Opens one for the token with this hash. */
  open(tokenHash: string): string;
  /** The hash of the token behind a session. */
  tokenHash(session: string): string | undefined;
  end(session: string): void;
}

/** Sessions live as long as the server: after a restart people sign in again. */
export function memorySessions(now: () => Date): Sessions {
  const sessions = new Map<string, { readonly tokenHash: string; readonly endsMs: number }>();
  return {
    open(tokenHash) {
      const session = randomBytes(32).toString('base64url');
      sessions.set(session, { tokenHash, endsMs: now().getTime() + SESSION_SECONDS * 1000 });
      const [oldest] = sessions.keys();
      if (sessions.size > SESSIONS_MAX && oldest !== undefined) sessions.delete(oldest);
      return session;
    },
    tokenHash(session) {
      const found = sessions.get(session);
      if (found === undefined || found.endsMs > now().getTime()) return found?.tokenHash;
      sessions.delete(session);
      return undefined;
    },
    end: (session) => void sessions.delete(session),
  };
}
