/** People who click through pages, with a second of looking between two clicks. */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { WINDOWS } from './walk.mjs';

const LOOK_MS = 1000;

/** @typedef {{ page: string, ms: number, status: number, bytes: number }} Answer */

/**
 * @param {string} url @param {readonly import('./walk.mjs').Step[]} steps
 * @param {{ users: number, rounds: number }} size @returns {Promise<Answer[]>}
 */
export async function walk(url, steps, { users, rounds }) {
  /** @type {Answer[]} */
  const answers = [];
  await Promise.all(
    Array.from({ length: users }, async (_, user) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 6 });
      // Nobody begins at the same moment, and nobody at the same page.
      await delay((LOOK_MS * user) / users);
      for (let round = 0; round < rounds; round++) {
        const window = WINDOWS[(user + round) % WINDOWS.length];
        const pages = steps.filter((step) => step.window === window);
        for (let at = 0; at < pages.length; at++) {
          const step = pages[(at + user) % pages.length];
          if (step === undefined) continue;
          const asked = step.asks.map((path) => timed(url, path, agent));
          answers.push(...(await Promise.all(asked)).map((answer) => ({ page: step.page, ...answer })));
          await delay(LOOK_MS);
        }
      }
      agent.destroy();
    }),
  );
  return answers;
}

/**
 * From sending to the last byte, as a browser would wait for it. A connection that the server has just given up for want of use is no answer: as
 * browsers do, it is asked again on a new one.
 * @param {string} url @param {string} path @param {Agent} agent @returns {Promise<Omit<Answer, 'page'>>}
 */
function timed(url, path, agent) {
  const began = performance.now();
  return new Promise((done, fail) => {
    const send = () => {
      const sent = request(`${url}${path}`, { agent, headers: { 'accept-encoding': 'gzip' } }, (reply) => {
        let bytes = 0;
        reply.on('data', (/** @type {Buffer} */ chunk) => (bytes += chunk.length));
        reply.on('end', () => done({ ms: performance.now() - began, status: reply.statusCode ?? 0, bytes }));
      });
      sent.on('error', (error) => {
        if (sent.reusedSocket && 'code' in error && error.code === 'ECONNRESET') send();
        else fail(error);
      });
      sent.end();
    };
    send();
  });
}

/** @param {readonly number[]} values @param {number} share @returns {number} */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
