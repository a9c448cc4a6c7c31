import type { JsonObject } from '#core/json.ts';
import type { OpenedAccounts } from '#provider-kit/provider.ts';
import {
  listOf,
  parseWith,
  requireField,
  settingsField,
  stringField,
  stringListField,
} from '#settings/coerce.ts';
import type { ArtifactSource } from './download/source.ts';

/** Key of the accounts in public settings. It is not a name of Spinnaker's. */
const publicKey = 'artifactAccounts';

const accountsSchema = listOf(
  settingsField({
    name: requireField(stringField()),
    type: requireField(stringField()),
    types: requireField(stringListField()),
  }),
);

/** The artifact accounts as `GET /artifacts/credentials` shows them, and nothing else of them. */
export function toPublicSettings(
  _settings: JsonObject,
  { artifacts }: Pick<OpenedAccounts, 'artifacts'>,
): JsonObject {
  const accounts = artifacts?.accounts ?? [];
  return { [publicKey]: accounts.map(({ name, type, types }) => ({ name, type, types: [...types] })) };
}

/** Accounts that can be listed, but fetch nothing: this process has none of their credentials. */
export function openPublicSources(settings: JsonObject): readonly ArtifactSource[] {
  const accounts = parseWith(accountsSchema, settings[publicKey], publicKey) ?? [];
  return accounts.map((account) => ({
    ...account,
    handles: (type) => account.types.includes(type),
    async fetch() {
      throw new Error(`this function has no credentials of artifact account ${account.name}`);
    },
    async [Symbol.asyncDispose]() {},
  }));
}
