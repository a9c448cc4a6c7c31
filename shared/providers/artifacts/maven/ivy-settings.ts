import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  booleanField,
  type Field,
  jsonObjectField,
  listOf,
  settingsField,
  stringField,
} from '#settings/coerce.ts';
import { toCanonicalKey } from '#settings/spring-config.ts';
import { parseSettings } from '../download/account-settings.ts';
import { assertIvyPattern } from './ivy-patterns.ts';

/** The most patterns of an account: each may take a request. */
export const ivyPatternsMax = 10;

/** A place where Ivy's modules are searched for. */
export interface IvyResolver {
  /** The type of its descriptors. */
  readonly descriptor: 'ivy' | 'pom';
  /** Patterns of their URLs; none if it should not be asked for any. */
  readonly descriptors: readonly string[];
  /** Patterns of files' URLs, in the order in which they are tried. */
  readonly artifacts: readonly string[];
  /** Whether an organisation becomes one folder for each of its parts, as in Maven repositories. */
  readonly isMavenCompatible: boolean;
}

/** An account's `settings`, which are Ivy's. */
export interface IvySettings {
  /** In the order in which they are tried. */
  readonly resolvers: readonly IvyResolver[];
  readonly credentials: IvyCredentials | undefined;
}

/** A user name and password for one host. */
interface IvyCredentials {
  readonly host?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

const mavenPattern = '[organisation]/[module]/[revision]/[artifact]-[revision](-[classifier]).[ext]';
const legacyPattern = '[module]/[type]s/[artifact]-[revision].[ext]';

const settingsFields = {
  settings: settingsField({ defaultResolver: stringField() }),
  resolvers: jsonObjectField(),
  credentials: settingsField({ host: stringField(), username: stringField(), password: stringField() }),
};

const patternsField = listOf(settingsField({ pattern: stringField() }));

const urlFields = {
  name: stringField(),
  m2compatible: booleanField(),
  ivy: patternsField,
  artifact: patternsField,
};

const iBiblioFields = {
  name: stringField(),
  root: stringField(),
  pattern: stringField(),
  m2compatible: booleanField(),
  usepoms: booleanField(),
};

/** `returnFirst` has no effect: a fixed revision is never in two places. */
const chainFields = { name: stringField(), returnFirst: booleanField(), dual: booleanField() };

/** The fields of an entry that are read. */
type FieldsOf<S extends Readonly<Record<string, Field<unknown>>>> = {
  readonly [key in keyof S]?: S[key] extends Field<infer T> ? T : never;
};

/** A resolver with its optional name; a chain has several. */
interface NamedResolvers {
  readonly name: string | undefined;
  readonly resolvers: readonly IvyResolver[];
}

/**
 * Reads Ivy's settings, in Clouddriver's form: the resolver that `settings.defaultResolver` names counts, else the first.
 *
 * @throws InvalidInputError naming what is invalid, including resolvers other than `url`, `ibiblio` and `chain`.
 */
export function parseIvySettings(value: JsonObject, context: string): IvySettings {
  const { settings, resolvers = {}, credentials } = parseSettings(settingsFields, value, context);
  const named = readResolvers(resolvers, `${context}: resolvers`, ['url', 'ibiblio', 'chain']);
  const wanted = settings?.defaultResolver || named[0]?.name;
  const chosen = named.find(({ name }) => name === wanted);
  if (chosen === undefined) {
    throw new InvalidInputError(`${context}: resolvers: expected one, and that of settings.defaultResolver`);
  }
  const patterns = chosen.resolvers.flatMap(({ descriptors, artifacts }) => [...descriptors, ...artifacts]);
  if (patterns.length > ivyPatternsMax) {
    throw new InvalidInputError(`${context}: resolvers: expected at most ${ivyPatternsMax} patterns`);
  }
  return { resolvers: chosen.resolvers, credentials };
}

function readResolvers(
  value: JsonObject,
  context: string,
  kinds: readonly string[],
): readonly NamedResolvers[] {
  const other = Object.keys(value).find((key) => !kinds.includes(key.toLowerCase()));
  if (other !== undefined) {
    throw new InvalidInputError(
      `${context}: ${other.slice(0, 64)}: expected ${kinds.join(', ')}: other resolvers of Ivy are not served`,
    );
  }
  const lists = {
    url: listOf(settingsField(urlFields)),
    ibiblio: listOf(settingsField(iBiblioFields)),
    chain: listOf(jsonObjectField()),
  };
  const { url = [], ibiblio = [], chain = [] } = parseSettings(lists, value, context);
  return [
    ...url.map((entry, index) => readUrl(entry, `${context}: url[${index}]`)),
    ...ibiblio.map((entry, index) => readIBiblio(entry, `${context}: ibiblio[${index}]`)),
    ...chain.map((entry, index) => readChain(entry, `${context}: chain[${index}]`)),
  ];
}

function readUrl(entry: FieldsOf<typeof urlFields>, context: string): NamedResolvers {
  const { name, m2compatible = false, ivy = [], artifact = [] } = entry;
  const descriptors = ivy.map(({ pattern }) => pattern ?? '');
  const artifacts = artifact.map(({ pattern }) => pattern ?? '');
  for (const pattern of [...descriptors, ...artifacts]) assertIvyPattern(pattern, `${context}: pattern`);
  if (artifacts.length === 0) throw new InvalidInputError(`${context}: artifact: expected a pattern`);
  return {
    name,
    resolvers: [{ descriptor: 'ivy', descriptors, artifacts, isMavenCompatible: m2compatible }],
  };
}

function readIBiblio(entry: FieldsOf<typeof iBiblioFields>, context: string): NamedResolvers {
  // Ivy would fall back to a public repository that the account does not name: code must not come from there unasked.
  const { name, root, m2compatible = false, usepoms = true } = entry;
  if (root === undefined) throw new InvalidInputError(`${context}: root: expected the URL of a repository`);
  const pattern = entry.pattern ?? (m2compatible ? mavenPattern : legacyPattern);
  const whole = `${root}${root.endsWith('/') ? '' : '/'}${pattern}`;
  assertIvyPattern(whole, `${context}: root and pattern`);
  const descriptors = m2compatible && usepoms ? [whole] : [];
  return {
    name,
    resolvers: [{ descriptor: 'pom', descriptors, artifacts: [whole], isMavenCompatible: m2compatible }],
  };
}

function readChain(entry: JsonObject, context: string): NamedResolvers {
  const { name, dual } = parseSettings(chainFields, entry, context);
  if (dual === true) {
    throw new InvalidInputError(`${context}: dual: expected false: a module is looked for in one place`);
  }
  const own = Object.keys(chainFields).map((key) => key.toLowerCase());
  const links = Object.entries(entry).filter(([key]) => !own.includes(toCanonicalKey(key)));
  const inner = readResolvers(Object.fromEntries(links), context, ['url', 'ibiblio']);
  return { name, resolvers: inner.flatMap(({ resolvers }) => resolvers) };
}
