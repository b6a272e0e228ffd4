import { useState } from 'react';
import { copyText } from '../../copy.ts';
import { useKeys } from '../../frame/keys.ts';
import { Banner } from '../../parts/banner.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import type { Decisions, Wish } from './decide.ts';
import type { FindingRow } from './finding-words.ts';
import { WishDialog } from './wish-dialog.tsx';
import type { AskedWish } from './wish-dialog.tsx';

interface TriageProps {
  /** What the keys are about; undefined while no row is chosen. */
  readonly finding: FindingRow | undefined;
  readonly find: (id: string) => FindingRow | undefined;
  readonly decisions: Decisions;
  readonly isPrimary?: boolean;
}

/** The buttons and keys that say something of a finding, and what was said last with the way back. */
export function Triage({ finding, find, decisions, isPrimary = false }: TriageProps) {
  const [asked, setAsked] = useState<AskedWish | undefined>();
  const { last, problem, isBusy, refusal, decide, forget } = decisions;
  const isOff = finding === undefined || finding.id === null || isBusy || refusal !== undefined;
  const say = (wish: Wish): void => {
    if (!isOff) void decide(finding, wish);
  };
  const ask = (wish: AskedWish): void => {
    if (!isOff) setAsked(wish);
  };
  const copyFix = (): void => {
    if (finding !== undefined) void copyText(finding.fix.join('\n'));
  };
  useKeys([
    { key: 'a', words: 'accept', isShown: true, run: () => say({ change: 'accept' }) },
    { key: 'x', words: 'exempt until', isShown: true, run: () => ask('exempt') },
    { key: 'd', words: 'dismiss', isShown: true, run: () => ask('dismiss') },
    { key: 'o', words: 'assign', isShown: true, run: () => ask('assign') },
    { key: 'u', words: 'reopen', isShown: true, run: () => say({ change: 'reopen' }) },
    // Some say what to look at, and have nothing to paste.
    ...(finding?.fix.length === 0 ? [] : [{ key: 'c', words: 'copy fix', isShown: true, run: copyFix }]),
  ]);
  const undone = last === undefined ? undefined : (find(last.id) ?? last.finding);
  return (
    <div className="triage">
      <Buttons finding={finding} isOff={isOff} isPrimary={isPrimary} say={say} ask={ask} />
      {refusal === undefined ? null : <p className="note">{refusal}</p>}
      {finding?.id === null ? (
        <p className="note">
          It is new and has no number, by which it would be opened and decided about: a look at the last 30 days gives
          it one.
        </p>
      ) : null}
      {problem === undefined ? null : <Trouble problem={problem} retry={forget} />}
      {last === undefined ? null : (
        <Banner
          kind="good"
          {...(last.undo !== undefined &&
            undone !== undefined && {
              action: { words: 'undo', run: () => void decide(undone, last.undo ?? { change: 'reopen' }) },
            })}
        >
          {last.words}
        </Banner>
      )}
      {asked === undefined || finding === undefined ? null : (
        <WishDialog
          finding={finding}
          wish={asked}
          send={(wish) => {
            setAsked(undefined);
            say(wish);
          }}
          close={() => setAsked(undefined)}
        />
      )}
    </div>
  );
}

interface ButtonsProps {
  readonly finding: FindingRow | undefined;
  readonly isOff: boolean;
  readonly isPrimary: boolean;
  readonly say: (wish: Wish) => void;
  readonly ask: (wish: AskedWish) => void;
}

function Buttons({ finding, isOff, isPrimary, say, ask }: ButtonsProps) {
  const state = finding?.state;
  return (
    <div className="bar" role="group" aria-label={`Decide about ${finding?.id ?? 'a finding'}`}>
      {isPrimary ? null : (
        <span className="label">{finding === undefined ? 'j and k choose a finding' : (finding.id ?? 'new')}</span>
      )}
      <button
        className={isPrimary ? 'control primary' : 'control'}
        disabled={isOff || state === 'accepted'}
        onClick={() => say({ change: 'accept' })}
      >
        Accept <kbd>a</kbd>
      </button>
      <button className="control" disabled={isOff} onClick={() => ask('exempt')}>
        Exempt until… <kbd>x</kbd>
      </button>
      <button className="control plain" disabled={isOff} onClick={() => ask('dismiss')}>
        Dismiss <kbd>d</kbd>
      </button>
      <button className="control plain" disabled={isOff} onClick={() => ask('assign')}>
        Assign <kbd>o</kbd>
      </button>
      {isOff || state === 'open' || state === 'back' ? null : (
        <button className="control plain" onClick={() => say({ change: 'reopen' })}>
          Reopen <kbd>u</kbd>
        </button>
      )}
    </div>
  );
}
