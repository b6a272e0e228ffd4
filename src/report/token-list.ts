import type { TokenRecord } from '../facts/token-record.ts';
import { tokenState } from '../facts/token-record.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';

export function tokenJson(record: TokenRecord, now: Date): object {
  const { number, ...rest } = record;
  return { id: `T-${number}`, ...rest, state: tokenState(record, now) };
}

/** One line a token, those in force first. */
export function tokenTable(records: readonly TokenRecord[], now: Date): string[] {
  if (records.length === 0) {
    return ['There is no token.', 'Next: bursar token create --name NAME --role viewer'];
  }
  const inForce = records.filter((record) => tokenState(record, now) === 'in force');
  const rest = records.filter((record) => !inForce.includes(record));
  const day = (time: string | null): string => time?.slice(0, 10) ?? '';
  const rows = [...inForce, ...rest].map((record) => [
    `T-${record.number}`,
    safeText(record.name),
    record.role,
    record.team === null ? 'all' : safeText(record.team),
    day(record.createdAt),
    record.expiresAt === null ? 'never' : day(record.expiresAt),
    tokenState(record, now) === 'revoked' ? `revoked ${day(record.revokedAt)}` : tokenState(record, now),
  ]);
  const titles = ['TOKEN', 'NAME', 'ROLE', 'SEES', 'MADE', 'EXPIRES', 'STATE'];
  return textTable(
    titles.map((title) => ({ align: 'left' as const, title })),
    rows,
  );
}
