import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse as parseYaml } from 'yaml';
import { sessionAccountsMax } from '../../shared/agent-protocol/messages.ts';
import { InvalidInputError } from '../../shared/core/errors.ts';
import {
  booleanField,
  intField,
  listOf,
  parseWith,
  requireField,
  settingsField,
  stringField,
  withDefault,
} from '../../shared/core/settings/coerce.ts';
import type { StatusConfig } from './status/agent-status.ts';

/** Bytes of the file at most. */
const fileBytesMax = 1 << 20;

/** How an agent reaches the cluster of an account. */
export interface AgentAccount {
  readonly name: string;
  /** Absolute; undefined with the credentials of the agent's own pod. */
  readonly kubeConfigFile: string | undefined;
  /** Left out, the kubeconfig's current context. */
  readonly context: string | undefined;
  readonly serviceAccount: boolean;
}

/** What an agent is told of itself. */
export interface AgentConfig {
  /** Where Busdriver answers, without a slash at its end. */
  readonly url: string;
  /** File with the token of its cluster, absolute: it is read at each use, since the kubelet replaces it. */
  readonly tokenFile: string;
  /** File with the certificates that signed Busdriver's, absolute. Default: those that Node knows. */
  readonly caFile: string | undefined;
  /** Where it runs, in the words of its operator. */
  readonly zone: string | undefined;
  readonly accounts: readonly AgentAccount[];
  readonly status: StatusConfig;
}

const portField = intField({ min: 0, max: 65_535 });

const accountField = settingsField({
  name: requireField(stringField()),
  kubeConfigFile: stringField(),
  context: stringField(),
  serviceAccount: withDefault(booleanField(), false),
});

const schema = requireField(
  settingsField({
    busdriver: requireField(
      settingsField({
        url: requireField(stringField()),
        tokenFile: requireField(stringField()),
        caFile: stringField(),
        zone: stringField(),
      }),
    ),
    kubernetes: requireField(
      settingsField({ accounts: requireField(listOf(accountField, { itemsMax: sessionAccountsMax })) }),
    ),
    server: settingsField({ host: stringField(), port: portField }),
    prometheus: settingsField({ enabled: withDefault(booleanField(), true), port: portField }),
  }),
);

/**
 * Reads the file of an agent. Paths in it are meant from its folder.
 *
 * @throws InvalidInputError naming each setting that is of no use; Error when the file cannot be read
 */
export async function readAgentConfig(file: string): Promise<AgentConfig> {
  const text = await readFile(file, 'utf8');
  if (Buffer.byteLength(text) > fileBytesMax) {
    throw new InvalidInputError(`${file}: expected ${fileBytesMax} bytes at most`);
  }
  return parseAgentConfig(parseYaml(text, { maxAliasCount: 100 }), path.dirname(path.resolve(file)));
}

/**
 * The same of what a file holds.
 *
 * @param folder where the file stands
 * @throws InvalidInputError
 */
export function parseAgentConfig(document: unknown, folder: string): AgentConfig {
  const { busdriver, kubernetes, server, prometheus } = parseWith(schema, document, '');
  const toPath = (file: string | undefined) => (file ? path.resolve(folder, file) : undefined);
  const names = kubernetes.accounts.map(({ name }) => name);
  if (names.length === 0) throw new InvalidInputError('kubernetes.accounts: expected an account, got none');
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) throw new InvalidInputError(`kubernetes.accounts: two are named ${double}`);
  return {
    url: parseUrl(busdriver.url),
    tokenFile: path.resolve(folder, busdriver.tokenFile),
    caFile: toPath(busdriver.caFile),
    zone: busdriver.zone || undefined,
    status: {
      host: server?.host || undefined,
      healthPort: server?.port,
      metricsPort: prometheus?.port,
      servesMetrics: prometheus?.enabled ?? true,
    },
    accounts: kubernetes.accounts.map(({ name, kubeConfigFile, context, serviceAccount }, index) => {
      if (!kubeConfigFile === !serviceAccount) {
        throw new InvalidInputError(
          `kubernetes.accounts[${index}]: expected either kubeConfigFile or serviceAccount: true`,
        );
      }
      return { name, kubeConfigFile: toPath(kubeConfigFile), context: context || undefined, serviceAccount };
    }),
  };
}

/** Tokens would cross a network as they are without TLS. */
function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback);
  if (url !== undefined && isSafe && url.search === '' && url.hash === '')
    return url.href.replace(/\/+$/, '');
  throw new InvalidInputError(
    'busdriver.url: expected a URL that begins with https://, or http:// on this machine',
  );
}
