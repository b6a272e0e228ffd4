import { useRef } from 'react';
import { useAddress } from '../../address.ts';
import type { Words } from '../../address.ts';
import { csvAddress, useAnswer } from '../../ask.ts';
import { useCommandKey } from '../../frame/command-key.ts';
import { Head } from '../../frame/head.tsx';
import { useKeys } from '../../frame/keys.ts';
import { WholeFleet } from '../../frame/whole-fleet.tsx';
import { windowOf, WindowControl } from '../../frame/window-control.tsx';
import { Content } from '../../parts/content.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Loading } from '../../parts/section.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { useWhyKey } from '../../why/figure.tsx';
import { WhyPanel } from '../../why/why-panel.tsx';
import type { FleetReply } from '../../../../src/api/routes/fleet/fleet.ts';
import { FilterChips } from './filter-chips.tsx';
import { FleetTable } from './fleet-table.tsx';
import { MapCsv } from './map-csv.tsx';
import { gpuMoneyWords } from './gpu-money.ts';
import { GpuPanel } from './gpu-panel.tsx';
import { HeatMap } from './heat-map.tsx';
import { SORTS, SORT_WORDS } from './layout.ts';
import type { Sort } from './layout.ts';
import { Legend } from './legend.tsx';
import { MEASURES, MEASURE_WORDS } from './levels.ts';
import type { Measure } from './levels.ts';
import { FleetSentence } from './sentence.tsx';
import { useOpenedNodes, useTile } from './use-tiles.ts';

const STEP_CHOICES = ['5m', '15m', '30m', '1h', '3h', '6h', '1d'];

/** What does every GPU do, and which ones do nothing? */
export function Fleet() {
  return (
    <WholeFleet title="Fleet">
      <FleetPage />
    </WholeFleet>
  );
}

function FleetPage() {
  const { words } = useAddress();
  const query = { window: words['window'] ?? 'today', asOf: words['asOf'], filter: words['filter'] };
  const answer = useAnswer<FleetReply>('/fleet', query);
  const { gpu, why } = words;
  useWhyKey();
  return (
    <>
      <Head title="Fleet">
        <WindowControl shown={windowOf(answer)} fallback="today" />
        <StepControl />
      </Head>
      <div className={gpu === undefined && why === undefined ? undefined : 'with-panel'}>
        <Content answer={answer}>
          <Controls command={answer.data?.command ?? null} csv={csvAddress('/fleet', query)} />
          {answer.error === null ? null : <Trouble problem={answer.error} retry={() => void answer.refetch()} />}
          {answer.data === undefined ? (
            answer.error === null ? (
              <Loading rows={12} />
            ) : null
          ) : (
            <>
              <FleetSentence reply={answer.data.data} />
              <Map reply={answer.data.data} />
            </>
          )}
        </Content>
        <Beside gpu={gpu} why={why} name={nameOf(answer.data?.data, words)} />
      </div>
    </>
  );
}

interface BesideProps {
  readonly gpu: string | undefined;
  readonly why: string | undefined;
  readonly name: string | undefined;
}

function nameOf(reply: FleetReply | undefined, { why, filter }: Words): string | undefined {
  return reply === undefined || why === undefined ? undefined : gpuMoneyWords(reply.groups, filter, why);
}

/** Why a figure is what it is, else the GPU that was chosen. */
function Beside({ gpu, why, name }: BesideProps) {
  const { words } = useAddress();
  // Without the team of the address: machines have none, and the figures are of all of them.
  const asked = { window: words['window'] ?? 'today', asOf: words['asOf'] };
  if (why !== undefined) return <WhyPanel of={why} asked={asked} name={name} />;
  return gpu === undefined ? null : <GpuPanel key={gpu} gpu={gpu} />;
}

function StepControl() {
  const { words, change } = useAddress();
  return (
    <label className="control">
      step
      <select
        className="bare"
        aria-label="Step of the map"
        value={words['step'] ?? ''}
        onChange={(event) => change({ step: event.target.value === '' ? undefined : event.target.value })}
      >
        <option value="">by the window</option>
        {STEP_CHOICES.map((each) => (
          <option key={each} value={each}>
            {each.replace('m', ' min').replace('h', ' h').replace('d', ' day')}
          </option>
        ))}
      </select>
    </label>
  );
}

function measureOf(word: string | undefined): Measure {
  return MEASURES.find((each) => each === word) ?? 'activity';
}

function sortOf(word: string | undefined): Sort {
  return SORTS.find((each) => each === word) ?? 'name';
}

