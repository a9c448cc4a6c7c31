import { DynamoAccountFactsStore } from '../../aws/account-facts-store.ts';
import { ItemTable } from '../../aws/table.ts';
import { UnavailableError } from '../../core/errors.ts';
import {
  type AccountFactsStore,
  formatAccountFacts,
  toAccountFacts,
} from '../../core/providers/account-facts.ts';
import { plugins } from '../../providers/index.ts';
import type { OpenedProviders } from '../settings/live-providers.ts';
import { openDocuments } from './aws-clients.ts';
import type { BaseContext } from './base-context.ts';

let opened: AccountFactsStore | undefined;

/** The store of account facts, made on first use and shared from then on. */
export function openAccountFactsStore({
  config,
  clock,
}: Pick<BaseContext, 'config' | 'clock'>): AccountFactsStore {
  opened ??= new DynamoAccountFactsStore({
    table: new ItemTable(openDocuments(config, 'request'), config.cacheTable),
    clock,
  });
  return opened;
}

/** The text of the facts in force. @throws UnavailableError before the first publication. */
export async function readAccountFacts(base: Pick<BaseContext, 'config' | 'clock'>): Promise<string> {
  const text = await openAccountFactsStore(base).read();
  if (text !== undefined) return text;
  throw new UnavailableError(
    'account facts are not published yet: the function schedule-agents publishes them each minute, or its log says why not',
  );
}

/**
 * Publishes what functions without secrets may know of the accounts, unless that is published already. On one machine there is
 * nobody who would read it: all functions are one process, which has the settings.
 *
 * @param open opens the context with the providers of settings just read
 * @throws UnavailableError without usable settings: what is published stays.
 */
export async function publishAccountFacts(
  base: BaseContext,
  open: () => Promise<OpenedProviders>,
): Promise<void> {
  const { config, log } = base;
  if (config.placement === 'local') return;
  const context = await open();
  const text = formatAccountFacts(toAccountFacts(plugins, context));
  const isNew = await openAccountFactsStore(base).publish(text);
  if (isNew) log.info('account facts are published', { accounts: context.providers.accounts.length });
}
