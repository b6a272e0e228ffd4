import { createHash, randomBytes } from 'node:crypto';
import { nearestName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { TokenRecord } from '../../facts/token-record.ts';
import { ROLES } from '../../facts/viewer.ts';
import type { Role, Viewer } from '../../facts/viewer.ts';
import { openManifest } from '../../state/manifest.ts';
import { openTokenWriter } from '../../state/token-store.ts';
import { LENGTH_OF_TIME, lengthSeconds } from '../config/length-of-time.ts';

export const TOKEN_PREFIX = 'bsr_';
/** 192 bits: nobody guesses one, so its hash needs no salt and can be looked up. */
const TOKEN_BYTES = 24;
/** A token that nobody remembers ends by itself. */
const USUAL_EXPIRY = '90d';
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@ -]{0,63}$/u;

export interface TokenWish {
  readonly name: string;
  readonly role: string;
  readonly team?: string;
  /** 90d, 12h, never; 90 days where not said. */
  readonly expires?: string;
}

/** A token that was just made. Nobody can show it again. */
export interface MadeToken {
  readonly token: string;
  readonly record: TokenRecord;
}

/** Makes a token and keeps its hash. */
export async function createToken(dataDir: string, wish: TokenWish, now: Date): Promise<MadeToken> {
  const name = wish.name.trim();
  if (!NAME.test(name)) {
    throw new OperationError('bad-option', `"${name}" is no name for a token`, {
      hint: 'Letters, digits, spaces and . _ @ -, up to 64 of them: --name grafana',
    });
  }
  const team = wish.team?.trim();
  if (team === '') throw new OperationError('bad-option', '--team is empty', { hint: 'For example --team nlp.' });
  const expiresAt = expiryOf(wish.expires ?? USUAL_EXPIRY, now);
  const role = roleOf(wish.role);
  const token = `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const writer = await openTokenWriter(dataDir, now);
  try {
    const record = writer.create({
      name,
      role,
      team: team ?? null,
      createdAt: now.toISOString(),
      expiresAt: expiresAt?.toISOString() ?? null,
      hash: hashOf(token),
    });
    if (record !== undefined) return { token, record };
    throw new OperationError('token-exists', `a token named ${name} is in force`, {
      hint: `Choose another --name, or first: bursar token revoke '${name}'`,
    });
  } finally {
    writer.close();
  }
}

/** Every token there ever was. */
export async function listTokens(dataDir: string): Promise<readonly TokenRecord[]> {
  const manifest = await openManifest(dataDir, { readOnly: true, now: () => new Date() });
  try {
    return manifest.tokens.records();
  } finally {
    manifest.close();
  }
}

/** Takes a token's rights away, by its name or by its number (T-3). */
export async function revokeToken(dataDir: string, which: string, now: Date): Promise<TokenRecord> {
  const writer = await openTokenWriter(dataDir, now);
  try {
    const inForce = writer.records().filter((record) => record.revokedAt === null);
    const number = /^t-(\d+)$/i.exec(which.trim())?.[1];
    const found =
      inForce.findLast(({ name }) => name === which.trim()) ??
      inForce.find((record) => record.number === Number(number ?? -1));
    const revoked = found === undefined ? undefined : writer.revoke(found.number, now.toISOString());
    if (revoked !== undefined) return revoked;
    const near = nearestName(
      which,
      inForce.map(({ name }) => name),
    );
    throw new OperationError('unknown-token', `no token ${which} is in force`, {
      hint: `${near === undefined ? '' : `Nearest: ${near}. `}bursar token list shows them.`,
    });
  } finally {
    writer.close();
  }
}

/** By which a token is kept and found: the database compares hashes, and how long that takes says nothing about the token. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

export function viewerOf({ name, role, team }: TokenRecord): Viewer {
  return { name, role, team: team ?? undefined };
}

function roleOf(text: string): Role {
  const role = ROLES.find((each) => each === text);
  if (role !== undefined) return role;
  throw new OperationError('bad-option', `there is no role "${text}"`, { hint: `One of ${ROLES.join(', ')}.` });
}

function expiryOf(text: string, now: Date): Date | undefined {
  if (text.trim() === 'never') return undefined;
  const seconds = LENGTH_OF_TIME.test(text.trim()) ? lengthSeconds(text.trim()) : 0;
  if (seconds > 0) return new Date(now.getTime() + seconds * 1000);
  throw new OperationError('bad-time', `--expires: "${text}" is no length of time`, {
    hint: 'For example --expires 90d, or --expires never.',
  });
}
