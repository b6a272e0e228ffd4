import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';

/** Where a secret is kept: in the environment or in a file, never in bursar.yaml itself. */
export interface SecretPlace {
  readonly env?: string | undefined;
  readonly file?: string | undefined;
  /** What goes before it: `Bearer `. */
  readonly prefix?: string | undefined;
}

export interface SecretContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files named in bursar.yaml lie beside it. */
  readonly baseDir: string;
}

const SECRET_BYTES_MAX = 64 * 1024;

/**
 * What a secret is now. Asked for at each use: a token in a file may be another one by then, and nobody keeps it longer than
 * needed. What is said about a missing one names the place, never the content.
 */
export function secretOf(place: SecretPlace, { env, baseDir }: SecretContext): string {
  const found = place.env === undefined ? fileText(place.file ?? '', baseDir) : env[place.env];
  const secret = found?.trim() ?? '';
  if (secret === '') {
    throw new OperationError('no-secret', `the secret in ${placeWords(place)} is missing or empty`, {
      hint:
        place.env === undefined ? `Write it into ${place.file}, readable for this user only.` : `export ${place.env}=…`,
    });
  }
  if (/[\r\n\0]/.test(secret)) {
    throw new OperationError('bad-secret', `the secret in ${placeWords(place)} has more than one line`, {
      hint: 'Keep the token alone on one line.',
    });
  }
  return `${place.prefix ?? ''}${secret}`;
}

function placeWords({ env, file }: SecretPlace): string {
  return env === undefined ? `the file ${file}` : `the environment variable ${env}`;
}

function fileText(file: string, baseDir: string): string | undefined {
  try {
    const text = readFileSync(isAbsolute(file) ? file : join(baseDir, file), 'utf8');
    if (text.length <= SECRET_BYTES_MAX) return text;
  } catch (cause) {
    throw new OperationError('no-secret', `the file of a secret, ${file}, cannot be read`, {
      hint: 'Check its path (it is taken from the folder of bursar.yaml) and who may read it.',
      cause,
    });
  }
  throw new OperationError('bad-secret', `the file of a secret, ${file}, is larger than 64 kB`, {
    hint: 'Keep the token alone in it.',
  });
}

/** Headers that name a tenant, not a key, whatever their value looks like. */
const TENANT_HEADERS = new Set(['x-scope-orgid', 'thanos-tenant', 'x-thanos-tenant', 'accountid']);
const SECRET_HEADER = /auth|token|secret|password|passwd|credential|cookie|session|(^|[-_])key$|api-?key/i;
const SECRET_VALUE = [
  /^(bearer|basic|token|digest|negotiate|aws4-hmac)\b/i,
  /^eyJ[\w-]+\.[\w-]+/, // A JSON web token.
  /^(gh[pousr]_|glpat-|glc_|glsa_|xox[abpr]-|sk-|AKIA|ASIA|AIza|hvs\.)/,
  /^(?=[\w+/=.~-]{20,}$)(?=.*\d)(?=.*[a-z])[\w+/=.~-]+$/i, // Long, of letters and digits, without a blank.
];

/** Whether what stands there in the open looks like something nobody else should see. */
export function looksSecret(header: string, value: string): boolean {
  if (TENANT_HEADERS.has(header.toLowerCase())) return false;
  return SECRET_HEADER.test(header) || SECRET_VALUE.some((pattern) => pattern.test(value.trim()));
}

/** Whether an address carries a password or a token. */
export function urlHoldsSecret(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return /\/\/[^/@\s]*:[^/@\s]*@/.test(text);
  if (url.password !== '' || url.username !== '') return true;
  return [...url.searchParams.keys()].some((name) => SECRET_HEADER.test(name));
}

const SECRET_CHARS_MIN = 6;

/**
 * The same without any secret of the source in it, whoever put it there: servers repeat headers in their error pages. `secrets` is the JSON
 * of what was looked up. Words of a header ("Bearer", "Basic") are not secret; what follows them is, and what base64 hides.
 */
export function withoutSecrets<Value>(value: Value, secrets: string | undefined): Value {
  const hidden = secrets === undefined ? [] : secretWords(JSON.parse(secrets) as unknown);
  return hidden.length === 0 ? value : (cleaned(value, hidden) as Value);
}

function secretWords(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(secretWords);
  if (typeof value !== 'string') return [];
  const words = [value, ...value.split(/\s+/)];
  const plain = words
    .map((word) => Buffer.from(word, 'base64').toString('utf8'))
    .filter((text) => /^[\x20-\x7e]+$/.test(text));
  return [
    ...words,
    ...plain,
    ...plain.flatMap((text) => text.split(':')),
    ...words.map((word) => encodeURIComponent(word)),
  ]
    .filter((word) => word.length >= SECRET_CHARS_MIN && !/^(bearer|basic|digest|negotiate)$/i.test(word))
    .toSorted((a, b) => b.length - a.length);
}

function cleaned(value: unknown, hidden: readonly string[]): unknown {
  if (typeof value === 'string') return hidden.reduce((text, word) => text.replaceAll(word, '•••'), value);
  if (value instanceof OperationError) {
    const { code, message, hint, cause } = value;
    const text = (words: string): string => String(cleaned(words, hidden));
    // Its name stays: it tells a stop from a failure.
    const inner =
      cause instanceof Error ? Object.assign(new Error(text(cause.message)), { name: cause.name }) : undefined;
    return new OperationError(code, text(message), {
      ...(hint !== undefined && { hint: text(hint) }),
      ...(inner !== undefined && { cause: inner }),
    });
  }
  if (value instanceof Date || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => cleaned(each, hidden));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleaned(each, hidden)]));
}
