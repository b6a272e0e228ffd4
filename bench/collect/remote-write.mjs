/**
 * Writes series into a Prometheus by its remote write protocol, which is protobuf in snappy. Both are so small here that a
 * library would be larger: six fields, and snappy's literal blocks, which pack nothing.
 */

const TARGET_BYTES = 4_000_000;

/**
 * @typedef {{ labels: Record<string, string>, timesMs: Float64Array, values: Float64Array }} WrittenSeries
 * @param {string} url of the Prometheus
 * @param {Iterable<WrittenSeries>} series
 */
export async function remoteWrite(url, series) {
  let pieces = /** @type {Buffer[]} */ ([]);
  let bytes = 0;
  for (const each of series) {
    const message = timeSeries(each);
    pieces.push(field(1, message.length), message);
    bytes += message.length;
    if (bytes < TARGET_BYTES) continue;
    await send(url, Buffer.concat(pieces));
    pieces = [];
    bytes = 0;
  }
  if (bytes > 0) await send(url, Buffer.concat(pieces));
}

/** @param {string} url @param {Buffer} request */
async function send(url, request) {
  const answer = await fetch(`${url}/api/v1/write`, {
    method: 'POST',
    headers: { 'content-encoding': 'snappy', 'x-prometheus-remote-write-version': '0.1.0' },
    body: new Uint8Array(snappy(request)),
    signal: AbortSignal.timeout(120_000),
  });
  if (!answer.ok) throw new Error(`remote write: ${answer.status} ${(await answer.text()).slice(0, 300)}`);
}

/** @param {WrittenSeries} series */
function timeSeries({ labels, timesMs, values }) {
  const pieces = [];
  for (const [name, value] of Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const label = Buffer.concat([text(1, name), text(2, value)]);
    pieces.push(field(1, label.length), label);
  }
  for (const [index, timeMs] of timesMs.entries()) {
    const sample = Buffer.allocUnsafe(18);
    sample[0] = 0x09;
    sample.writeDoubleLE(values[index] ?? 0, 1);
    sample[9] = 0x10;
    const size = 10 + varint(timeMs, sample, 10);
    pieces.push(field(2, size), sample.subarray(0, size));
  }
  return Buffer.concat(pieces);
}

/** @param {number} number @param {string} value */
function text(number, value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([field(number, bytes.length), bytes]);
}

/** The head of a field that has a length. @param {number} number @param {number} length */
function field(number, length) {
  const head = Buffer.allocUnsafe(6);
  head[0] = (number << 3) | 2;
  return head.subarray(0, 1 + varint(length, head, 1));
}

/** @param {number} value @param {Buffer} into @param {number} at @returns {number} bytes written */
function varint(value, into, at) {
  let [rest, place] = [value, at];
  while (rest >= 128) {
    into[place++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  into[place++] = rest;
  return place - at;
}

/** @param {Buffer} plain */
function snappy(plain) {
  const length = Buffer.allocUnsafe(6);
  /** @type {Buffer[]} */
  const pieces = [length.subarray(0, varint(plain.length, length, 0))];
  for (let at = 0; at < plain.length; at += 65_536) {
    const block = plain.subarray(at, at + 65_536);
    const head = Buffer.from([61 << 2, 0, 0]);
    head.writeUInt16LE(block.length - 1, 1);
    pieces.push(head, block);
  }
  return Buffer.concat(pieces);
}
