import { StateMark } from '../../parts/marks.tsx';

/** How a job ended: a shape and a word. */
export function Outcome({ outcome, isRunning }: { readonly outcome: string | null; readonly isRunning: boolean }) {
  if (isRunning) return <span>running</span>;
  if (outcome === null) return <span className="muted">not said</span>;
  const state = outcome === 'completed' ? 'good' : outcome === 'cancelled' ? 'none' : 'bad';
  return (
    <span className="outcome">
      <StateMark state={state} /> {outcome === 'completed' ? 'finished' : outcome}
    </span>
  );
}
