import { useRef, useState } from 'react';
import { sharedQuery, useAddress } from '../../address.ts';
import { useAnswer } from '../../ask.ts';
import { conditionsOf, conditionText, conditionWords } from '../../filter-words.ts';
import { cut } from '../../figures.ts';
import { useKeys } from '../../frame/keys.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { DimensionsReply, DimensionValuesReply } from '../../../../src/api/routes/spend/dimensions.ts';
import type { ChartKind } from './chart.tsx';
import type { Measure } from './series.ts';

const KINDS: readonly (readonly [ChartKind, string])[] = [
  ['stacked', 'Stacked'],
  ['lines', 'Lines'],
  ['share', 'Share'],
];
const STEPS: readonly (readonly [string, string])[] = [
  ['1h', 'hour'],
  ['6h', '6 hours'],
  ['1d', 'day'],
  ['7d', 'week'],
];
/** Time is the axis already. */
const TIMES = ['day', 'hour'];

export interface Asked {
  readonly by: string;
  /** What each group is divided by once more. */
  readonly second: string | undefined;
  readonly step: string;
  readonly measure: Measure;
  readonly kind: ChartKind;
  readonly isTable: boolean;
}

/** What the address asks of the page. */
export function useAsked(): Asked {
  const { words } = useAddress();
  const [by = '', second] = (words['by'] ?? 'team').split(',');
  return {
    by,
    second,
    step: words['step'] ?? '1d',
    measure: words['show'] === 'hours' ? 'hours' : 'cost',
    kind: KINDS.find(([name]) => name === words['chart'])?.[0] ?? 'stacked',
    isTable: words['view'] === 'table',
  };
}

/** Group, then, show, step; the kind of chart; filters as chips; the same as a command. */
export function Controls({ asked, command }: { readonly asked: Asked; readonly command: string | null }) {
  const { change } = useAddress();
  const known = useAnswer<DimensionsReply>('/dimensions');
  const dimensions = known.data?.data.dimensions ?? [{ name: 'team', isListed: true }];
  const names = dimensions.map(({ name }) => name).filter((name) => !TIMES.includes(name));
  const by = names.includes(asked.by) ? names : [asked.by, ...names];
  return (
    <div className="controls" aria-busy={known.isPending}>
      <div className="bar">
        <Choice
          label="Group by"
          value={asked.by}
          options={by}
          choose={(name) => change({ by: name, why: undefined })}
        />
        <Choice
          label="then"
          value={asked.second ?? ''}
          options={['', ...names.filter((name) => name !== asked.by)]}
          words={(name) => (name === '' ? 'nothing' : name)}
          choose={(name) => change({ by: name === '' ? asked.by : `${asked.by},${name}`, why: undefined })}
        />
        <Choice
          label="Show"
          value={asked.measure}
          options={['cost', 'hours']}
          words={(name) => (name === 'cost' ? 'cost, USD' : 'GPU-hours')}
          choose={(name) => change({ show: name === 'cost' ? undefined : name })}
        />
        <Choice
          label="a"
          value={asked.step}
          options={
            STEPS.some(([name]) => name === asked.step)
              ? STEPS.map(([name]) => name)
              : [asked.step, ...STEPS.map(([name]) => name)]
          }
          words={(name) => STEPS.find(([each]) => each === name)?.[1] ?? name}
          choose={(name) => change({ step: name === '1d' ? undefined : name })}
        />
        <span className="push" />
        <Kinds asked={asked} />
      </div>
      <div className="bar">
        <Filters names={dimensions} />
        <span className="push" />
        {command === null ? null : (
          <>
            <span className="command-line">{command}</span>
            <CopyButton text={command} />
          </>
        )}
      </div>
    </div>
  );
}

/** Layers, lines, shares, or the table of them. */
function Kinds({ asked }: { readonly asked: Asked }) {
  const { change } = useAddress();
  useKeys([
    {
      key: 't',
      words: 'table or chart',
      isShown: true,
      run: () => change({ view: asked.isTable ? undefined : 'table' }, { replace: true }),
    },
  ]);
  return (
    <span className="join" role="group" aria-label="Kind of chart">
      {KINDS.map(([name, words]) => (
        <button
          key={name}
          className="control"
          aria-pressed={!asked.isTable && asked.kind === name}
          onClick={() => change({ chart: name === 'stacked' ? undefined : name, view: undefined }, { replace: true })}
        >
          {words}
        </button>
      ))}
      <button
        className="control"
        aria-pressed={asked.isTable}
        onClick={() => change({ view: 'table' }, { replace: true })}
      >
        Table
      </button>
    </span>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly words?: (option: string) => string;
  readonly choose: (option: string) => void;
}

function Choice({ label, value, options, words = (option) => option, choose }: ChoiceProps) {
  return (
    <label className="bar">
      <span className="label">{label}</span>
      <select className="control" value={value} onChange={(event) => choose(event.target.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {words(option)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Each condition a chip that can be taken off; `f` adds one. */
function Filters({ names }: { readonly names: DimensionsReply['dimensions'] }) {
  const { words, change } = useAddress();
  const [isAdding, setAdding] = useState(false);
  const conditions = conditionsOf(words['filter']);
  const set = (all: readonly string[]): void =>
    change({ filter: all.length === 0 ? undefined : all.join(','), why: undefined });
  useKeys([{ key: 'f', words: 'filter', isShown: true, run: () => setAdding(true) }]);
  return (
    <>
      <span className="label">Filter</span>
      {conditions.map((condition) => (
        <span key={condition} className="chip" title={conditionWords(condition)}>
          {cut(conditionWords(condition), 40)}
          <button
            aria-label={`Take off ${conditionWords(condition)}`}
            onClick={() => set(conditions.filter((each) => each !== condition))}
          >
            ×
          </button>
        </span>
      ))}
      {isAdding ? (
        <AddFilter
          names={names}
          add={(condition) => {
            setAdding(false);
            if (condition !== undefined) set([...conditions, condition]);
          }}
        />
      ) : (
        <button className="control plain" onClick={() => setAdding(true)}>
          + add <kbd>f</kbd>
        </button>
      )}
    </>
  );
}

interface AddFilterProps {
  readonly names: DimensionsReply['dimensions'];
  readonly add: (condition: string | undefined) => void;
}

function AddFilter({ names, add }: AddFilterProps) {
  const address = useAddress();
  const field = useRef<HTMLInputElement>(null);
  const [name, setName] = useState('team');
  const isListed = names.find((each) => each.name === name)?.isListed ?? false;
  const { asOf, team } = sharedQuery(address);
  const values = useAnswer<DimensionValuesReply>(`/dimensions/${name}`, { asOf, team }, { enabled: isListed });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const value = field.current?.value.trim() ?? '';
        add(conditionText({ name, value: value === 'unattributed' ? null : value }));
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') add(undefined);
      }}
    >
      <select
        className="control"
        aria-label="Filter by"
        autoFocus
        value={name}
        onChange={(event) => setName(event.target.value)}
      >
        {names.map((each) => (
          <option key={each.name}>{each.name}</option>
        ))}
      </select>
      <input
        ref={field}
        className="control"
        aria-label={`Value of ${name}`}
        list="filter-values"
        placeholder="value; empty: has none"
      />
      <datalist id="filter-values">
        {(isListed ? (values.data?.data.values ?? []) : []).map(({ value }) => (
          <option key={value ?? ''} value={value ?? 'unattributed'} />
        ))}
      </datalist>
      <button className="control">Add</button>
      <button type="button" className="control plain" onClick={() => add(undefined)}>
        Cancel
      </button>
    </form>
  );
}
