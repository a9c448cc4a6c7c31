import * as z from 'zod';
import { checkNoCredentials, parseAgentDefinition } from '#accounts/agent-definitions.ts';
import {
  type AccountDefinition,
  accountNameRule,
  isAccountName,
  type StoredAccount,
} from '#accounts/model/account-store.ts';
import { InvalidInputError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { accountListMax } from '#core/request-limits.ts';
import type { ApiRequest } from '#http/api-handler.ts';
import { plugins } from '#providers/index.ts';
import { parseWith } from '#settings/coerce.ts';
import { checkEach, checkNamesDiffer, type PlacedAccount } from './account-batch.ts';

/** An account whose cluster agents are to reach from now on. */
export interface AccountMigration extends PlacedAccount {
  /** The proof that it takes; undefined where none was given, which is enough for one that has agents. */
  readonly agent: JsonObject | undefined;
}

/** An account whose agents are let in, or shut out. */
export interface AccountActivation extends PlacedAccount {
  readonly isActive: boolean;
}

/** An account that is to be created. */
export interface PlacedDefinition extends PlacedAccount {
  readonly definition: AccountDefinition;
}

type JsonRequest = Pick<ApiRequest, 'parseJson'>;

const nameField = z.string({ error: 'expected a text' }).refine(isAccountName, { error: accountNameRule });

/** Any agent that proves that it is the account's serves it, whatever its zone. */
const zoneField = z
  .string({ error: 'expected a text' })
  .max(253, 'expected 253 characters at most')
  .nullish();

const migrationSchema = z.object({
  name: nameField,
  zoneId: zoneField,
  state: z.literal('INACTIVE', { error: 'expected INACTIVE: PATCH makes an account ACTIVE' }).nullish(),
  agent: z.custom<JsonObject>(isJsonObject, { error: 'expected an object' }).optional(),
});

const activationSchema = z.object({
  name: nameField,
  zoneId: zoneField,
  state: z.enum(['ACTIVE', 'INACTIVE'], { error: 'expected ACTIVE or INACTIVE' }),
});

const definitionSchema = z.object({ zoneId: zoneField, state: migrationSchema.shape.state });

/** The accounts that are to be served by agents. @throws InvalidInputError naming each field of no use */
export async function parseMigrations(request: JsonRequest): Promise<readonly AccountMigration[]> {
  return parseEntries(parseList(request), (entry) => {
    const { name, agent } = parseWith(migrationSchema, entry, '');
    return { name, agent };
  });
}

/** The accounts whose agents are to be let in, or shut out. @throws InvalidInputError naming each field of no use */
export async function parseActivations(request: JsonRequest): Promise<readonly AccountActivation[]> {
  return parseEntries(parseList(request), (entry) => {
    const { name, state } = parseWith(activationSchema, entry, '');
    return { name, isActive: state === 'ACTIVE' };
  });
}

/** The accounts that are to be created, of a list or alone. @throws InvalidInputError naming each field of no use; TooLargeError */
export async function parseDefinitions(request: JsonRequest): Promise<readonly PlacedDefinition[]> {
  const body = request.parseJson();
  const entries = isJsonObject(body) ? [{ name: '', place: '', entry: body }] : toEntries(body);
  return parseEntries(entries, (entry) => {
    parseWith(definitionSchema, entry, '');
    const definition = parseAgentDefinition(entry, plugins);
    return { name: definition.name, definition };
  });
}

/** How an account is to be replaced. */
export interface DefinitionBody {
  readonly name: string;
  /** The definition that it becomes. @throws what `parseAgentDefinition` throws */
  define(before: StoredAccount): AccountDefinition;
}

/** The account that is to be replaced. @throws InvalidInputError for a body that is none, such as a list */
export function parseReplacement(request: JsonRequest): DefinitionBody {
  const body = request.parseJson();
  if (!isJsonObject(body)) throw new InvalidInputError('The body must be an object, the account');
  const { name } = parseWith(definitionSchema.extend({ name: nameField }), body, '');
  return { name, define: (before) => parseAgentDefinition(body, plugins, before) };
}

/** The accounts that are to be deleted, by name. @throws InvalidInputError naming each that is none */
export async function parseNames(request: JsonRequest): Promise<readonly PlacedAccount[]> {
  const list = checkList(request.parseJson());
  const names = parseWith(z.array(nameField), list, '').map((name, index) => ({ name, place: `[${index}]` }));
  checkNamesDiffer(names);
  return names;
}

/** An item of a list, before it is read. */
interface Entry extends PlacedAccount {
  readonly entry: JsonObject;
}

function parseList(request: JsonRequest): readonly Entry[] {
  return toEntries(request.parseJson());
}

function toEntries(body: JsonValue): readonly Entry[] {
  return checkList(body).map((entry, index) => {
    const place = `[${index}]`;
    if (!isJsonObject(entry)) throw new InvalidInputError(`${place}: expected an object, the account`);
    return { name: '', place, entry };
  });
}

function checkList(body: JsonValue): readonly JsonValue[] {
  if (!Array.isArray(body) || body.length === 0)
    throw new InvalidInputError('The body must be a list of one account at least');
  if (body.length <= accountListMax) return body;
  throw new InvalidInputError(`The list has ${body.length} accounts: at most ${accountListMax} are accepted`);
}

/** Reads every item, so that all faults are reported at once. */
async function parseEntries<T extends { readonly name: string }>(
  entries: readonly Entry[],
  parse: (entry: JsonObject) => T,
): Promise<readonly (T & PlacedAccount)[]> {
  const parsed = new Map<string, T & PlacedAccount>();
  await checkEach(entries, ({ place, entry }) => {
    checkNoCredentials(entry, plugins);
    parsed.set(place, { ...parse(entry), place });
  });
  const accounts = entries.flatMap(({ place }) => parsed.get(place) ?? []);
  checkNamesDiffer(accounts);
  return accounts;
}
