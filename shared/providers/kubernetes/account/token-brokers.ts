import { isIP } from 'node:net';
import { InvalidInputError } from '#core/errors.ts';
import { asJsonObject, type JsonObject } from '#core/json.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import {
  intField,
  parseAt,
  requireField,
  settingsField,
  stringField,
  withDefault,
} from '#settings/coerce.ts';
import {
  findReferenceProblems,
  isSecretReference,
  parseSecretReference,
} from '#settings/secret-reference.ts';
import { createSecretText } from '#settings/secret-text.ts';
import { findMember, getSetting } from '#settings/spring-config.ts';
import { hasPlaceholder } from '#settings/spring-placeholders.ts';
import { parseServerUrl } from '../credentials/api-server.ts';
import type { TokenBroker } from '../credentials/broker-credential.ts';
import { defaultTokenBroker, type ServerFields } from './account-server.ts';

/** Path in the configuration of the token brokers, by name. */
export const settingsPath = 'busdriver.tokenBrokers';

/** A configured token broker. Its key is a secret. */
interface TokenBrokerSettings extends Omit<TokenBroker, 'url' | 'getApiKey'> {
  readonly url: string;
  readonly apiKey: string;
}

/** Where Arcade listens when it runs beside its caller. */
const defaultUrl = 'http://localhost:1982';

const brokerFields = {
  url: stringField(),
  apiKey: stringField(),
  timeoutMs: withDefault(intField({ min: 1, max: 60_000 }), 3_000),
  maxAgeSeconds: withDefault(intField({ min: 1, max: 3_600 }), 60),
};
const brokerField = requireField(settingsField(brokerFields));

/** The names of a broker's options. */
export const brokerOptions: readonly string[] = Object.keys(brokerFields);

/** The environment variables by which go-clouddriver finds Arcade. */
type BrokerEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a broker of `busdriver.tokenBrokers`. go-clouddriver's broker, `arcade`, needs no setting: omitted options come from `ARCADE_URL`
 * and `ARCADE_API_KEY`.
 *
 * @throws InvalidInputError naming each invalid setting, without its value.
 */
export function parseTokenBroker(
  name: string,
  settings: JsonObject,
  environment: BrokerEnvironment = {},
): TokenBrokerSettings {
  const entry = findMember(asJsonObject(getSetting(settings, settingsPath)) ?? {}, name);
  const isDefault = name === defaultTokenBroker;
  const path = `${settingsPath}.${name}`;
  if (entry === undefined && !isDefault)
    throw new InvalidInputError(`${path}: expected the settings of a broker`);
  const { url, apiKey, ...times } = parseAt(brokerField, entry ?? {}, path);
  const { ARCADE_URL, ARCADE_API_KEY } = isDefault ? environment : {};
  const broker = {
    name,
    url: (url || ARCADE_URL || (isDefault ? defaultUrl : '')).trim(),
    apiKey: (apiKey || ARCADE_API_KEY || '').trim(),
    ...times,
  };
  const violations = findViolations(broker, path);
  if (violations.length > 0) throw new InvalidInputError(violations);
  return broker;
}

/**
 * Checks that the broker that an account needs is configured.
 *
 * @throws InvalidInputError naming each invalid setting.
 */
export function checkTokenBroker(server: ServerFields | undefined, settings: JsonObject): void {
  if (server === undefined || server.bearerToken) return;
  parseTokenBroker(server.tokenBroker || defaultTokenBroker, settings);
}

/** The options with which brokers are opened. */
export type TokenBrokerOptions = Pick<
  ProviderContext,
  'settings' | 'placement' | 'environment' | 'services' | 'clock' | 'log'
>;

/** The brokers of a configuration, each opened on first use: accounts share its tokens. */
export class TokenBrokers {
  readonly #options: TokenBrokerOptions;
  readonly #opened = new Map<string, TokenBroker>();

  constructor(options: TokenBrokerOptions) {
    this.#options = options;
  }

  /**
   * The broker of that name, the same each time.
   *
   * @throws InvalidInputError for wrong settings; Error for a broker on this machine where functions are deployed, which cannot reach it.
   */
  get(name: string): TokenBroker {
    const known = this.#opened.get(name);
    if (known !== undefined) return known;
    const { settings, environment } = this.#options;
    const opened = this.#open(parseTokenBroker(name, settings, environment));
    this.#opened.set(name, opened);
    return opened;
  }

  #open({ name, url, apiKey, timeoutMs, maxAgeSeconds }: TokenBrokerSettings): TokenBroker {
    const parsed = new URL(url);
    if (this.#options.placement === 'deployed' && isLoopback(parsed)) {
      throw new Error(
        `${settingsPath}.${name}.url: ${parsed.hostname} is the function's own machine, where no broker runs: ` +
          'name one that the VPC reaches',
      );
    }
    return { name, url: parsed, getApiKey: this.#followApiKey(name, apiKey), timeoutMs, maxAgeSeconds };
  }

  #followApiKey(name: string, apiKey: string): TokenBroker['getApiKey'] {
    if (!isSecretReference(apiKey)) return async () => apiKey;
    const path = `${settingsPath}.${name}.apiKey`;
    const { services, clock, log } = this.#options;
    const text = createSecretText(parseSecretReference(apiKey, path), {
      account: path,
      secrets: services?.secrets,
      clock,
      log,
    });
    return async (isDoubted) => {
      if (isDoubted) text.invalidate();
      return (await text.getCurrent()).trim();
    };
  }
}

function findViolations({ url, apiKey }: TokenBrokerSettings, path: string): readonly string[] {
  const violations: string[] = [];
  if (parseServerUrl(url) === undefined) {
    violations.push(`${path}.url: expected an http or https URL without user, query and fragment`);
  }
  if (isSecretReference(apiKey)) violations.push(...findReferenceProblems(apiKey, `${path}.apiKey`));
  else if (hasPlaceholder(apiKey)) {
    violations.push(`${path}.apiKey: expected a value, got a placeholder that nothing fills`);
  }
  return violations;
}

function isLoopback({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  if (isIP(host) === 4) return host.startsWith('127.') || host === '0.0.0.0';
  return isIP(host) === 6 && /^::(1|ffff:7f[0-9a-f]{2}:[0-9a-f]+)?$/.test(host);
}
