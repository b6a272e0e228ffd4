import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import type { FindingRow } from './finding-words.ts';
import type { Wish } from './decide.ts';

/** What has to be said beside the wish. */
export type AskedWish = 'exempt' | 'dismiss' | 'assign';

interface WishDialogProps {
  readonly finding: FindingRow;
  readonly wish: AskedWish;
  readonly send: (wish: Wish) => void;
  readonly close: () => void;
}

const TITLES: Readonly<Record<AskedWish, (id: string) => string>> = {
  exempt: (id) => `Exempt ${id} until…`,
  dismiss: (id) => `Dismiss ${id}`,
  assign: (id) => `Assign ${id}`,
};
const NOTES: Readonly<Record<AskedWish, string>> = {
  exempt: 'It is in no list until that day is over, and comes back by itself. Nothing of the fleet changes.',
  dismiss: 'It is in no list any more until somebody reopens it. Nothing of the fleet changes.',
  assign: 'Says who looks after it. Nobody is told by Bursar yet.',
};
const BUTTONS: Readonly<Record<AskedWish, string>> = { exempt: 'Exempt', dismiss: 'Dismiss', assign: 'Assign' };

/** Asks for the day, the reason or the name. Escape closes it and nothing is said. */
export function WishDialog({ finding, wish, send, close }: WishDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const [until, setUntil] = useState('');
  const [reason, setReason] = useState('');
  const [to, setTo] = useState(finding.assignedTo ?? '');
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (): void => {
    if (wish === 'exempt') send({ change: 'exempt', until, reason });
    else if (wish === 'dismiss') send({ change: 'dismiss', reason });
    else send({ change: 'assign', to });
  };
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={title} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <h2 id={title}>{TITLES[wish](finding.id ?? '')}</h2>
        <p className="note">{finding.what}</p>
        {wish === 'exempt' ? (
          <Field words="Its last day, UTC">
            <input className="control" type="date" required value={until} onChange={(e) => setUntil(e.target.value)} />
          </Field>
        ) : null}
        {wish === 'assign' ? (
          <Field words="To whom">
            <input className="control" required value={to} onChange={(e) => setTo(e.target.value)} />
          </Field>
        ) : (
          <Field words="Why, for whoever reads this later">
            <input className="control wide" required value={reason} onChange={(e) => setReason(e.target.value)} />
          </Field>
        )}
        <p className="note">{NOTES[wish]}</p>
        <div className="bar">
          <button className="control primary" type="submit">
            {BUTTONS[wish]}
          </button>
          <button className="control plain" type="button" onClick={() => dialog.current?.close()}>
            Cancel <kbd>esc</kbd>
          </button>
        </div>
      </form>
    </dialog>
  );
}

function Field({ words, children }: { readonly words: string; readonly children: ReactNode }) {
  return (
    <label className="field">
      {words}
      {children}
    </label>
  );
}