function Controls({ command, csv }: { readonly command: string | null; readonly csv: string }) {
  const { words, change } = useAddress();
  const measure = measureOf(words['measure']);
  const isTable = words['view'] === 'table';
  const filter = useRef<HTMLInputElement>(null);
  const next = MEASURES[(MEASURES.indexOf(measure) + 1) % MEASURES.length];
  const flip = (): void => change({ view: isTable ? undefined : 'table' });
  useKeys([
    { key: 'm', words: 'measure', isShown: true, run: () => change({ measure: next }) },
    { key: 't', words: 'table or map', isShown: true, run: flip },
    { key: 'f', words: 'filter', run: () => filter.current?.focus() },
  ]);
  // An open panel has a command of its own.
  useCommandKey(words['why'] === undefined ? command : null);
  return (
    <div className="bar fleet-bar">
      <span className="label">Show</span>
      <span className="join" role="group" aria-label="What the map shows">
        {MEASURES.map((each) => (
          <button
            key={each}
            className="control"
            aria-pressed={each === measure}
            onClick={() => change({ measure: each })}
          >
            {MEASURE_WORDS[each]}
          </button>
        ))}
      </span>
      <span className="label">Sort</span>
      <select
        className="control"
        aria-label="Sort machines by"
        value={sortOf(words['sort'])}
        onChange={(event) => change({ sort: event.target.value })}
      >
        {SORTS.map((each) => (
          <option key={each} value={each}>
            {SORT_WORDS[each]}
          </option>
        ))}
      </select>
      <FilterChips field={filter} />
      <span className="acts">
        <button className="link" onClick={flip}>
          {isTable ? 'map' : 'table'}
        </button>
        <a href={csv} download>
          CSV
        </a>
        {command === null ? null : <CopyButton text={command} words="command" />}
      </span>
    </div>
  );
}

function Map({ reply }: { readonly reply: FleetReply }) {
  const { words, change } = useAddress();
  const measure = measureOf(words['measure']);
  const query = {
    window: words['window'] ?? 'today',
    asOf: words['asOf'],
    filter: words['filter'],
    measure,
    step: words['step'],
  };
  const tile = useTile(query, reply.total.gpus > 0);
  const opened = (words['open'] ?? '')
    .split(',')
    .filter((node) => node !== '')
    .map(decodeURIComponent);
  const nodes = useOpenedNodes(query, reply.hasGpus ? [] : opened);
  const openNode = (node: string): void => {
    const others = opened.filter((each) => each !== node);
    const now = others.length === opened.length ? [...opened, node] : others;
    change({ open: now.length === 0 ? undefined : now.map(encodeURIComponent).join(',') });
  };
  if (tile.error !== null) return <Trouble problem={tile.error} retry={() => void tile.refetch()} />;
  if (reply.total.gpus === 0) return <NoGpu />;
  if (tile.data === undefined) return <Loading rows={12} />;
  const of = { reply, tile: tile.data, measure };
  if (words['view'] === 'table') return <FleetTable {...of} />;
  return (
    <>
      <div className="bar">
        <Legend measure={measure} />
        <span className="acts">
          <MapCsv {...of} />
        </span>
      </div>
      {reply.hasGpus ? null : (
        <p className="note">
          A row is a machine: above the mean of its GPUs, below the GPU that stands worst. Enter opens it.
        </p>
      )}
      <HeatMap
        groups={reply.groups}
        tile={tile.data}
        opened={nodes}
        measure={measure}
        sort={sortOf(words['sort'])}
        label={`${MEASURE_WORDS[measure]} of ${reply.total.gpus} GPUs over time; the table view has the figures`}
        chosen={words['gpu']}
        zoom={zoomOf(words['zoom'])}
        onZoom={(zoom) =>
          change(zoom === 1 ? { zoom: undefined, pan: undefined } : { zoom: String(zoom) }, { replace: true })
        }
        pan={Math.max(0, Number.parseInt(words['pan'] ?? '0', 10) || 0)}
        onPan={(pan) => change({ pan: pan === 0 ? undefined : String(pan) }, { replace: true })}
        openGpu={(gpu) => change({ gpu, why: undefined })}
        openNode={openNode}
      />
    </>
  );
}

/** What to do where there is no GPU: a filter that matches none comes off first. */
function NoGpu() {
  const { words, change } = useAddress();
  if (words['filter'] === undefined)
    return <p className="note">Move the window with [ and ], or import an inventory: bursar import nodes FILE</p>;
  return (
    <p className="note">
      <button className="link" onClick={() => change({ filter: undefined })}>
        Take the filter off
      </button>
      , or move the window with [ and ].
    </p>
  );
}

function zoomOf(word: string | undefined): number {
  const zoom = Number(word ?? 1);
  return [1, 2, 4, 8, 16].includes(zoom) ? zoom : 1;
}
