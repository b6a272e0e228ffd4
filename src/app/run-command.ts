import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { OperationError } from '../facts/operation-error.ts';
import type { RunCommand } from '../facts/source.ts';

const STDERR_BYTES_MAX = 64 * 1024;
/** A program that will not end when asked to is ended. */
const GRACE_MS = 500;

interface Ending {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/**
 * Runs a program and gives what it printed, however it ended.
 *
 * There is no shell between us and it, so no argument can become a command. It gets no input: a program that asks for a
 * password sees the end of a file instead of waiting. When time or size run out, it ends with everything it started, which
 * is why it runs in a process group of its own.
 */
export const runCommand: RunCommand = (argv, { signal, timeoutMs, outputBytesMax, env }) => {
  const [program, ...args] = argv;
  if (program === undefined || program === '') {
    throw new OperationError('bad-command', 'there is no program to run', { hint: 'Check command_prefix.' });
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LC_ALL: 'C', ...env },
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let outBytes = 0;
    let errBytes = 0;
    let ending: Ending | undefined;
    let force: NodeJS.Timeout | undefined;

    const end = (because: Ending): void => {
      if (ending !== undefined) return;
      ending = because;
      endTree(child, 'SIGTERM');
      force = setTimeout(() => {
        endTree(child, 'SIGKILL');
        // A grandchild that left the group may still hold the pipes; nobody waits for it.
        child.stdout.destroy();
        child.stderr.destroy();
      }, GRACE_MS);
    };
    const onAbort = (): void => end(stopped(program));
    const timer = setTimeout(() => end(tooSlow(program, timeoutMs)), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const settle = (): void => {
      clearTimeout(timer);
      clearTimeout(force);
      signal.removeEventListener('abort', onAbort);
    };

    child.stdout.on('data', (chunk: Buffer) => {
      outBytes += chunk.length;
      if (outBytes > outputBytesMax) return end(tooMuch(program, outputBytesMax));
      stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      const room = STDERR_BYTES_MAX - errBytes;
      if (room > 0) stderr.push(chunk.subarray(0, room));
      errBytes += chunk.length;
    });
    child.on('error', (cause) => {
      settle();
      reject(notStarted(program, cause));
    });
    child.on('close', (exitCode, signalName) => {
      settle();
      if (ending !== undefined) {
        const { code, message, hint } = ending;
        return reject(new OperationError(code, message, { hint }));
      }
      resolve({
        exitCode: exitCode ?? 128,
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: Buffer.concat(stderr).toString('utf8') + (signalName === null ? '' : `\nended by ${signalName}`),
      });
    });
  });
};

function endTree(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (failure) {
    const isGone = failure instanceof Error && 'code' in failure && failure.code === 'ESRCH';
    if (!isGone) child.kill(signal);
  }
}

function notStarted(program: string, cause: Error): OperationError {
  const code = 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT') {
    return new OperationError('no-program', `there is no program ${JSON.stringify(program)} here`, {
      hint: 'Install it, put its folder into PATH, or run it elsewhere with command_prefix, e.g. [ssh, login1].',
      cause,
    });
  }
  if (code === 'EACCES') {
    return new OperationError('no-permission', `${JSON.stringify(program)} may not be run by this user`, {
      hint: `Try it by hand: ${program}`,
      cause,
    });
  }
  return new OperationError('not-started', `${JSON.stringify(program)} could not be started: ${cause.message}`, {
    hint: `Try it by hand: ${program}`,
    cause,
  });
}

function tooSlow(program: string, timeoutMs: number): Ending {
  return {
    code: 'timeout',
    message: `${program} did not end within ${Math.round(timeoutMs / 100) / 10} s and was stopped`,
    hint: 'Try it by hand; if it waits for a server or for a password, that is what to mend.',
  };
}

function tooMuch(program: string, bytesMax: number): Ending {
  return {
    code: 'too-large',
    message: `${program} printed more than ${Math.round(bytesMax / 1e5) / 10} MB and was stopped`,
    hint: 'Ask for less at once, e.g. a shorter time.',
  };
}

function stopped(program: string): Ending {
  return { code: 'stopped', message: `${program} was stopped before it had ended`, hint: 'Run it again.' };
}
