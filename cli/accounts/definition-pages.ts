import { asJsonArray, asJsonObject, asString, type JsonObject } from '#core/json.ts';
import type { ApiClient } from '../api-client.ts';
import { CliError } from '../cli-error.ts';

/** Definitions of one page: Clouddriver's own default. */
const pageSize = 100;

/** Pages that are read at most. */
const pagesMax = 200;

/**
 * The definitions of a type in a store of accounts, Busdriver's or Clouddriver's, by pages of their names.
 *
 * @throws ApiError as the server answers; CliError for more than 20,000, and for pages that do not go on
 */
export async function readDefinitions(client: ApiClient, type: string): Promise<readonly JsonObject[]> {
  const found = new Map<string, JsonObject>();
  let start: string | undefined;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const from = start === undefined ? '' : `&startingAccountName=${encodeURIComponent(start)}`;
    const page = asJsonArray(
      await client.get(`/credentials/type/${encodeURIComponent(type)}?limit=${pageSize}${from}`),
    );
    const before = found.size;
    for (const item of page) {
      const definition = asJsonObject(item) ?? {};
      start = asString(definition['name']);
      if (start === undefined) throw new CliError(`${client.url} lists an account without a name`);
      found.set(start, definition);
    }
    // The next page begins with the last name of this one.
    if (page.length < pageSize || found.size === before) return [...found.values()];
  }
  throw new CliError(`${client.url} lists more than ${found.size} accounts: no more are read`);
}
