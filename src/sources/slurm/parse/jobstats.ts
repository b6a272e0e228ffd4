import { gunzipSync } from 'node:zlib';
import { at, objectOf } from './json-value.ts';

/** What jobstats kept of a job when it ended: averages over its whole life, for each GPU. */
export interface JobstatsSummary {
  readonly nodes: readonly {
    readonly node: string;
    readonly gpus: readonly {
      readonly index: number;
      readonly utilisationPercent?: number;
      readonly memoryUsedBytes?: number;
      readonly memoryTotalBytes?: number;
    }[];
  }[];
}

const PREFIX = 'JS1:';
/** A summary of a thousand nodes is some tens of kilobytes; a text that unpacks to more is no summary. */
const UNPACKED_BYTES_MAX = 4 * 1024 * 1024;

/** Reads `JS1:` + base64(gzip(JSON)) of an AdminComment; undefined where there is none, or it cannot be read. */
export function readJobstats(comment: string): JobstatsSummary | undefined {
  const start = comment.indexOf(PREFIX);
  if (start < 0) return undefined;
  const packed = comment.slice(start + PREFIX.length).trim();
  // `Short` and `None` are its words for jobs too short to tell.
  if (!/^[A-Za-z0-9+/]{20,}={0,2}$/.test(packed)) return undefined;
  let value: unknown;
  try {
    const text = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: UNPACKED_BYTES_MAX });
    value = JSON.parse(text.toString('utf8'));
  } catch (failure) {
    // Somebody else's comment that only begins like one, or one that was cut off by its column.
    if (failure instanceof Error) return undefined;
    throw failure;
  }
  return summaryOf(value);
}

export function hasJobstats(comment: string): boolean {
  return comment.includes(PREFIX);
}

function summaryOf(value: unknown): JobstatsSummary | undefined {
  const nodes = objectOf(at(value, 'nodes'));
  if (nodes === undefined) return undefined;
  return { nodes: Object.entries(nodes).map(([node, use]) => ({ node, gpus: gpusOf(use) })) };
}

function gpusOf(use: unknown): JobstatsSummary['nodes'][number]['gpus'] {
  const [utilisation, used, total] = ['gpu_utilization', 'gpu_used_memory', 'gpu_total_memory'].map((name) =>
    objectOf(at(use, name)),
  );
  const indices = new Set([utilisation, used, total].flatMap((part) => Object.keys(part ?? {})));
  return [...indices]
    .filter((index) => /^\d{1,3}$/.test(index))
    .map((index) => {
      const [percent, usedBytes, totalBytes] = [utilisation, used, total].map((part) => finite(part?.[index]));
      return {
        index: Number(index),
        ...(percent !== undefined && percent <= 100 && { utilisationPercent: percent }),
        ...(usedBytes !== undefined && { memoryUsedBytes: usedBytes }),
        ...(totalBytes !== undefined && { memoryTotalBytes: totalBytes }),
      };
    })
    .toSorted((a, b) => a.index - b.index);
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
