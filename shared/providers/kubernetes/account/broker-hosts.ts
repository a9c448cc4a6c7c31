import { InvalidInputError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { brokerHostsPath, machineAccessPath, parseAccountsFlag } from '#settings/account-storage.ts';
import { nameListField, parseWith } from '#settings/coerce.ts';
import { getSetting } from '#settings/spring-config.ts';
import { parseServerUrl } from '../credentials/api-server.ts';
import { parseAccountFields } from './account-fields.ts';

/** The parts of an account that say where a broker's tokens are sent, and how. */
interface BrokeredAccount {
  readonly server?: { readonly host: string; readonly bearerToken?: string | undefined } | undefined;
  readonly insecure?: boolean | undefined;
}

/**
 * Refuses an account made by an API that has a broker's tokens sent to a host that the settings do not name, without TLS, or without
 * checking the server's certificate. If the settings name no hosts, the creators of such accounts decide.
 *
 * @returns whether the settings name hosts
 * @throws InvalidInputError naming the option, or the setting that is not a list of hosts
 */
export function checkBrokerHost({ server, insecure }: BrokeredAccount, settings: JsonObject): boolean {
  const hosts = parseBrokerHosts(settings);
  if (hosts === undefined || hosts.includes('*') || !server || server.bearerToken) return hosts !== undefined;
  const { protocol, hostname = '' } = parseServerUrl(server.host) ?? {};
  const isNamed = hosts.some(
    (host) => hostname === host || (host[0] === '*' && hostname.endsWith(host.slice(1))),
  );
  const where = `for tokens of a broker by ${brokerHostsPath}`;
  if (!isNamed) throw new InvalidInputError(`server.host: expected a host that is named ${where}`);
  if (protocol !== 'https:')
    throw new InvalidInputError(`server.host: expected https, as the host is named ${where}`);
  if (insecure) throw new InvalidInputError(`insecure: expected false, as the host is named ${where}`);
  return true;
}

/**
 * The option by which a definition has a broker's tokens, which are an identity of ours, sent to a host of its choice. Undefined if it has
 * none, if the settings name the hosts, or if the creator of accounts controls the whole machine anyway.
 *
 * @throws InvalidInputError as {@link checkBrokerHost}
 */
export function findBorrowedIdentity(definition: JsonObject, settings: JsonObject): string | undefined {
  if (parseAccountsFlag(settings, machineAccessPath)) return undefined;
  const account = parseAccountFields(definition, 'account');
  const isLimited = checkBrokerHost(account, settings);
  return account.server && !account.server.bearerToken && !isLimited ? 'server.host' : undefined;
}

/** In lower case; undefined if the settings name none. */
function parseBrokerHosts(settings: JsonObject): readonly string[] | undefined {
  const hosts = parseWith(nameListField(), getSetting(settings, brokerHostsPath), brokerHostsPath);
  return hosts?.map((text, index) => {
    const host = text.toLowerCase();
    if (/^(\*|(\*\.)?[\w-]+(\.[\w-]+)*|\[[\da-f:.]+\])$/.test(host)) return host;
    throw new InvalidInputError(
      `${brokerHostsPath}[${index}]: expected a host such as prod.clusters.example.com, or *.clusters.example.com`,
    );
  });
}
