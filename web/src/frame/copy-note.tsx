import { useSyncExternalStore } from 'react';
import { forgetCopied, lastCopied, listenToCopies } from '../copy.ts';
import { cut } from '../figures.ts';

/** Says what was copied; what could not be is shown, to be copied by hand. */
export function CopyNote() {
  const copied = useSyncExternalStore(listenToCopies, lastCopied);
  return (
    <div className="copy-note" role="status">
      {copied === undefined ? null : copied.isDone ? (
        <span>
          Copied: <code>{cut(copied.text.split('\n')[0] ?? '', 90)}</code>
        </span>
      ) : (
        <>
          <label>
            The browser does not let this page copy; here it is:{' '}
            <textarea readOnly rows={3} value={copied.text} onFocus={(event) => event.target.select()} />
          </label>
          <button className="link" onClick={forgetCopied}>
            close
          </button>
        </>
      )}
    </div>
  );
}
