import type { JsonObject } from '#core/json.ts';
import { readFixture } from '../run/fixture.ts';

/** Accounts that are left out, with the reason. */
export const rejected = readFixture<{
  readonly accounts: [account: JsonObject, reason: string][];
  readonly agents: [what: string, account: JsonObject, reason: string][];
  readonly registries: [account: JsonObject, reason: string][];
}>('config/rejected-accounts.yaml');
