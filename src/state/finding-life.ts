import type { FindingChange, FindingLook, FindingRecord, FindingWish } from '../facts/finding-record.ts';

/** A record as it is after a look or a wish, and what to write down about it. */
export interface FindingStep {
  readonly record: FindingRecord;
  readonly change: FindingChange | undefined;
}

/**
 * Question: what do the data say about a finding that has a number?
 *
 * Fixed is seen, never claimed: the facts have gone on since it was last claimed, its sensors still speak, and nobody claims it any
 * more. What people have set aside stays so whatever the data say, an exemption until its last day is over; and what they said of one
 * that is fixed is there when it is back.
 */
export function afterLook(
  record: FindingRecord,
  claimed: FindingLook['claimed'][number] | undefined,
  look: Pick<FindingLook, 'at' | 'silentKeys' | 'isForOneTeam'>,
): FindingStep {
  const said = (change: FindingChange['change'], detail: string | null = null): FindingChange => ({
    at: look.at,
    by: null,
    change,
    detail,
  });
  const seen: FindingRecord =
    claimed === undefined || (record.lastSeenAt === look.at && record.what === claimed.what)
      ? record
      : { ...record, what: claimed.what, subjects: claimed.subjects, lastSeenAt: look.at };
  const isOver = record.state === 'exempt' && record.until !== null && record.until < look.at.slice(0, 10);
  if (isOver) {
    const open: FindingRecord = { ...seen, state: 'open', until: null, reason: null, by: null };
    return { record: open, change: said('exemption over', `it ran to ${record.until}`) };
  }
  if (claimed !== undefined) {
    if (record.state !== 'fixed') return { record: seen, change: undefined };
    return { record: { ...seen, state: 'back' }, change: said('back') };
  }
  const isWorkedOn = record.state === 'open' || record.state === 'back' || record.state === 'accepted';
  const hasGoneOn = look.at > record.lastSeenAt && !look.silentKeys.has(record.key);
  if (!isWorkedOn || !hasGoneOn || look.isForOneTeam === true) return { record, change: undefined };
  const detail = `last seen ${record.lastSeenAt.slice(0, 16).replace('T', ' ')}`;
  return { record: { ...record, state: 'fixed' }, change: said('fixed', detail) };
}

/** What a finding is after somebody said something of it. */
export function afterWish(record: FindingRecord, wish: FindingWish): FindingStep {
  const { at, by, change, detail, until } = wish;
  const step = (changed: Partial<FindingRecord>, told = detail): FindingStep => ({
    record: { ...record, ...changed },
    change: { at, by, change, detail: told },
  });
  switch (change) {
    case 'assign':
      return step({ assignedTo: detail });
    case 'accept':
      return step({ state: 'accepted', until: null, reason: detail, by });
    case 'exempt':
      return step({ state: 'exempt', until, reason: detail, by }, `until ${until}: ${detail}`);
    case 'dismiss':
      return step({ state: 'dismissed', until: null, reason: detail, by });
    case 'reopen':
      if (record.state === 'open') return { record, change: undefined };
      return step({ state: 'open', until: null, reason: detail, by });
  }
}
