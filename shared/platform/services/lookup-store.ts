import type { CallSharing } from '#provider-kit/host-services.ts';
import { CallPace } from '../aws/lookups/call-pace.ts';
import { createLookupStore } from '../aws/lookups/lookup-store.ts';
import type { LookupStore } from '../ports/lookup.ts';
import { SharedLookups } from '../ports/shared-lookups.ts';
import { openTable } from './aws-clients.ts';
import { openBase } from './base.ts';
import type { Services } from './services.ts';

/** How processes share what they look up in AWS for accounts. */
export interface LookupParts extends CallSharing {
  readonly store: LookupStore;
}

/** How an installation shares lookups. */
export function openLookupParts(services: Services): LookupParts {
  return services.get(createLookupParts);
}

function createLookupParts(services: Services): LookupParts {
  const options = openTable(services, 'cache');
  const store = createLookupStore(options);
  return {
    store,
    lookups: new SharedLookups({ ...openBase(services), store }),
    pace: new CallPace(options),
  };
}
