/** A file of the example, as somebody's own would look. */
export interface ExampleFile {
  /** The word of `bursar import WORD`. */
  readonly table: string;
  readonly name: string;
  readonly text: string;
}

const STEP_S = 300;
const HOUR_MS = 3_600_000;
const WEEK_START = '2026-03-02T00:00Z'; // A Monday.
const BILLED_UNTIL = '2026-03-09T00:00Z';
const NOW = '2026-03-09T09:00Z';

const NODES = `
  node_id | resource_id         | provider     | billing_account | region      | instance_type | purchase  | cluster | gpu_count | tags
  gpu-a01 | i-0a1b2c3d4e5f60001 | AWS          | 123456789012    | us-east-1   | p5.48xlarge   | on-demand | train   | 8         |
  gpu-b01 |                     |              |                 | office      |               | owned     | train   | 4         | {"team": "platform"}
  l4-1    |                     | Google Cloud | serving         | us-central1 | g2-standard-8 | on-demand | serve   | 1         | {"team": "serving"}
  l4-2    |                     | Google Cloud | serving         | us-central1 | g2-standard-8 | on-demand | serve   | 1         | {"team": "serving"}`;

/** Name and first and last number of the GPUs, their node, model, and watts at rest and at work. */
const GPUS = `
  H100 0-7 | gpu-a01 | NVIDIA H100 80GB HBM3 | 70 | 650
  A100 0-3 | gpu-b01 | NVIDIA A100-SXM4-80GB | 55 | 380
  L4 0-0   | l4-1    | NVIDIA L4             | 12 | 68
  L4 1-1   | l4-2    | NVIDIA L4             | 12 | 68`;

/** When GPUs work, at which engine activity in permille; "silent" is a dead exporter. Else they rest. */
const WORK = `
  H100 0-7 | Mon 09:00 | Wed 20:10 | 930
  H100 0-3 | Thu 08:00 | Thu 19:30 | 610
  H100 0-3 | Sat 00:20 | Sun 02:10 | 880
  H100 4-6 | Thu 08:30 | Sat 01:40 | 450
  H100 7-7 | Thu 22:10 | Fri 18:40 | 180
  A100 0-1 | Mon 10:00 | Fri 17:50 | 720
  L4 0-0   | Mon 00:00 | now       | 240
  L4 1-1   | Mon 00:00 | Thu 14:10 | 260
  L4 1-1   | Thu 14:10 | now       | silent`;

/** Columns as in the file, but for the last: which GPUs, a row for each. */
const JOBS = `
  source     | allocation_id  | cluster | account | namespace | user_name | workload_kind | workload_name    | labels                | outcome   | held_from | held_until | GPUs
  slurm      | 884213         | train   | nlp     |           | mchen     | Job           | train-7b-sft     | {"class": "training"} | completed | Mon 09:00 | Wed 21:30  | H100 0-7
  slurm      | 884219         | train   | asr     |           | kim       | Job           | whisper-finetune | {"class": "training"} | completed | Mon 10:00 | Fri 18:00  | A100 0-3
  slurm      | 884377         | train   | nlp     |           | mchen     | Job           | eval-suite       | {"class": "batch"}    | completed | Thu 08:00 | Thu 20:00  | H100 0-3
  slurm      | 884391         | train   | vision  |           | lopez     | Job           | sweep-lr         | {"class": "training"} | failed    | Thu 08:00 | Sat 02:00  | H100 4-6
  slurm      | 884402         | train   | vision  |           | apatel    | Notebook      | notebook-apatel  |                       | running   | Thu 22:00 |            | H100 7-7
  slurm      | 884455         | train   | nlp     |           | mchen     | Job           | train-7b-dpo     | {"class": "training"} | running   | Sat 00:00 |            | H100 0-3
  kubernetes | llm-serve-7f9c | serve   |         | serving   |           | Deployment    | llm-serve        |                       | running   | Mon 00:00 |            | L4 0-1`;

/** Rows of the bill: how often, the first day, category, words, dollars, and what FOCUS says of the resource. */
const CHARGES = `
  hourly | Mon | Usage  | 8 x H100, on demand  | 55.04   | Compute    | Amazon Elastic Compute Cloud | P5-48XL | us-east-1 | i-0a1b2c3d4e5f60001 |         |
  hourly | Thu | Usage  | Savings Plan, unused | 2.10    | Compute    | Amazon Elastic Compute Cloud |         | us-east-1 |                     | sp-0d41 | Unused
  daily  | Mon | Usage  | Volumes              | 21.37   | Storage    | Amazon Elastic Block Store   | EBS-GP3 | us-east-1 | vol-0c11            |         |
  daily  | Mon | Usage  | Data transfer out    | 6.48    | Networking | AWS Data Transfer            | EGRESS  | us-east-1 | eni-0f21            |         |
  once   | Mon | Tax    | Sales tax            | 402.515 | Other      | Tax                          |         |           |                     |         |
  once   | Mon | Credit | Promotional credit   | -150    | Other      | Credits                      |         |           |                     |         |`;

