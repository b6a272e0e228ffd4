import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useAddress } from '../address.ts';
import { useKeys } from './keys.ts';

/** Finds a job, GPU, team or finding by its name; the Jobs page lists what matches. */
export function Search() {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const { to } = useAddress();
  useKeys([{ key: '/', words: 'search', run: () => field.current?.focus() }]);
  const find = (): void => {
    const word = text.trim();
    if (word === '') return;
    navigate(/^F-\d+$/i.test(word) ? to(`/findings/${word.toUpperCase()}`) : to('/jobs', { search: word }));
  };
  return (
    <form
      className="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        find();
      }}
    >
      <input
        ref={field}
        className="control"
        type="search"
        placeholder="Job, GPU, team, finding"
        aria-label="Search for a job, GPU, team or finding"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') field.current?.blur();
        }}
      />
      <kbd>/</kbd>
    </form>
  );
}
