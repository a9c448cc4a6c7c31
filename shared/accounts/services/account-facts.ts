import { UnavailableError } from '#core/errors.ts';
import { openTable } from '#platform/services/aws-clients.ts';
import type { BaseServices } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { plugins } from '#providers/index.ts';
import type { OpenedProviders } from '#settings/live/live-providers.ts';
import { type AccountFactsStore, formatAccountFacts, toAccountFacts } from '../account-facts.ts';
import { DynamoAccountFactsStore } from '../aws/account-facts-store.ts';

/** The store of account facts. */
export function openAccountFactsStore(services: Services): AccountFactsStore {
  return services.get(createAccountFactsStore);
}

function createAccountFactsStore(services: Services): AccountFactsStore {
  return new DynamoAccountFactsStore(openTable(services, 'cache'));
}

/** The text of the facts in force. @throws UnavailableError before the first publication. */
export async function readAccountFacts(services: Services): Promise<string> {
  const text = await openAccountFactsStore(services).read();
  if (text !== undefined) return text;
  throw new UnavailableError(
    'account facts are not published yet: the function schedule-agents publishes them each minute, or its log says why not',
  );
}

/**
 * Publishes what functions without secrets may know of the accounts, unless it is published already. On one machine nothing would read it:
 * all functions are one process, which has the settings.
 *
 * @param open opens the providers of settings just read
 * @throws UnavailableError without usable settings: the published facts stay.
 */
export async function publishAccountFacts(
  { config, log, all }: BaseServices,
  open: () => Promise<OpenedProviders>,
): Promise<void> {
  if (config.placement === 'local') return;
  const opened = await open();
  const text = formatAccountFacts(toAccountFacts(plugins, opened));
  const isNew = await openAccountFactsStore(all).publish(text);
  if (isNew) log.info('account facts are published', { accounts: opened.providers.accounts.length });
}
