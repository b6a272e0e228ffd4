import { OperationError } from '../../facts/operation-error.ts';

export interface TurnOptions {
  /** Questions at once. */
  readonly size: number;
  /** How long one may wait for its turn. */
  readonly waitMsMax: number;
}

/** The end of a turn; it says how long it took, from which is learnt how long such questions take. */
export type EndTurn = (tookMs: number) => void;

/** Whose a question is, and what says that nobody waits for its answer any more. */
export interface Asker {
  readonly who?: string;
  readonly signal?: AbortSignal;
}

export interface Turns {
  /** Waits for a place; `name` says of which kind the question is. Refused with `busy` after the longest wait, `withdrawn` by its asker. */
  take(name: string, asker?: Asker): Promise<EndTurn>;
  /** Refuses all who wait, and all who come. */
  close(): void;
  waiting(): number;
  running(): number;
}

interface Waiting {
  readonly name: string;
  readonly who: string;
  readonly since: number;
  readonly start: (end: EndTurn) => void;
  readonly refuse: (failure: OperationError) => void;
}

/** Kinds of question that took this long the last times wait for each other, not others for them. */
const LONG_MS = 400;
/** A long question that has waited this long goes before short ones that came later. */
const LONG_PATIENCE_MS = 2000;
const WAITING_MAX = 500;
/** Of one asker: the others have their places in the line. */
const WAITING_MAX_EACH = 100;

/**
 * Gives questions their turn. Those of a kind that takes long never hold all the places, so that a short one does not wait behind ten of
 * them; which kinds those are is learnt from how long they took. Among those that may begin, whoever has the fewest running goes first: a
 * script with a hundred questions does not keep a page waiting.
 */
export function turnsOf({ size, waitMsMax }: TurnOptions): Turns {
  const usualMs = new Map<string, number>();
  const waiting: Waiting[] = [];
  const running: { readonly name: string; readonly who: string }[] = [];
  let isClosed = false;
  const isLong = (name: string): boolean => (usualMs.get(name) ?? 0) > LONG_MS;

  const takeNext = (): Waiting | undefined => {
    const mayBeLong = running.filter(({ name }) => isLong(name)).length < Math.max(1, size - 1);
    const now = performance.now();
    const isFirst = ({ name, since }: Waiting): boolean =>
      !isLong(name) || (mayBeLong && now - since > LONG_PATIENCE_MS);
    const first = waiting.filter(isFirst);
    const ready = first.length > 0 ? first : mayBeLong ? waiting : [];
    const runningOf = ({ who }: Waiting): number => running.filter((each) => each.who === who).length;
    const [next] = ready.toSorted((a, b) => runningOf(a) - runningOf(b));
    return next === undefined ? undefined : waiting.splice(waiting.indexOf(next), 1)[0];
  };

  const startNext = (): void => {
    while (running.length < size) {
      const next = takeNext();
      if (next === undefined) return;
      const own = { name: next.name, who: next.who };
      running.push(own);
      next.start((tookMs) => {
        running.splice(running.indexOf(own), 1);
        usualMs.set(own.name, ((usualMs.get(own.name) ?? tookMs) + tookMs) / 2);
        startNext();
      });
    }
  };

  return {
    take: async (name, { who = '', signal } = {}) =>
      new Promise<EndTurn>((start, refuse) => {
        if (isClosed) return refuse(stopping());
        if (signal?.aborted === true) return refuse(withdrawn());
        const ofOne = waiting.filter((each) => each.who === who).length;
        if (waiting.length >= WAITING_MAX || ofOne >= WAITING_MAX_EACH) return refuse(busy());
        const leave = (failure: OperationError): void => {
          const place = waiting.indexOf(own);
          if (place >= 0) waiting.splice(place, 1);
          own.refuse(failure);
        };
        const timer = setTimeout(() => leave(busy()), waitMsMax);
        const goAway = (): void => leave(withdrawn());
        const settled =
          <Said>(tell: (said: Said) => void) =>
          (said: Said): void => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', goAway);
            tell(said);
          };
        const own: Waiting = {
          name,
          who,
          since: performance.now(),
          start: settled(start),
          refuse: settled(refuse),
        };
        signal?.addEventListener('abort', goAway);
        waiting.push(own);
        startNext();
      }),
    close() {
      isClosed = true;
      for (const each of waiting.splice(0)) each.refuse(stopping());
    },
    waiting: () => waiting.length,
    running: () => running.length,
  };
}

function busy(): OperationError {
  return new OperationError('busy', 'too many questions are being answered', { hint: 'Ask again in a few seconds.' });
}

export function withdrawn(): OperationError {
  return new OperationError('withdrawn', 'whoever asked has gone', { hint: 'Ask again, and wait for the answer.' });
}

export function stopping(): OperationError {
  return new OperationError('stopping', 'the server is stopping', { hint: 'Ask again when it has been started anew.' });
}
