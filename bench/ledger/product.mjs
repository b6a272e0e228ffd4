/**
 * Runs `bursar` commands in one process and says, as the last line of stderr, what the process cost.
 *
 *   node bench/ledger/product.mjs 'import nodes a.parquet --data d' 'derive --data d'
 *   node bench/ledger/product.mjs select-1
 */
process.env['UV_THREADPOOL_SIZE'] ??= '12';
/** @type {{ main: (argv: string[]) => Promise<number> }} */
const { main } = await import(new URL('../../dist/main.js', import.meta.url).href);

const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
/** @type {Record<string, number>} */
const steps = {};
for (const command of process.argv.slice(2)) {
  const before = cpuSeconds();
  if (command === 'select-1') await selectOne();
  else if ((await main(command.split(' '))) !== 0) throw new Error(`bursar ${command} failed`);
  steps[command.split(' ').slice(0, 2).join(' ')] = Number((cpuSeconds() - before).toFixed(3));
}
const peakRssMib = Math.round(process.resourceUsage().maxRSS / 1024);
process.stderr.write(`${JSON.stringify({ cpuSeconds: Number(cpuSeconds().toFixed(3)), peakRssMib, steps })}\n`);

/** What any answer costs: the engine opened as Bursar opens it, and one row. */
async function selectOne() {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '1000MB' });
  const connection = await instance.connect();
  process.stdout.write(`${JSON.stringify((await connection.runAndReadAll('SELECT 1')).getRows())}\n`);
}
