import type { AccountWarning, RejectedAccount } from '#accounts/model/account.ts';
import { asJsonArray, asJsonObject, isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { plugins } from '#providers/index.ts';
import { describeUnknownKey, findNearestKey, keyLengthMax } from '../nearest-key.ts';
import { findMember, getSetting, joinPath, toCanonicalKey, toCanonicalPath } from '../spring-config.ts';
import {
  configServerBackends,
  configServerPath,
  idleSections,
  ownSettings,
  serviceNames,
  sharedSections,
  type UnservedSection,
  unservedSections,
} from './known-settings.ts';

/** Unknown settings reported; of further ones only their number. */
export const unknownSettingsToldMax = 50;

/** Unknown settings compared with known ones, which takes time; further ones are counted. */
const unknownSettingsJudgedMax = 1_000;

/** Accounts of a section that a message names. */
const accountsNamedMax = 5;

/** What Busdriver does not serve of a configuration. */
export interface UnservedSettings {
  /** An entry for each section with accounts. */
  readonly rejectedAccounts: readonly RejectedAccount[];
  readonly warnings: readonly AccountWarning[];
}

/**
 * What a configuration asks for that this release does not serve, and unknown settings: each once, either as a rejected account or as a
 * warning. See docs/accounts.md for what is reported and what is not.
 *
 * @param texts the configuration's texts: a key that one of their placeholders names is used, known or not.
 */
export function findUnservedSettings(settings: JsonObject, texts: readonly string[]): UnservedSettings {
  const verdicts = unservedSections.map((section) =>
    judgeSection(section, getSetting(settings, section.path)),
  );
  return {
    rejectedAccounts: verdicts.flatMap(({ rejected }) => rejected ?? []),
    warnings: [
      ...verdicts.flatMap(({ warning }) => warning ?? []),
      ...listConfigServers(settings),
      ...describeUnknown(listUnknown(settings, { node: createKnownTree(), path: '' }), texts),
    ],
  };
}

interface Verdict {
  readonly rejected?: RejectedAccount;
  readonly warning?: AccountWarning;
}

function judgeSection(
  { path, what, hasSwitchesBelow }: UnservedSection,
  value: JsonValue | undefined,
): Verdict {
  const section = asJsonObject(value);
  if (section === undefined) return {};
  const enabled = findMember(section, 'enabled') ?? undefined;
  // Halyard writes every existing section.
  if (isSwitch(enabled, offWords)) return {};
  if (hasSwitchesBelow) return hasSwitchOn(section) ? warn(path, what) : {};
  const accounts = asJsonArray(findMember(section, 'accounts')).filter(isJsonObject);
  if (accounts.length > 0) {
    const reason = `${path}.accounts: this release does not serve ${what}: left out are ${nameAccounts(accounts)}`;
    return { rejected: { name: path, reason, isUnserved: true } };
  }
  return isSwitch(enabled, onWords) ? warn(`${path}.enabled`, what) : {};
}

function warn(path: string, what: string): Verdict {
  return {
    warning: { message: 'setting of no effect', reason: `${path}: this release does not serve ${what}` },
  };
}

/** A warning for each source from which Spring's configuration server would take settings. */
function listConfigServers(settings: JsonObject): readonly AccountWarning[] {
  if (isSwitch(getSetting(settings, 'spring.cloud.config.enabled'), offWords)) return [];
  const advice =
    'no configuration server is asked: put what it serves, such as accounts, into files that --config names, or into the secret of the ' +
    'settings, or have accounts made by POST /credentials';
  return configServerBackends
    .map((backend) => joinPath(configServerPath, backend))
    .filter((path) => typeof getSetting(settings, path) === 'object' && getSetting(settings, path) !== null)
    .map((path) => ({ message: 'setting of no effect', reason: `${path}: ${advice}` }));
}

const onWords = ['true', 'yes', 'on'];
const offWords = ['false', 'no', 'off'];

function isSwitch(value: JsonValue | undefined, words: readonly string[]): boolean {
  return typeof value !== 'object' && words.includes(String(value).trim().toLowerCase());
}

/** Levels below a section in which `enabled` is searched: a name with dots in it takes one for each. */
const switchDepthMax = 6;

/** Whether something below a section is switched on. */
function hasSwitchOn(section: JsonObject, depth = 1): boolean {
  if (isSwitch(findMember(section, 'enabled'), onWords)) return true;
  if (depth === switchDepthMax) return false;
  return Object.values(section).some((member) => isJsonObject(member) && hasSwitchOn(member, depth + 1));
}

/** `hub, quay and 3 more`. */
function nameAccounts(accounts: readonly JsonObject[]): string {
  const names = accounts.map((account) => findMember(account, 'name'));
  const shown = names
    .filter((name) => typeof name === 'string' && name.trim() !== '')
    .slice(0, accountsNamedMax)
    .map((name) => String(name).slice(0, keyLengthMax));
  const more = accounts.length - shown.length;
  if (more === 0) return shown.join(', ');
  return shown.length === 0 ? `${more} accounts` : `${shown.join(', ')} and ${more} more`;
}

/** What a place of the configuration may hold. */
interface KnownNode {
  /** By canonical key; `*` for any key, and for the items of a list. */
  readonly members: Map<string, { readonly name: string; readonly node: KnownNode }>;
  /** True where everything below is accepted. */
  isOpaque: boolean;
  /** See {@link sharedSections}. */
  isShared: boolean;
  /** Whether it has no effect, so that it is not suggested. */
  isIdle: boolean;
}

function createKnownTree(): KnownNode {
  const root = createNode();
  const idle = idleSections.flatMap(({ names }) => names);
  const paths = [
    ...plugins.flatMap(({ name, knownSettings = [name] }) => knownSettings),
    ...ownSettings,
    ...serviceNames.map((name) => `services.${name}`),
    ...idle,
    ...unservedSections.map(({ path }) => path),
  ];
  for (const path of paths) addPath(root, path.split('.')).isOpaque = true;
  for (const path of idle) addPath(root, [path]).isIdle = true;
  for (const path of sharedSections) markShared(root, path.split('.'));
  return root;
}

function createNode(): KnownNode {
  return { members: new Map(), isOpaque: false, isShared: false, isIdle: false };
}

/** The node at a path, created where it is missing. */
function addPath(root: KnownNode, keys: readonly string[]): KnownNode {
  let node = root;
  for (const name of keys) {
    const key = toCanonicalKey(name);
    const known = node.members.get(key) ?? { name, node: createNode() };
    node.members.set(key, known);
    node = known.node;
  }
  return node;
}

function markShared(node: KnownNode, [key, ...further]: readonly string[]): void {
  if (key === undefined) {
    node.isShared = true;
    return;
  }
  for (const [name, member] of node.members) {
    if (key === '*' || toCanonicalKey(key) === name) markShared(member.node, further);
  }
}

/** A key that is unknown at its place. */
interface UnknownKey {
  readonly path: string;
  readonly key: string;
  /** The known members there. */
  readonly node: KnownNode;
}

function* listUnknown(
  value: JsonValue,
  { node, path }: { readonly node: KnownNode; readonly path: string },
): Generator<UnknownKey> {
  if (node.isOpaque && !node.isShared) return;
  const any = node.members.get('*')?.node;
  if (Array.isArray(value) && any) {
    for (const [index, item] of value.entries())
      yield* listUnknown(item, { node: any, path: joinPath(path, index) });
  }
  if (!isJsonObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const at = joinPath(path, key.slice(0, keyLengthMax));
    const next = node.members.get(toCanonicalKey(key))?.node ?? any;
    if (next !== undefined) yield* listUnknown(member, { node: next, path: at });
    else yield { path: at, key, node };
  }
}

function listNames({ members }: KnownNode): readonly string[] {
  const effective = [...members.values()].filter(({ node }) => !node.isIdle);
  return effective.map(({ name }) => name).filter((name) => name !== '*');
}

/** Warnings about the first of them, and the number of the others. */
function describeUnknown(unknown: Iterable<UnknownKey>, texts: readonly string[]): readonly AccountWarning[] {
  let references: readonly string[] | undefined;
  const told: AccountWarning[] = [];
  let [judged, more] = [0, 0];
  for (const { path, key, node } of unknown) {
    if (told.length === unknownSettingsToldMax || judged === unknownSettingsJudgedMax) {
      more += node.isShared ? 0 : 1;
      continue;
    }
    judged += 1;
    references ??= listReferences(texts);
    const known = listNames(node);
    const isMeant = !node.isShared || findNearestKey(key, known) !== undefined;
    if (!isMeant || isReferenced(path, references)) continue;
    told.push({ message: 'unknown setting', reason: describeUnknownKey(path, key, known) });
  }
  if (more === 0) return told;
  return [...told, { message: 'unknown setting', reason: `${more} more settings are unknown` }];
}

/** Names of placeholders that are checked. */
const referencesMax = 1_000;

/** Canonical paths of the settings that placeholders name: people keep their own values in a configuration. */
function listReferences(texts: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const text of texts) {
    for (const [, name = ''] of text.matchAll(/\$\{([^}:$\s]{1,200})/g)) {
      if (found.size < referencesMax) found.add(toCanonicalPath(name));
    }
  }
  return [...found];
}

function isReferenced(path: string, references: readonly string[]): boolean {
  const canonical = toCanonicalPath(path);
  return references.some(
    (name) => name === canonical || name.startsWith(`${canonical}.`) || name.startsWith(`${canonical}[`),
  );
}
