import { gpuSeconds, isoTime } from '../figures.ts';
import type { CategorySum } from '../look-screen.ts';
import { csvLine } from '../safe-text.ts';
import type { OpenedCategory, Share, WasteAnswer } from './waste-answer.ts';

/** The waterfall as `bursar waste --json` gives it. */
export function wasteJson(answer: WasteAnswer): unknown {
  const { window, before, computeShare, opened } = answer;
  return {
    asOf: isoTime(answer.asOf),
    asOfBy: answer.asOfBy,
    window: { from: isoTime(window.from), until: isoTime(window.until) },
    before: { from: isoTime(before.from), until: isoTime(before.until), isKnown: before.isKnown },
    filter: answer.filter,
    ...sumJson(answer.sum),
    computeShare: {
      permille: computeShare.money.permille,
      computingUsdMicros: computeShare.money.part,
      knownUsdMicros: computeShare.money.whole,
      hours: hoursJson(computeShare.hours),
    },
    basisUsdMicros: Object.fromEntries(answer.basisUsdMicros),
    categories: answer.categories.map(({ category, sum, reasons, before: earlier }) => ({
      category,
      ...sumJson(sum),
      before: earlier === undefined ? null : sumJson(earlier),
      reasons: reasons.map((each) => ({ reason: each.reason, ...sumJson(each.sum) })),
    })),
    by: answer.by,
    groups: answer.groups.map(({ values, sum, categories }) => ({
      ...Object.fromEntries(answer.by.map((name, place) => [name, values[place] ?? null])),
      ...sumJson(sum),
      categories: Object.fromEntries([...categories].map(([category, each]) => [category, sumJson(each)])),
    })),
    opened: opened === undefined ? null : openedJson(opened),
  };
}

function openedJson({ category, byTeam, byClass, rows, subjects }: OpenedCategory): unknown {
  return {
    category,
    byTeam: byTeam.map(({ value, sum }) => ({ team: value, ...sumJson(sum) })),
    byClass: byClass.map(({ value, sum }) => ({ class: value, ...sumJson(sum) })),
    subjects,
    rows: rows.map(({ sum, ...row }) => ({ ...row, ...sumJson(sum) })),
  };
}

function sumJson({ usdMicros, gpuUnits, unpricedUnits }: CategorySum): {
  usdMicros: bigint | null;
  gpuSeconds: number;
  unpricedSeconds: number;
} {
  return { usdMicros, gpuSeconds: gpuSeconds(gpuUnits), unpricedSeconds: gpuSeconds(unpricedUnits) };
}

function hoursJson({ part, whole, permille }: Share): unknown {
  return { permille, computingSeconds: gpuSeconds(part), knownSeconds: gpuSeconds(whole) };
}

/** One row for each category and reason; of each value of what it was asked by, one for each category; opened, its rows. */
export function wasteCsv(answer: WasteAnswer): string {
  const measures = ['usdMicros', 'gpuSeconds', 'unpricedSeconds'];
  const cells = (sum: CategorySum): (number | bigint | null)[] => Object.values(sumJson(sum));
  if (answer.opened !== undefined) {
    const names = ['category', 'subject', 'name', 'team', 'user', 'node', 'device', 'devices', 'firstDay', 'lastDay'];
    const rows = answer.opened.rows.map((row) =>
      csvLine([
        answer.opened?.category,
        row.subject,
        row.name,
        row.team,
        row.user,
        row.nodeId,
        row.deviceId,
        row.devices,
        row.firstDay,
        row.lastDay,
        ...cells(row.sum),
      ]),
    );
    return [csvLine([...names, ...measures]), ...rows].join('');
  }
  if (answer.by.length > 0) {
    const rows = answer.groups.flatMap(({ values, categories }) =>
      [...categories]
        .filter(([, sum]) => sum.gpuUnits !== 0n || (sum.usdMicros ?? 0n) !== 0n)
        .map(([category, sum]) => csvLine([...values, category, ...cells(sum)])),
    );
    return [csvLine([...answer.by, 'category', ...measures]), ...rows].join('');
  }
  const rows = answer.categories.flatMap(({ category, reasons }) =>
    reasons.map(({ reason, sum }) => csvLine([category, reason, ...cells(sum)])),
  );
  return [csvLine(['category', 'reason', ...measures]), ...rows].join('');
}
