import type { Connection } from '../api/connection.ts';
import { at, listAt, textAt } from '../api/json-shape.ts';
import { get } from '../api/request.ts';
import { OperationError } from '../../../facts/operation-error.ts';
import type { OwnerReference, Workload } from './workload.ts';
import { controllerOf, markingsOf } from './workload.ts';
import { userOf } from './user-name.ts';

/** The top of a chain of owners, and whose it is if one of them says so. */
export interface TopOwner extends Workload {
  readonly user?: string;
}

/** Finds the top of a chain of owners; undefined where the first of them may not be read. */
export type OwnerLookup = (owner: OwnerReference, namespace: string) => Promise<TopOwner | undefined>;

interface Known {
  readonly parent?: OwnerReference;
  readonly user?: string;
}

/** What is remembered between pulls: owners do not change. Lives as long as the source. */
export interface OwnerMemory {
  readonly owners: Map<string, Known>;
  readonly places: Map<string, string | undefined>;
}

export function emptyOwnerMemory(): OwnerMemory {
  return { owners: new Map(), places: new Map() };
}

const OWNERS_MAX = 50_000;
const CHAIN_MAX = 8;
const TIME_MS_MAX = 30_000;
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

/**
 * Follows owners by asking for each object's metadata. It is optional work: who may not be read, is gone, or is slow ends the chain
 * there, and the whole of a pull's lookups has a time limit.
 */
export function ownerLookup(connection: Connection, memory: OwnerMemory, signal: AbortSignal): OwnerLookup {
  const begun = Date.now();
  const denied = new Set<string>();
  const asking = new Map<string, Promise<Known | undefined>>();
  const ask = async (owner: OwnerReference, namespace: string): Promise<Known | undefined> => {
    const known = memory.owners.get(owner.uid);
    if (known !== undefined || Date.now() - begun > TIME_MS_MAX) return known;
    const under = asking.get(owner.uid);
    if (under !== undefined) return under;
    const found = readOwner({ connection, memory, signal, denied }, owner, namespace);
    asking.set(owner.uid, found);
    return found;
  };
  return async (owner, namespace) => {
    let top: OwnerReference = owner;
    let user: string | undefined;
    for (let step = 0; step < CHAIN_MAX; step += 1) {
      const known = await ask(top, namespace);
      if (known === undefined) return step === 0 ? undefined : topOf(top, user);
      user ??= known.user;
      if (known.parent === undefined) break;
      top = known.parent;
    }
    return topOf(top, user);
  };
}

function topOf({ kind, name }: OwnerReference, user: string | undefined): TopOwner {
  return { kind, name, ...(user !== undefined && { user }) };
}

interface Reading {
  readonly connection: Connection;
  readonly memory: OwnerMemory;
  readonly signal: AbortSignal;
  /** Collections that were refused in this pull; a role given meanwhile counts in the next. */
  readonly denied: Set<string>;
}

async function readOwner(reading: Reading, owner: OwnerReference, namespace: string): Promise<Known | undefined> {
  const { connection, memory, signal, denied } = reading;
  try {
    const place = await placeOf(reading, owner);
    if (place === undefined || denied.has(place)) return undefined;
    const [collection, object] = [place, encodeURIComponent(owner.name)];
    const path = collection.replace('{namespace}', encodeURIComponent(namespace));
    const what = `get ${owner.kind} ${owner.name}`;
    const { status, body } = await get(
      connection,
      { path: `${path}/${object}`, what, accept: METADATA_ONLY, signal },
      [403, 404],
    );
    if (status === 403) {
      denied.add(place);
      return undefined;
    }
    const known = status === 200 ? knownOf(body, owner) : {};
    if (memory.owners.size >= OWNERS_MAX) memory.owners.clear();
    memory.owners.set(owner.uid, known);
    return known;
  } catch (failure) {
    // Who owns a pod is worth knowing, but not worth losing the pod for.
    if (failure instanceof OperationError && failure.code !== 'aborted') return undefined;
    throw failure;
  }
}

/** An owner that is gone ends the chain; another object may have come under its name. */
function knownOf(body: unknown, owner: OwnerReference): Known {
  if (textAt(body, 'metadata', 'uid') !== owner.uid) return {};
  const { labels, annotations } = markingsOf(body);
  const [parent, user] = [controllerOf(body), userOf(labels, annotations)];
  return { ...(parent !== undefined && { parent }), ...(user !== undefined && { user }) };
}

/** The path of a kind's collection, `/apis/apps/v1/namespaces/{namespace}/replicasets`, from what the server says it has. */
async function placeOf({ connection, memory, signal }: Reading, owner: OwnerReference): Promise<string | undefined> {
  const { apiVersion, kind } = owner;
  if (!/^[a-z0-9.-]+(\/[a-z0-9]+)?$/.test(apiVersion)) return undefined;
  const key = `${apiVersion} ${kind}`;
  if (memory.places.has(key)) return memory.places.get(key);
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { body } = await get(connection, { path: root, what: `list the kinds of ${apiVersion}`, signal }, [403, 404]);
  const resource = listAt(body, 'resources').find(
    (entry) => textAt(entry, 'kind') === kind && textAt(entry, 'name')?.includes('/') === false,
  );
  const name = textAt(resource, 'name');
  const inNamespace = at(resource, 'namespaced') === true ? '/namespaces/{namespace}' : '';
  const place = name === undefined ? undefined : `${root}${inNamespace}/${encodeURIComponent(name)}`;
  memory.places.set(key, place);
  return place;
}
