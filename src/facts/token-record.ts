import type { Role } from './viewer.ts';

/** What is kept of a token: never the token itself. */
export interface TokenRecord {
  /** 3 of T-3; never used twice. */
  readonly number: number;
  readonly name: string;
  readonly role: Role;
  /** Set: its bearer sees this team's money and the fleet's totals. */
  readonly team: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

export interface NewToken extends Pick<TokenRecord, 'name' | 'role' | 'team' | 'createdAt' | 'expiresAt'> {
  /** SHA-256 of the token, in hexadecimal digits. */
  readonly hash: string;
}

export interface TokenStore {
  records(): readonly TokenRecord[];
  /** The token with this hash, also one that is revoked or has expired. */
  byHash(hash: string): TokenRecord | undefined;
}

/** The part of it that writes, in short transactions of its own, beside whoever holds the lake. */
export interface TokenWriter extends TokenStore {
  /** Undefined where a token of that name is in force. */
  create(token: NewToken): TokenRecord | undefined;
  /** Revokes by number; undefined where there is none that is in force. */
  revoke(number: number, at: string): TokenRecord | undefined;
  close(): void;
}

export type TokenState = 'in force' | 'expired' | 'revoked';

export function tokenState({ revokedAt, expiresAt }: TokenRecord, now: Date): TokenState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && new Date(expiresAt) <= now ? 'expired' : 'in force';
}
