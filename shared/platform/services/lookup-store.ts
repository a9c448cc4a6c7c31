import { CallPace } from '../aws/lookups/call-pace.ts';
import { DynamoLookupStore } from '../aws/lookups/lookup-store.ts';
import { ItemTable } from '../aws/table.ts';
import type { LookupStore } from '../ports/lookup.ts';
import { openDocuments } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

/** By what processes share what they look up in AWS for accounts. */
export interface LookupParts {
  readonly store: LookupStore;
  readonly pace: CallPace;
}

/** What an installation shares lookups by. */
export function openLookupParts(services: Services): LookupParts {
  return services.get(createLookupParts);
}

function createLookupParts(services: Services): LookupParts {
  const { config, clock } = openBase(services);
  const table = new ItemTable(openDocuments(services, 'request'), config.cacheTable);
  return { store: new DynamoLookupStore({ table, clock }), pace: new CallPace({ table, clock }) };
}
