import type { JsonObject } from '#core/json.ts';
import { systemClock, systemRandomness } from '#platform/services/system.ts';
import type { RegistryAccount } from '#providers/docker-registry/account.ts';
import { parseRegistryAccounts } from '#providers/docker-registry/account.ts';
import { type ClientParts, openAccountClient } from '#providers/docker-registry/account-client.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** The account `hub` of these options. */
export function parseAccount(options: JsonObject): RegistryAccount {
  const settings = { dockerRegistry: { accounts: [{ name: 'hub', ...options }] } };
  const { accounts, rejected } = parseRegistryAccounts({ settings, placement: 'local' });
  const [account] = accounts;
  if (account === undefined) throw new Error(rejected.map(({ reason }) => reason).join());
  return account;
}

/** A client of the account of these options. */
export function openClient(options: JsonObject, parts: Partial<ClientParts> = {}) {
  const given = { clock: systemClock, randomness: systemRandomness, log, ...parts };
  return openAccountClient(parseAccount(options), given);
}
