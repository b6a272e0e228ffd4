import { useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAddress } from '../../address.ts';
import { Problem, tell } from '../../ask.ts';
import type { Answer } from '../../ask.ts';
import { useSession } from '../../frame/session.ts';
import type { DecidedReply } from '../../../../src/api/routes/findings/decide.ts';
import type { FindingsReply } from '../../../../src/api/routes/findings/list-findings.ts';
import type { OneFindingAnswer } from '../../../../src/api/routes/findings/one-finding.ts';
import type { FindingRow } from './finding-words.ts';

export type Change = 'accept' | 'exempt' | 'dismiss' | 'assign' | 'reopen';

export interface Wish {
  readonly change: Change;
  readonly reason?: string;
  readonly until?: string;
  readonly to?: string;
}

/** What was decided last: told at once, and taken back by the same kind of wish. */
export interface Decided {
  readonly id: string;
  readonly words: string;
  /** Undefined where nothing brings it back as it was. */
  readonly undo: Wish | undefined;
  /** As it is now: a list that was asked for again may no longer have it. */
  readonly finding: FindingRow;
}

export interface Decisions {
  readonly last: Decided | undefined;
  readonly problem: Problem | undefined;
  readonly isBusy: boolean;
  /** Why nothing may be decided here; undefined where it may. */
  readonly refusal: string | undefined;
  readonly decide: (finding: FindingRow, wish: Wish) => Promise<boolean>;
  readonly forget: () => void;
}

/** Says something of a finding, as the command of the same name does, and shows it in every answer that is on screen. */
export function useDecisions(): Decisions {
  const client = useQueryClient();
  const { words } = useAddress();
  const session = useSession();
  const refusal =
    session?.role === 'viewer'
      ? `${session.name} may look and not decide: that takes a token of an operator.`
      : undefined;
  const [last, setLast] = useState<Decided | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [isBusy, setBusy] = useState(false);
  const decide = async (finding: FindingRow, { change, ...said }: Wish): Promise<boolean> => {
    if (finding.id === null || refusal !== undefined) return false;
    setBusy(true);
    setProblem(undefined);
    try {
      const { data } = await tell<DecidedReply>(`/findings/${finding.id}/${change}`, {
        ...said,
        seen: finding.state,
        ...(change === 'assign' && { seenAssignedTo: finding.assignedTo }),
        window: words['window'] ?? '30d',
      });
      showDecided(client, data);
      setLast({
        id: finding.id,
        words: decidedWords(data, change),
        undo: undoOf(finding, change),
        finding: withDecision(finding, data),
      });
      return true;
    } catch (failure) {
      setProblem(failure instanceof Problem ? failure : new Problem(0, 'Bursar does not answer', null));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return {
    last,
    problem,
    isBusy,
    refusal,
    decide,
    forget: () => {
      setLast(undefined);
      setProblem(undefined);
    },
  };
}

export function decidedWords({ id, state, exemptUntil, assignedTo }: DecidedReply, change: Change): string {
  if (change === 'assign') return `${id} is assigned to ${assignedTo ?? 'nobody'}.`;
  if (state === 'exempt') return `${id} is exempt until ${exemptUntil ?? '?'}; it comes back by itself.`;
  return `${id} is ${state}.`;
}

/** The wish that brings back what was said before. */
export function undoOf(before: FindingRow, change: Change): Wish | undefined {
  if (change === 'assign') {
    return before.assignedTo === null ? undefined : { change: 'assign', to: before.assignedTo };
  }
  const reason = before.stateReason === null ? {} : { reason: before.stateReason };
  if (before.state === 'accepted') return { change: 'accept', ...reason };
  if (before.state === 'exempt' && before.exemptUntil !== null) {
    return { change: 'exempt', until: before.exemptUntil, reason: before.stateReason ?? 'as before' };
  }
  if (before.state === 'dismissed') return { change: 'dismiss', reason: before.stateReason ?? 'as before' };
  return { change: 'reopen' };
}

type Shown = Partial<FindingsReply> & Partial<OneFindingAnswer>;

function withDecision(finding: FindingRow, { state, exemptUntil, stateReason, assignedTo }: DecidedReply): FindingRow {
  return { ...finding, state, exemptUntil, stateReason, assignedTo };
}

/** Changes every answer in hand; they are asked for anew when somebody comes back to them. */
function showDecided(client: QueryClient, decided: DecidedReply): void {
  const isOfFindings = ({ queryKey }: { readonly queryKey: readonly unknown[] }): boolean =>
    String(queryKey[1]).startsWith('/api/v1/findings');
  const { id, state, exemptUntil, stateReason, assignedTo, history } = decided;
  const patched = (finding: FindingRow): FindingRow => (finding.id === id ? withDecision(finding, decided) : finding);
  client.setQueriesData<Answer<Shown>>({ queryKey: ['answer'], predicate: isOfFindings }, (answer) => {
    if (answer === undefined) return answer;
    const { data } = answer;
    if (data.findings !== undefined) return { ...answer, data: { ...data, findings: data.findings.map(patched) } };
    if (data.record?.id !== id) return answer;
    return {
      ...answer,
      data: {
        ...data,
        finding: data.finding ? patched(data.finding) : null,
        record: { ...data.record, state, exemptUntil, stateReason, assignedTo },
        history,
      },
    };
  });
  void client.invalidateQueries({ queryKey: ['answer'], predicate: isOfFindings, refetchType: 'none' });
  // What the overview says of findings is made of them.
  void client.invalidateQueries({
    queryKey: ['answer'],
    predicate: ({ queryKey }) => String(queryKey[1]).startsWith('/api/v1/overview'),
  });
}
