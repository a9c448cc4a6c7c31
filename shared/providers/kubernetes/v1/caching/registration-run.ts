import type { CachingResult, CachingRun } from '#caching/scheduling/caching-agent.ts';
import type { Clock } from '#core/clock.ts';
import { forEachConcurrently, mapConcurrently } from '#core/concurrency.ts';
import { getErrorMessage, NotFoundError, VisibleError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { RegistryCredentialSource } from '#provider-kit/registry-credentials.ts';
import type { KubernetesV1Account } from '../../account/account.ts';
import { loadV1Namespaces } from '../../account/v1-namespaces.ts';
import { listPullSecrets } from '../../account/v1-rules.ts';
import { getBuiltInResource } from '../../api/built-in-resources.ts';
import type { KubernetesClient } from '../../api/client.ts';
import { isUnreachable, KubernetesApiError } from '../../api/errors.ts';
import { selectNamespaces } from '../../caching/select-namespaces.ts';
import { readName } from '../../manifest/identity.ts';
import { keepPullSecret, type PullSecret, type PullSecretMemory, toPullSecret } from './pull-secrets.ts';

/** Namespaces that are checked at a time. */
export const namespacesAtOnce = 8;
/** The most sentences that report refusals; further ones are counted. */
export const warningsToldMax = 5;
/** Characters of such a sentence. */
export const warningLengthMax = 300;

const namespaceResource = getBuiltInResource('v1', 'Namespace');

interface RegistrationParts {
  readonly account: KubernetesV1Account;
  /** Without the account's bounds: Namespaces are cluster-scoped. */
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** The source of registries' credentials; undefined if there are none. */
  readonly registries: RegistryCredentialSource | undefined;
  readonly memory: PullSecretMemory;
  /** The warnings that this process logged last. */
  readonly told: { warnings: string };
  /** Has the account's health report a warning; empty for none. */
  noteWarning(warning: string): Promise<void>;
}

/**
 * Reads each namespace of a V1 account, which shows whether its cluster can be reached; creates missing ones, and keeps its registries'
 * pull secrets in them. A refusal for one namespace or registry is reported, and does not affect others.
 *
 * @throws KubernetesConnectionError, or KubernetesApiError, if the API server cannot be reached or refuses the account's credentials.
 */
export function runRegistration(parts: RegistrationParts, run: CachingRun): Promise<CachingResult> {
  return new RegistrationRun(parts, run).run();
}

class RegistrationRun {
  readonly #parts: RegistrationParts;
  readonly #run: CachingRun;
  readonly #warnings: string[] = [];
  #changes = 0;

  constructor(parts: RegistrationParts, run: CachingRun) {
    this.#parts = parts;
    this.#run = run;
  }

  async run(): Promise<CachingResult> {
    const asOfMs = this.#parts.clock.now();
    const namespaces = await this.#keepNamespaces();
    await this.#keepAllSecrets(namespaces);
    const warnings = formatWarnings(this.#warnings);
    this.#log(warnings);
    await this.#parts.noteWarning(warnings);
    return {
      outcome: 'done',
      state: '',
      items: namespaces.length,
      changes: this.#changes,
      asOfMs,
      details: { cachesNothing: true, ...(warnings !== '' && { warnings }) },
    };
  }

  /** The namespaces in which there may be pull secrets. */
  async #keepNamespaces(): Promise<readonly string[]> {
    const { account, client } = this.#parts;
    const { signal } = this.#run;
    const declared = await loadV1Namespaces(account, client, signal);
    if (declared.length === 0) return this.#listNamespaces();
    const outcomes = await mapConcurrently(declared, namespacesAtOnce, async (name) => ({
      name,
      isUsable: await this.#keepNamespace(name),
    }));
    return outcomes.filter(({ isUsable }) => isUsable).map(({ name }) => name);
  }

  async #listNamespaces(): Promise<readonly string[]> {
    const { account, client } = this.#parts;
    const { signal } = this.#run;
    const listed = await this.#attempt('namespaces cannot be listed', () =>
      client.list({ resource: namespaceResource, metadataOnly: true }, { signal }),
    );
    return selectNamespaces((listed ?? []).map(readName), account);
  }

  /** Whether it may be used: one that may not be read may still exist. */
  async #keepNamespace(name: string): Promise<boolean> {
    const { client } = this.#parts;
    const { signal } = this.#run;
    const look = await this.#attempt(`namespace "${name}" cannot be read`, async () => ({
      live: await client.get({ resource: namespaceResource, name }, { signal }),
    }));
    if (look === undefined || look.live !== undefined) return true;
    const isMade = await this.#attempt(`namespace "${name}" cannot be created`, () => this.#create(name));
    return isMade ?? false;
  }

  async #create(name: string): Promise<true> {
    const { account, client, log } = this.#parts;
    const { signal, ensureHeld } = this.#run;
    ensureHeld();
    try {
      const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await client.create(namespaceResource, manifest, { signal });
    } catch (error) {
      // Another client was faster.
      if (error instanceof KubernetesApiError && error.reason === 'AlreadyExists') return true;
      throw error;
    }
    this.#changes += 1;
    log.info('Created missing namespace', { account: account.name, namespace: name });
    return true;
  }

  async #keepAllSecrets(namespaces: readonly string[]): Promise<void> {
    const { account, memory } = this.#parts;
    memory.keepOnly(namespaces);
    const wanted = new Set(namespaces.flatMap((namespace) => listPullSecrets(account.v1, namespace)));
    const secrets = new Map<string, PullSecret>();
    for (const registry of wanted) {
      const secret = await this.#attempt(`the pull secret of registry account "${registry}"`, () =>
        this.#loadSecret(registry),
      );
      if (secret !== undefined) secrets.set(registry, secret);
    }
    await forEachConcurrently(namespaces, namespacesAtOnce, async (namespace) => {
      for (const registry of listPullSecrets(account.v1, namespace)) {
        const secret = secrets.get(registry);
        if (secret !== undefined) await this.#keepSecret(secret, namespace);
      }
    });
  }

  async #loadSecret(registry: string): Promise<PullSecret> {
    const { registries } = this.#parts;
    if (registries === undefined) throw new NotFoundError('there are no Docker registry accounts');
    return toPullSecret(registry, await registries.getCredential(registry));
  }

  async #keepSecret(secret: PullSecret, namespace: string): Promise<void> {
    const { client, clock, memory } = this.#parts;
    if (memory.isKept(secret, namespace)) return;
    const what = `pull secret "${secret.name}" in namespace "${namespace}" cannot be kept`;
    const isWritten = await this.#attempt(what, () =>
      keepPullSecret(secret, namespace, { client, clock, run: this.#run }),
    );
    if (isWritten === undefined) return;
    if (isWritten) this.#changes += 1;
    memory.note(secret, namespace);
  }

  /** Undefined, with a warning, for a refusal. */
  async #attempt<T>(what: string, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      if (this.#run.signal.aborted || !isRefusal(error)) throw error;
      this.#warnings.push(`${what}: ${getErrorMessage(error)}`.slice(0, warningLengthMax));
      return undefined;
    }
  }

  /** Logs each change of the warnings once. */
  #log(warnings: string): void {
    const { account, log, told } = this.#parts;
    if (told.warnings === warnings) return;
    told.warnings = warnings;
    if (warnings !== '')
      log.warn('a V1 account is not as its settings say', { account: account.name, warnings });
  }
}

/** Whether only this request was refused: not if the API server is unreachable, or refuses the credentials. */
function isRefusal(error: unknown): boolean {
  if (isUnreachable(error)) return false;
  if (error instanceof KubernetesApiError) return error.status !== 401;
  return error instanceof VisibleError;
}

function formatWarnings(warnings: readonly string[]): string {
  const sorted = warnings.toSorted();
  const more = sorted.length - warningsToldMax;
  return [...sorted.slice(0, warningsToldMax), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
