/**
 * How a holder uses GPUs decides what a gap in its work means: a job waits, a service was not asked, a person thinks.
 *
 * Workload kinds that answer requests, and such in which people try things; every other kind is a job that
 * runs to an end. But much of what people sit in front of has no kind of its own: a shell of Slurm is a job like any other, a Jupyter server
 * a pod or a Deployment. What gives them away stands here, and only here.
 */
export const SERVING_KINDS = [
  'Deployment',
  'StatefulSet',
  'InferenceService',
  'LLMInferenceService',
  'RayService',
] as const;
export const INTERACTIVE_KINDS = ['Notebook'] as const;

/** A source sets it where it sees more than a row keeps (how a job was submitted, what a pod runs); people may set it too. */
export const SESSION_LABEL = 'bursar.io/session';

/** Words of a name that mean one thing only, whoever runs it. */
const TOOLS = ['jupyter', 'jupyterlab', 'jupyterhub', 'code server', 'openvscode', 'vscode', 'rstudio', 'sshd'];
/** Of a pod that nothing owns these are enough: somebody made it by hand. */
const BY_HAND = ['notebook', 'ssh', 'shell', 'bash', 'interactive', 'debug', 'sleep', 'devbox', 'devpod', 'playground'];
/** What owns pods without saying what they are for. */
const PLAIN_KINDS = ['Pod', 'ReplicaSet', 'Deployment', 'StatefulSet'];
/** What salloc calls a job, and what srun --pty does: by the program. */
const SHELLS = ['interactive', 'bash', 'sh', 'zsh', 'csh', 'tcsh', 'fish', 'tmux', 'screen'];
/** Words of a partition or QOS. `debug` and `dev` are none: in many a small cluster that is where everything runs. */
const ROOMS = ['interactive', 'interact', 'jupyter', 'ondemand', 'notebook', 'notebooks'];
/** Open OnDemand names the jobs of its sessions so. */
const ON_DEMAND = 'sys/dashboard/';

const list = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/** Whether a text has one of these as whole words, whatever parts its words. */
const hasWord = (text: string, words: readonly string[]): string =>
  `(${words
    .map((word) => `strpos(' ' || translate(lower(COALESCE(${text}, '')), '-_/.:', '     ') || ' ', ' ${word} ') > 0`)
    .join(' OR ')})`;

/** Whether people sit in front of a holding, by what its source keeps. */
const isSession = (h: string): string => `
  ${h}.labels['${SESSION_LABEL}'] IS NOT NULL OR ${h}.workload_kind IN (${list(INTERACTIVE_KINDS)})
    OR (${h}.workload_kind IN (${list(PLAIN_KINDS)}) AND ${hasWord(`${h}.workload_name`, TOOLS)})
    OR (${h}.workload_kind = 'Pod' AND ${hasWord(`${h}.workload_name`, BY_HAND)})
    OR (${h}.source LIKE 'slurm%' AND (lower(${h}.workload_name) IN (${list(SHELLS)})
      OR strpos(${h}.workload_name, '${ON_DEMAND}') > 0 OR ${hasWord(`${h}.workload_name`, TOOLS)}
      OR ${hasWord(`${h}.labels['partition']`, ROOMS)} OR ${hasWord(`${h}.labels['qos']`, ROOMS)}))`;

/**
 * The manner of a holding in SQL: what its class label says, else whether it looks like a session, else its workload kind. `h` names a row of
 * `holding`.
 */
export const mannerSql = (h: string): string => `
  CASE WHEN ${h}.labels['class'] = 'inference' THEN 'serving'
       WHEN ${h}.labels['class'] = 'experimentation' THEN 'interactive'
       WHEN ${h}.labels['class'] IN ('training', 'batch') THEN 'job'
       WHEN ${isSession(h)} THEN 'interactive'
       WHEN ${h}.workload_kind IN (${list(SERVING_KINDS)}) THEN 'serving'
       ELSE 'job' END`;
