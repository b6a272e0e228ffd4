import { useRef } from 'react';
import { useKeyboard, useKeyHints, useKeys } from './keys.ts';

/** The keys of this page at its foot, and all of them on `?`. */
export function FootKeys() {
  const all = useKeyHints();
  const { isOn, setOn } = useKeyboard();
  const dialog = useRef<HTMLDialogElement>(null);
  useKeys([{ key: '?', words: 'all keys', isShown: true, run: () => dialog.current?.showModal() }]);
  const byKey = [...new Map(all.map((each) => [each.key, each])).values()];
  return (
    <footer className="keys">
      {byKey
        .filter(({ isShown }) => isShown)
        .map(({ key, words }) => (
          <span key={key}>
            <kbd>{key}</kbd>
            {words}
          </span>
        ))}
      <dialog ref={dialog} className="dialog" aria-labelledby="keys-title">
        <h2 id="keys-title">Keys</h2>
        <dl className="key-list">
          {byKey.map(({ key, words }) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
        <label className="check">
          <input type="checkbox" checked={isOn} onChange={(event) => setOn(event.target.checked)} />
          Single keys are on
        </label>
        <form method="dialog">
          <button className="control">Close</button>
        </form>
      </dialog>
    </footer>
  );
}
