import { CallPace } from '../aws/lookups/call-pace.ts';
import { createLookupStore } from '../aws/lookups/lookup-store.ts';
import type { LookupStore } from '../ports/lookup.ts';
import { openTable } from './aws-clients.ts';
import type { Services } from './services.ts';

/** How processes share what they look up in AWS for accounts. */
export interface LookupParts {
  readonly store: LookupStore;
  readonly pace: CallPace;
}

/** How an installation shares lookups. */
export function openLookupParts(services: Services): LookupParts {
  return services.get(createLookupParts);
}

function createLookupParts(services: Services): LookupParts {
  const options = openTable(services, 'cache');
  return { store: createLookupStore(options), pace: new CallPace(options) };
}
