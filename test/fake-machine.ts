import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../src/app/run-command.ts';
import type { RunCommand } from '../src/facts/source.ts';

/** A machine whose programs print what a test says; they are real programs in a folder of their own. */
export interface FakeMachine {
  readonly run: RunCommand;
  /** Each later call changes what the program prints. Undefined takes it away. */
  program(name: string, prints: string | undefined, exitCode?: number): Promise<void>;
  /** A program as a script of its own. */
  script(name: string, body: string): Promise<void>;
  remove(): Promise<void>;
}

export async function fakeMachine(): Promise<FakeMachine> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-fake-machine-'));
  const script = async (name: string, body: string): Promise<void> => {
    await writeFile(join(folder, name), `#!/bin/sh\n${body}\n`);
    await chmod(join(folder, name), 0o755);
  };
  return {
    // Only its own programs are there, so that a machine with GPUs tests the same.
    run: (argv, options) => runCommand(argv, { ...options, env: { ...options.env, PATH: folder } }),
    script,
    async program(name, prints, exitCode = 0) {
      if (prints === undefined) return rm(join(folder, name), { force: true });
      await writeFile(join(folder, `${name}.out`), prints);
      await script(
        name,
        `while IFS= read -r line || [ -n "$line" ]; do printf '%s\\n' "$line"; done < '${folder}/${name}.out'\nexit ${exitCode}`,
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** One GPU as `nvidia-smi -q -x` writes it. */
export interface FakeGpu {
  readonly uuid: string;
  readonly model?: string;
  readonly util?: string;
  readonly usedMib?: number;
  readonly watts?: string;
  readonly processes?: readonly { pid: number; name: string; type?: string; instance?: string }[];
  readonly slices?: readonly { index: number; instance: number; totalMib: number; usedMib: number }[];
}

/** What `nvidia-smi -q -x` prints of these GPUs, in the shape of driver 590. */
export function smiXml(gpus: readonly FakeGpu[], timestamp = 'Mon Nov 16 10:00:00 2026'): string {
  return `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">
<nvidia_smi_log>
	<timestamp>${timestamp}</timestamp>
	<driver_version>590.48.01</driver_version>
	<attached_gpus>${gpus.length}</attached_gpus>
${gpus.map(gpuXml).join('\n')}
</nvidia_smi_log>
`;
}

function gpuXml(gpu: FakeGpu): string {
  const { uuid, model = 'NVIDIA H100 80GB HBM3', util = '0 %', usedMib = 4, watts = '70.12 W' } = gpu;
  const slices = (gpu.slices ?? []).map(
    ({ index, instance, totalMib, usedMib: used }) =>
      `<mig_device><index>${index}</index><gpu_instance_id>${instance}</gpu_instance_id><compute_instance_id>0</compute_instance_id>
      <fb_memory_usage><total>${totalMib} MiB</total><used>${used} MiB</used></fb_memory_usage></mig_device>`,
  );
  const processes = (gpu.processes ?? []).map(
    ({ pid, name, type = 'C', instance = 'N/A' }) =>
      `<process_info><gpu_instance_id>${instance}</gpu_instance_id><pid>${pid}</pid><type>${type}</type><process_name>${name}</process_name>
      <used_memory>512 MiB</used_memory></process_info>`,
  );
  return `	<gpu id="00000000:53:00.0">
		<product_name>${model}</product_name>
		<uuid>${uuid}</uuid>
		<mig_devices>${slices.length === 0 ? 'None' : slices.join('\n')}</mig_devices>
		<pci><tx_util>1000 KB/s</tx_util><rx_util>2000 KB/s</rx_util></pci>
		<clocks_event_reasons>
			<clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
			<clocks_event_reason_sw_power_cap>Not Active</clocks_event_reason_sw_power_cap>
		</clocks_event_reasons>
		<fb_memory_usage><total>81559 MiB</total><reserved>479 MiB</reserved><used>${usedMib} MiB</used></fb_memory_usage>
		<utilization><gpu_util>${util}</gpu_util></utilization>
		<gpu_power_readings><average_power_draw>${watts}</average_power_draw></gpu_power_readings>
		<processes>${processes.join('\n')}</processes>
	</gpu>`;
}
