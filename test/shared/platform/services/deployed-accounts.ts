import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { JsonObject } from '#core/json.ts';
import { readEnvironment } from '#platform/config.ts';
import type { ProviderContext } from '#provider-kit/provider.ts';
import { KubernetesSession } from '#providers/kubernetes/account/session.ts';
import type { KubernetesClient } from '#providers/kubernetes/api/client.ts';
import {
  type ScriptedServer,
  startScriptedServer,
  toBase64,
} from '#test/shared/providers/kubernetes/client/scripted-server.ts';
import { type AwsEndpoints, startAwsEndpoints } from '#test/support/engines/aws-endpoints.ts';
import { createTestClock, type TestClock, testRandomness } from '#test/support/run/test-clock.ts';
import { createTestHost } from '#test/support/services/test-host.ts';

/** AWS and an API server, both made for each test, and accounts that are opened there as a deployed function opens them. */
export class DeployedAccounts {
  aws!: AwsEndpoints;
  server!: ScriptedServer;
  clock!: TestClock;
  /** What was logged so far. */
  logged = '';
  #session: KubernetesSession | undefined;

  constructor() {
    beforeEach(async () => {
      this.aws = await startAwsEndpoints();
      this.server = await startScriptedServer();
      this.clock = createTestClock();
      this.logged = '';
    });
    afterEach(async () => {
      await this.#session?.[Symbol.asyncDispose]();
      this.#session = undefined;
      vi.unstubAllEnvs();
      await this.server[Symbol.asyncDispose]();
      await this.aws[Symbol.asyncDispose]();
    });
  }

  /** The client of the one account `prod`. */
  async openClient(account: JsonObject, options: Partial<ProviderContext> = {}): Promise<KubernetesClient> {
    const settings = { kubernetes: { accounts: [{ name: 'prod', ...account }] } };
    const [client] = await this.openClients(settings, options);
    if (client === undefined) throw new Error('there is no such account');
    return client;
  }

  /** The clients of all accounts in the settings. */
  async openClients(
    settings: JsonObject,
    options: Partial<ProviderContext> = {},
  ): Promise<readonly KubernetesClient[]> {
    const { clock } = this;
    const environment = readEnvironment();
    const write = (...line: unknown[]): void => {
      this.logged += JSON.stringify(line);
    };
    const session = new KubernetesSession({
      ...{ settings, clock, environment, placement: 'deployed', randomness: testRandomness },
      log: { debug: write, info: write, warn: write, error: write },
      services: createTestHost({ clock, environment }),
      ...options,
    });
    this.#session = session;
    expect(session.rejectedAccounts).toEqual([]);
    return Promise.all(session.accounts.map((account) => session.getClient(account)));
  }

  /** Has EKS say that the cluster `shop` is where the server is. */
  placeCluster(): void {
    const { url: endpoint, authority } = this.server;
    const certificateAuthority = { data: toBase64(authority.certificate) };
    this.aws.clusters.set('shop', { endpoint, certificateAuthority, status: 'ACTIVE' });
  }
}