/** A made-up week of 14 GPUs: rented and billed, owned at a stated rate, and two small machines at list price. */
export function exampleFiles(): readonly ExampleFile[] {
  const rates = [
    ['node_id', 'valid_from', 'usd_per_gpu_hour', 'rate_source'],
    ['gpu-b01', WEEK_START, '1.35', 'finance FY26'],
  ];
  return [
    { table: 'nodes', name: 'nodes.csv', text: csv(cells(NODES)) },
    { table: 'devices', name: 'devices.csv', text: csv(devices()) },
    { table: 'allocations', name: 'allocations.csv', text: csv(allocations()) },
    { table: 'samples', name: 'samples.csv', text: csv(samples()) },
    { table: 'charges', name: 'bill-2026-03.csv', text: csv(bill()) },
    { table: 'rates', name: 'rates.csv', text: csv(rates) },
  ];
}

function devices(): string[][] {
  const rows = cells(GPUS).flatMap(([which = '', node = '', model = '']) =>
    gpusOf(which).map((id) => [id, node, model]),
  );
  return [['device_id', 'node_id', 'model'], ...rows];
}

function allocations(): string[][] {
  const nodeOf = new Map(devices().map(([id = '', node = '']) => [id, node]));
  const [header = [], ...jobs] = cells(JOBS);
  const rows = jobs.flatMap((job) => {
    const [from = '', until = '', which = ''] = job.slice(-3);
    return gpusOf(which).map((gpu, slot) =>
      job.slice(0, -3).concat([at(from), at(until), nodeOf.get(gpu) ?? '', String(slot), gpu]),
    );
  });
  return [header.slice(0, -1).concat(['node_id', 'slot', 'device_id']), ...rows];
}

function samples(): string[][] {
  const rows = [['device_id', 'ts', 'step_s', 'engine_permille', 'power_w']];
  const work = cells(WORK).flatMap(([which = '', from = '', until = '', level = '']) =>
    gpusOf(which).map((gpu) => ({ gpu, from: Date.parse(at(from)), until: Date.parse(at(until)), level })),
  );
  for (const [which = '', , , rest = '', full = ''] of cells(GPUS)) {
    for (const gpu of gpusOf(which)) {
      const spells = work.filter((spell) => spell.gpu === gpu);
      for (let time = Date.parse(WEEK_START), index = 0; time < Date.parse(NOW); time += STEP_S * 1000, index += 1) {
        const level = spells.find(({ from, until }) => from <= time && time < until)?.level;
        if (level === 'silent') continue;
        const wobble = ((index * 7919) % 101) - 50; // The same on every machine.
        const engine = level === undefined ? 0 : Math.min(1000, Number(level) + wobble);
        const watts = Number(rest) + Math.round(((Number(full) - Number(rest)) * engine) / 1000) + (index % 2);
        rows.push([gpu, minuteText(time), String(STEP_S), String(engine), String(watts)]);
      }
    }
  }
  return rows;
}

/** The bill in the columns of FOCUS. */
function bill(): string[][] {
  const header =
    'ProviderName,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,BillingCurrency,' +
    'BilledCost,ChargeCategory,ChargeDescription,EffectiveCost,ServiceCategory,ServiceName,SkuId,RegionId,ResourceId,' +
    'CommitmentDiscountId,CommitmentDiscountStatus';
  const end = Date.parse(BILLED_UNTIL);
  const rows = cells(CHARGES).flatMap(([often = '', day = '', category = '', words = '', usd = '', ...rest]) => {
    const begin = Date.parse(at(`${day} 00:00`));
    const step = often === 'hourly' ? HOUR_MS : often === 'daily' ? 24 * HOUR_MS : end - begin;
    return Array.from({ length: (end - begin) / step }, (_, index) =>
      ['AWS', '123456789012', '2026-03-01T00:00Z', '2026-04-01T00:00Z', minuteText(begin + index * step)].concat(
        [minuteText(begin + (index + 1) * step), 'USD', usd, category, words, usd],
        rest,
      ),
    );
  });
  return [header.split(','), ...rows];
}

/** `Fri 18:40` of the week as a time; `now` is its end, nothing stays nothing. */
function at(text: string): string {
  if (text === '' || text === 'now') return text === '' ? '' : NOW;
  const [name = '', time = ''] = text.split(' ');
  const place = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(name);
  return `2026-03-${String(2 + place).padStart(2, '0')}T${time}Z`;
}

/** The ids of `H100 0-7`, as made up as everything here, and the same every time. */
function gpusOf(which: string): string[] {
  const [model = '', range = ''] = which.split(' ');
  const [first = 0, last = 0] = range.split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const place = first + index;
    const digits = ((Number.parseInt(model, 36) + place) * 2_654_435_761) % 4_294_967_296;
    return `GPU-${digits.toString(16).padStart(8, '0')}-0000-4000-8000-00000000000${place}`;
  });
}

function minuteText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}Z`;
}

/** The cells of a table above. */
function cells(table: string): string[][] {
  return table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

function csv(rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `${rows.map((row) => row.map(cell).join(',')).join('\n')}\n`;
}
