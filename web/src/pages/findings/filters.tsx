import { useAddress } from '../../address.ts';
import { NO_FILTER } from './none-words.ts';
import { stepOf } from '../../steps.ts';
import type { FindingsReply } from '../../../../src/api/routes/findings/list-findings.ts';

const STATES: readonly (readonly [string, string])[] = [
  ['', 'to do'],
  ['open', 'open'],
  ['accepted', 'accepted'],
  ['back', 'back again'],
  ['exempt', 'exempt'],
  ['dismissed', 'dismissed'],
  ['fixed', 'fixed'],
];

interface FiltersProps {
  /** What can be asked for; undefined before the first answer. */
  readonly names: FindingsReply['names'] | undefined;
  readonly setAside: number;
  readonly small: number;
}

/** State, category, team, detector and owner; each stands in the address. */
export function Filters({ names, setAside, small }: FiltersProps) {
  const { words, change } = useAddress();
  const namesOf = (name: string, known: readonly string[] = []): [string, string][] => {
    const asked = words[name];
    const all = new Set([...known, ...(asked === undefined ? [] : [asked])]);
    return [['', 'all'], ...[...all].toSorted().map((each): [string, string] => [each, each])];
  };
  const choices: [string, string, readonly (readonly [string, string])[]][] = [
    ['state', 'State', STATES],
    [
      'category',
      'Category',
      namesOf('category', names?.categories).map(([name, label]) => [name, stepOf(name)?.word ?? label]),
    ],
    ['team', 'Team', namesOf('team', names?.teams)],
    ['detector', 'Detector', namesOf('detector', names?.detectors)],
    ['owner', 'Owner', namesOf('owner', names?.owners)],
  ];
  const isFiltered = choices.some(([name]) => words[name] !== undefined);
  return (
    <div className="bar" role="group" aria-label="Filters">
      {choices.map(([name, label, options]) => (
        <label key={name} className="choice">
          <span className="label">{label}</span>
          <select
            className={words[name] === undefined ? 'control' : 'control on'}
            value={words[name] ?? ''}
            onChange={(event) => change({ [name]: event.target.value === '' ? undefined : event.target.value })}
          >
            {options.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ))}
      {isFiltered ? (
        <button className="link" onClick={() => change(NO_FILTER)}>
          take all off
        </button>
      ) : null}
      <label className="check-inline">
        <input
          type="checkbox"
          checked={words['small'] === 'yes'}
          onChange={(event) => change({ small: event.target.checked ? 'yes' : undefined })}
        />
        also small ones{small > 0 ? ` (${small})` : ''}
      </label>
      {setAside === 0 || words['state'] !== undefined ? null : (
        <button className="link" onClick={() => change({ state: 'exempt,dismissed' })}>
          {setAside} exempt or dismissed
        </button>
      )}
    </div>
  );
}
