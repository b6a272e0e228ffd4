/**
 * Loaded into every Node process of a measured command (`node --import`): says, when the process ends, what it cost.
 * CPU and resident memory are those of the whole process with all its threads.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env['BENCH_COST_DIR'];
if (folder !== undefined) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    const cost = {
      command: process.argv.slice(1).join(' '),
      cpuSeconds: (user + system) / 1e6,
      wallSeconds: process.uptime(),
      peakRssMib: process.resourceUsage().maxRSS / 1024,
    };
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(cost));
  });
}
