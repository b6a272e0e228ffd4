import { at, listAt, textAt } from '../api/json-shape.ts';

/** Resources by which a container asks for an accelerator. */
const ACCELERATOR = /gpu|mig-|gaudi|tpu|neuron/;

/** Programs people sit in front of. `jupyter nbconvert` and the like run to an end. */
const PROGRAMS: readonly (readonly [session: string, command: RegExp])[] = [
  ['jupyter', /\bjupyter[- ](?:lab|notebook|server)\b|\bjupyterhub-singleuser\b|\bstart-(?:notebook|singleuser)\b/],
  ['code-server', /\bcode-server\b|\bopenvscode-server\b/],
  ['rstudio', /\brserver\b|\brstudio-server\b/],
  ['ssh', /(?:^|[\s/])sshd\b/],
];
/** Nothing but sleep: what somebody does in it comes by kubectl exec. After work it would be an end that was forgotten. */
const SLEEP =
  /^(?:\S*\/)?(?:tini\s+--\s+)?(?:(?:\S*\/)?(?:ba|z|da)?sh\s+-[a-z]*c\s+)?(?:trap [^;]*;\s*)?(?:exec\s+)?(?:sleep\s+(?:infinity|inf|\d+[smhd]?)|tail\s+-f\s+\/dev\/null)(?:\s*&\s*wait)?;?$/;
/** Images that start such a program by themselves. */
const IMAGES: readonly (readonly [session: string, image: RegExp])[] = [
  ['jupyter', /jupyter|notebook/],
  ['code-server', /code-server|vscode/],
  ['rstudio', /rstudio/],
];

/** Do the containers that ask for GPUs run something people sit in front of? By command and arguments, else by the image. */
export function sessionOf(spec: unknown): string | undefined {
  const containers = listAt(spec, 'containers');
  const asking = containers.filter((container) =>
    ['limits', 'requests'].some((side) =>
      Object.keys(at(container, 'resources', side) ?? {}).some((resource) => ACCELERATOR.test(resource)),
    ),
  );
  for (const container of asking.length > 0 ? asking : containers) {
    const found = sessionIn(container);
    if (found !== undefined) return found;
  }
  return undefined;
}

function sessionIn(container: unknown): string | undefined {
  const words = [...listAt(container, 'command'), ...listAt(container, 'args')].filter(
    (word) => typeof word === 'string',
  );
  const command = words.join(' ').trim();
  if (command === '') {
    const image = textAt(container, 'image')?.split('/').at(-1)?.split(/[:@]/)[0] ?? '';
    return IMAGES.find(([, pattern]) => pattern.test(image))?.[0];
  }
  if (SLEEP.test(command)) return 'sleep';
  return PROGRAMS.find(([, pattern]) => pattern.test(command))?.[0];
}
