import { toRevision } from '#caching/store/revision.ts';
import type {
  ChangeReceiver,
  ReceivingAccount,
  WireChange,
  WireChanges,
} from '#caching/store/wire-changes.ts';
import { createCacheWriter } from '#caching/writer/cache-writer.ts';
import { getErrorMessage, InvalidInputError, NotFoundError } from '#core/errors.ts';
import { parseWith } from '#settings/coerce.ts';
import { type AccountBounds, isNamespaceKind, isWithinBounds } from '../account/account-bounds.ts';
import type { KubernetesSession } from '../account/session.ts';
import type { ObjectFacts } from '../rows/facts.ts';
import { decodeFacts, factsVersion } from '../rows/facts-codec.ts';
import { encodedFactsSchema } from '../rows/facts-schema.ts';
import { toWriterOptions } from './cache-model.ts';
import type { CacheWriter, ObjectChange } from './object-change.ts';

/** Creates the receiver of changes that agents send for a session's accounts. */
export function createChangeReceiver(session: KubernetesSession): ChangeReceiver {
  const { clock, randomness } = session;
  const getAccount = (name: string) => {
    const account = session.findAccount(name);
    if (account === undefined) throw new NotFoundError(`Account named '${name}' not found.`);
    return account;
  };
  const open = ({ account, cache }: ReceivingAccount): CacheWriter =>
    createCacheWriter(toWriterOptions({ cache, account: getAccount(account), clock, randomness }));
  return {
    write: async (place, changes) => open(place).write(fromWireChanges(changes, getAccount(place.account))),
    prune: async (place, applications) => open(place).prune(applications),
  };
}

/**
 * Reads received changes.
 *
 * @param bounds the part of its cluster that the account may see
 * @throws InvalidInputError naming index and field of the first invalid one
 */
function fromWireChanges({ epoch, changes }: WireChanges, bounds: AccountBounds): ObjectChange[] {
  return changes.map((change, index) => fromWireChange(change, { epoch, bounds, at: `changes[${index}]` }));
}

function fromWireChange(
  change: WireChange,
  { epoch: batchEpoch, bounds, at }: { epoch: number; bounds: AccountBounds; at: string },
): ObjectChange {
  const { kind, location: namespace, name, epoch = batchEpoch, version, seenVersion = version } = change;
  if (epoch > batchEpoch) throw new InvalidInputError(`${at}.epoch: expected ${batchEpoch} at most`);
  // Namespaces that are needed but not shown come with nothing but their names.
  if (!isNamespaceKind(kind) && !isWithinBounds(bounds, { kind, namespace, name }))
    throw new InvalidInputError(`${at}: expected what the account may use, not ${kind} in '${namespace}'`);
  const revision = toWireRevision(epoch, version, `${at}.version`);
  const seenAt = toWireRevision(epoch, seenVersion, `${at}.seenVersion`);
  const facts = change.facts === undefined ? undefined : readFacts(change, `${at}.facts`);
  return { kind, location: namespace, name, revision, seenAt: seenAt < revision ? revision : seenAt, facts };
}

function toWireRevision(epoch: number, version: string, at: string): ObjectChange['revision'] {
  try {
    return toRevision(epoch, version);
  } catch (error) {
    throw new InvalidInputError(`${at}: ${getErrorMessage(error)}`);
  }
}

/** Facts that are fit for views: complete, and of the object that the change names. */
function readFacts(
  { facts: text = '', kind, location: namespace, name }: WireChange,
  at: string,
): ObjectFacts {
  const encoded = parseWith(encodedFactsSchema, parseText(text, at), at);
  const { v, k, s = '', n } = encoded;
  if (v !== factsVersion) throw new InvalidInputError(`${at}.v: expected ${factsVersion}, got ${v}`);
  if (k !== kind || s !== namespace || n !== name)
    throw new InvalidInputError(`${at}: expected those of ${kind} ${name}, not of another object`);
  const facts = decodeFacts(text);
  if (facts === undefined) throw new InvalidInputError(`${at}: expected facts of this release`);
  return facts;
}

function parseText(text: string, at: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidInputError(`${at}: expected JSON text`);
  }
}
