import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useAddress } from '../address.ts';
import { apiAddress, ask } from '../ask.ts';
import type { Query } from '../ask.ts';
import { useKeys } from './keys.ts';
import { searchPlace } from './search-place.ts';
import type { FleetReply } from '../../../src/api/routes/fleet/fleet.ts';
import type { DimensionValuesReply } from '../../../src/api/routes/spend/dimensions.ts';

/** Whoever may not be told, and whom nobody answers, searches for jobs. */
async function listTeams(): Promise<readonly string[]> {
  const answer = await ask<DimensionValuesReply>(apiAddress('/dimensions/team')).catch(() => undefined);
  return (answer?.data.values ?? []).flatMap(({ value }) => value ?? []);
}

/** Whether the Fleet page has the machine in the window it would show. */
async function hasNode(node: string, query: Query): Promise<boolean> {
  const answer = await ask<FleetReply>(apiAddress('/fleet', { ...query, node })).catch(() => undefined);
  return (answer?.data.total.gpus ?? 0) > 0;
}

/** Finds a finding, GPU, team or machine by its name; the Jobs page lists what else matches. */
export function Search() {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const { words, to } = useAddress();
  useKeys([{ key: '/', words: 'search', run: () => field.current?.focus() }]);
  const find = async (): Promise<void> => {
    const word = text.trim();
    if (word === '') return;
    const query = { window: words['window'] ?? 'today', asOf: words['asOf'] };
    const place = await searchPlace(word, { teams: listTeams, hasNode: (node) => hasNode(node, query) });
    navigate(to(place.path, place.words));
  };
  return (
    <form
      className="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
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
