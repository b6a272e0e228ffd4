import { at, numberAt, textAt } from './json-shape.ts';

/** One line of a watch. */
export type WatchEvent =
  | { readonly type: 'seen' | 'deleted'; readonly object: unknown; readonly resourceVersion: string }
  | { readonly type: 'bookmark'; readonly resourceVersion: string }
  /** The server no longer knows what came after the version asked for: only a new list helps. It says so under HTTP 200. */
  | { readonly type: 'expired' }
  | { readonly type: 'error'; readonly message: string };

/** What does this line of a watch say? A line that is none of Kubernetes' is an error, not a crash. */
export function watchEvent(line: string): WatchEvent {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return { type: 'error', message: 'a line of the watch is no JSON' };
  }
  const type = textAt(json, 'type');
  const object = at(json, 'object');
  if (type === 'ERROR') {
    const gone = numberAt(object, 'code') === 410 || textAt(object, 'reason') === 'Expired';
    return gone
      ? { type: 'expired' }
      : { type: 'error', message: textAt(object, 'message') ?? 'an error without a word' };
  }
  const resourceVersion = textAt(object, 'metadata', 'resourceVersion');
  if (resourceVersion === undefined) return { type: 'error', message: 'a line of the watch has no version' };
  if (type === 'BOOKMARK') return { type: 'bookmark', resourceVersion };
  if (type === 'ADDED' || type === 'MODIFIED') return { type: 'seen', object, resourceVersion };
  if (type === 'DELETED') return { type: 'deleted', object, resourceVersion };
  return { type: 'error', message: 'a line of the watch has no type that is known' };
}
