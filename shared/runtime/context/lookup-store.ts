import { CallPace } from '../../aws/cache/call-pace.ts';
import { DynamoLookupStore } from '../../aws/cache/lookup-store.ts';
import { ItemTable } from '../../aws/table.ts';
import type { LookupStore } from '../../core/lookup.ts';
import { openDocuments } from './aws-clients.ts';
import type { BaseContext } from './base-context.ts';

/** By what processes share what they look up in AWS for accounts. */
export interface LookupParts {
  readonly store: LookupStore;
  readonly pace: CallPace;
}

let opened: LookupParts | undefined;

/** What this process shares lookups by, made on first use and shared from then on. */
export function openLookupParts({ config, clock }: Pick<BaseContext, 'config' | 'clock'>): LookupParts {
  if (opened === undefined) {
    const table = new ItemTable(openDocuments(config, 'request'), config.cacheTable);
    opened = { store: new DynamoLookupStore({ table, clock }), pace: new CallPace({ table, clock }) };
  }
  return opened;
}
