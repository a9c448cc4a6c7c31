import { createConcurrencyLimit } from '#core/concurrency.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { CredentialSource } from './credentials.ts';
import { type ProgramRun, runCredentialProgram } from './exec-credential.ts';
import type { AuthProvider } from './kubeconfig.ts';

const library = '@kubernetes/client-node';

/** The most processes with the library at a time: each takes 84 MB and 0.4 s of a processor. */
export const libraryRunsMax = 2;
const limitRuns = createConcurrencyLimit(libraryRunsMax);

/**
 * Calls the library, and prints its result as an ExecCredential. The library's errors may quote tokens, so only messages known here are
 * printed. It is a text since bundles contain none of our files.
 */
const program = `
import { readFileSync } from 'node:fs';
const { library, authProvider } = JSON.parse(readFileSync(0, 'utf8'));
const { KubeConfig } = await import(library);
const kubeconfig = new KubeConfig();
kubeconfig.loadFromOptions({
  clusters: [{ name: 'cluster', server: 'https://127.0.0.1' }],
  users: [{ name: 'user', authProvider }],
  contexts: [{ name: 'context', cluster: 'cluster', user: 'user' }],
  currentContext: 'context',
});
const options = { headers: {} };
try {
  await kubeconfig.applyToHTTPSOptions(options);
} catch (error) {
  const isExpired = error?.message === 'Token is expired!';
  console.error(isExpired ? 'its token has expired, and no cmd-path renews it' : 'its token cannot be renewed');
  process.exit(1);
}
const { config } = kubeconfig.getCurrentUser().authProvider;
const toTime = (value) => new Date([].concat(value)[0]).getTime();
const expiresAtMs = config['expiry'] ? toTime(config['expiry']) : Number(config['expires-on'] ?? NaN) * 1000;
const status = {
  token: options.headers.Authorization?.replace(/^Bearer /, '').trim(),
  clientCertificateData: options.cert?.toString(),
  clientKeyData: options.key?.toString(),
  expirationTimestamp: Number.isFinite(expiresAtMs) ? new Date(expiresAtMs).toISOString() : undefined,
};
console.log(JSON.stringify({ status }));
`;

/**
 * Credentials that the `KubeConfig` of `@kubernetes/client-node` makes from an auth provider. The library runs commands synchronously and
 * without a time-out, so it runs in its own process, for at most a minute. Nothing is written.
 *
 * @throws Error by the source: the library is missing, does not know the provider, or cannot renew its token
 */
export function createLibrarySource({ name, config }: AuthProvider, run: ProgramRun): CredentialSource {
  return async (request) => {
    // A refused token is not offered again: the library would do so until it expires.
    const { 'access-token': _, ...renewed } = config;
    const authProvider = { name, config: request?.refused === true ? renewed : config };
    const asked = {
      kind: 'auth-provider' as const,
      name,
      command: process.execPath,
      args: ['--input-type=module', '--eval', program],
      input: JSON.stringify({ library: findLibrary(name), authProvider }),
    };
    try {
      return await limitRuns(() => runCredentialProgram(asked, run));
    } catch (error) {
      throw new Error(`${getErrorMessage(error)}: log in again, or use an exec plugin or a token`);
    }
  };
}

/** The URL of the library's module. @throws Error if it is not installed */
function findLibrary(name: string): string {
  try {
    return import.meta.resolve(library);
  } catch {
    throw new Error(
      `auth-provider "${name}" needs ${library}, which is not installed: use an exec plugin or a token`,
    );
  }
}
