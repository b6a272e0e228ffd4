import { useState } from 'react';
import type { RefObject } from 'react';
import { useAddress } from '../../address.ts';

/** Filters as they stand in the address, each with a way out; one more is typed as on the command line. */
export function FilterChips({ field }: { readonly field: RefObject<HTMLInputElement | null> }) {
  const { words, change } = useAddress();
  const [text, setText] = useState('');
  const filters = (words['filter'] ?? '').split(/(?<!\\),/).filter((each) => each.trim() !== '');
  const put = (next: readonly string[]): void => change({ filter: next.length === 0 ? undefined : next.join(',') });
  return (
    <>
      <span className="label">Filter</span>
      {filters.map((each) => (
        <span key={each} className="chip">
          {each}
          <button
            aria-label={`Take out the filter ${each}`}
            onClick={() => put(filters.filter((other) => other !== each))}
          >
            ×
          </button>
        </span>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.includes('=')) put([...filters, text.trim()]);
          setText('');
          field.current?.blur();
        }}
      >
        <input
          ref={field}
          className="control filter-field"
          aria-label="Add a filter, for example cluster=a"
          placeholder="+ cluster=…  f"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') field.current?.blur();
          }}
        />
      </form>
    </>
  );
}
