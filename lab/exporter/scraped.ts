import { hashOf } from '../../src/demo/chance.ts';
import type { OrganisationDay } from '../../src/demo/organisation.ts';
import type { Seconds } from '../../src/demo/timeline.ts';
import { writeDcgm } from './dcgm.ts';
import { KUBE_STATE_TARGET, kubeStateSeries } from './kube-state.ts';
import type { Play } from './play.ts';
import { FAMILIES, type Series, type Sink } from './series.ts';
import { VLLM_TARGET, vllmSeries } from './vllm.ts';

/** Gives a sink everything a Prometheus that scrapes all exporters would have from one moment to another. */
export type Scraped = (from: Seconds, until: Seconds, sink: Sink) => void;

/** Samples of each series come by time, also from one call to the next if the periods do. */
export function scrapedOf(played: Play): Scraped {
  const series = [...kubeStateSeries(played, KUBE_STATE_TARGET), ...vllmSeries(played, VLLM_TARGET)];
  return (from, until, sink) => {
    for (const day of played.days) {
      const part: OrganisationDay = { ...day, from: Math.max(day.from, from), until: Math.min(day.until, until) };
      if (part.from >= part.until) continue;
      writeDcgm(played, part, 'scraped', sink, 'first');
      writeDcgm(played, part, 'scraped', sink, 'second');
    }
    for (const each of series) writeSeries(each, played, from, until, sink);
  };
}

function writeSeries(series: Series, { scope }: Play, from: Seconds, until: Seconds, sink: Sink): void {
  const begin = Math.max(series.from, scope.from, from);
  const end = Math.min(series.until, scope.until, until);
  let moment = scope.from + Math.ceil((begin - scope.from) / scope.stepS) * scope.stepS;
  for (; moment < end; moment += scope.stepS)
    sink.sample(series.metric, series.labels, String(series.at(moment)), moment);
}

/**
 * The same, so many seconds later: a world that was played for one week can be shown in another, and what happens in it does
 * not change with the calendar.
 */
export function later(sink: Sink, shiftS: number): Sink {
  if (shiftS === 0) return sink;
  return {
    sample: (metric, labels, value, moment) => {
      const isTime = FAMILIES[metric]?.isTime === true;
      sink.sample(metric, labels, isTime ? String(Number(value) + shiftS) : value, moment + shiftS);
    },
  };
}

/** Each target is scraped at a millisecond of its own, and all its series with it. */
export function millisecondOf(labels: string): number {
  let millisecond = milliseconds.get(labels);
  if (millisecond === undefined) {
    const target = /instance="([^"]*)"/.exec(labels)?.[1] ?? '';
    milliseconds.set(labels, (millisecond = hashOf(['scrape', target]) % 1000));
  }
  return millisecond;
}

/** Asked for every sample, and the text of a series' labels is one object, so that finding it here is cheap. */
const milliseconds = new Map<string, number>();
