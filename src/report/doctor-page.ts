import type { SourceHealth, SourceKind } from '../facts/source.ts';
import { counted } from './figures.ts';
import type { NotRead } from './first-look-lines.ts';
import { notReadLines } from './first-look-lines.ts';
import { safeText } from './safe-text.ts';

export interface DoctoredSource {
  readonly name: string;
  readonly kind: SourceKind;
  readonly reads: string;
  readonly health: SourceHealth;
  readonly tookMs: number;
}

/** Something beside the sources: the folder, the disk, the clock. */
export interface PlaceHealth {
  readonly what: string;
  readonly state: 'ok' | 'attention' | 'wrong';
  readonly says: string;
  readonly todo?: string;
}

export interface DoctorReport {
  readonly sources: readonly DoctoredSource[];
  readonly places: readonly PlaceHealth[];
}

/** A circle is fine, a triangle wants attention, a square is wrong; the word says it too. */
const MARKS = {
  ok: '● ok       ',
  partial: '▲ partial  ',
  attention: '▲ attention',
  down: '■ down     ',
  wrong: '■ wrong    ',
};

/** How each source is, what is missing, what to do: what to do stands under what is wrong. */
export function doctorPage({ sources, places }: DoctorReport, notRead: readonly NotRead[], hasLooked = true): string[] {
  return [
    verdict(sources, hasLooked),
    ...sources.flatMap(({ name, reads, health }) => [
      `${MARKS[health.state]}  ${safeText(name)}: ${safeText(health.says)}`,
      `               ${safeText(reads)}`,
      ...todoLine(health.todo),
      ...health.advice.flatMap(({ missing, sharpens, todo }) => [
        `               missing: ${safeText(missing)}; it ${safeText(sharpens)}`,
        `               → ${safeText(todo)}`,
      ]),
    ]),
    ...places.flatMap(({ what, state, says, todo }) => [
      `${MARKS[state]}  ${what}: ${safeText(says)}`,
      ...todoLine(todo),
    ]),
    ...notReadLines(notRead),
  ];
}

function verdict(sources: readonly DoctoredSource[], hasLooked: boolean): string {
  if (sources.length === 0)
    return hasLooked ? 'No source is configured and none was found.' : 'bursar.yaml names no source.';
  const count = (state: SourceHealth['state']): number => sources.filter(({ health }) => health.state === state).length;
  const [down, partial] = [count('down'), count('partial')];
  if (down === sources.length) return `None of ${counted(sources.length, 'source')} works.`;
  if (down + partial === 0) return `${counted(sources.length, 'source')}, all working.`;
  const words = [down > 0 ? `${down} down` : '', partial > 0 ? `${partial} with something missing` : ''];
  return `${counted(sources.length, 'source')}: ${words.filter((word) => word !== '').join(', ')}.`;
}

function todoLine(todo: string | undefined): string[] {
  return todo === undefined ? [] : [`               → ${safeText(todo)}`];
}

export function doctorJson({ sources, places }: DoctorReport, notRead: readonly NotRead[]): object {
  return {
    sources: sources.map(({ health, ...source }) => ({ ...source, ...health, todo: health.todo ?? null })),
    places: places.map((place) => ({ ...place, todo: place.todo ?? null })),
    notRead,
  };
}

/** Whether anything works at all. */
export function anythingWorks({ sources }: DoctorReport): boolean {
  return sources.some(({ health }) => health.state !== 'down');
}
