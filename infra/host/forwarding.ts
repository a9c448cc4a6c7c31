import { getErrorMessage } from '../../shared/core/errors.ts';
import type { Logger } from '../../shared/core/logger.ts';
import {
  type OperationMessage,
  type OperationResultMessage,
  operationResultSchema,
  operationSchema,
} from './agent-messages.ts';
import type { HeldAccounts } from './held-accounts.ts';
import type { Peer } from './peer-addresses.ts';
import type { PeerTokens } from './peer-tokens.ts';
import { formatProtobufText } from './protobuf-text.ts';

/** Milliseconds that telling a peer may take. It is tried once: an agent that is not told looks for work by itself. */
const forwardMs = 1_000;

/** What became of a message: see `docs/kubernetes-home.md`. */
export type Delivery = 'delivered' | 'not-held' | 'failed';

/** What messages are passed on with. */
export interface ForwardingOptions {
  readonly peers: { find(id: string): Peer | undefined };
  readonly tokens: Pick<PeerTokens, 'read'>;
  readonly held: HeldAccounts;
  readonly log: Logger;
  /** Whether this process is that peer. */
  isSelf(id: string): boolean;
  /** Where a peer is reached. Default: at its `baseUrl`. */
  toUrl?(peer: Peer): string;
}

/**
 * Passes messages on to whom an agent is connected to, or who waits for a result. A message says that there is something to fetch: one
 * that is lost costs time and nothing else.
 */
export class Forwarding {
  readonly #options: ForwardingOptions;

  constructor(options: ForwardingOptions) {
    this.#options = options;
  }

  /**
   * Tells the agent of the message's account. This process looks into its own map first, then at the row of the table.
   *
   * @param findHolder the pod that the table names for an account; undefined where it names none. What it throws counts as failed
   * @returns `not-held` where no process holds the account, or the one that the table names does not any more: its row may go
   */
  async deliver(
    message: OperationMessage,
    findHolder: (account: string) => Promise<string | undefined>,
  ): Promise<Delivery> {
    if (this.#options.held.deliver(message)) return 'delivered';
    try {
      const holder = await findHolder(message.account);
      if (holder === undefined || this.#options.isSelf(holder)) return 'not-held';
      const operation = formatProtobufText(operationSchema, message);
      return await this.#post(holder, '/armory/agent/operations', { operation });
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** Tells the peer that waits for a result. */
  async tellResult(waiting: string, message: OperationResultMessage): Promise<Delivery> {
    try {
      const result = formatProtobufText(operationResultSchema, message);
      return await this.#post(waiting, '/armory/agent/operationresults', { result });
    } catch (error) {
      return this.#fail(error);
    }
  }

  async #post(id: string, path: string, body: object): Promise<Delivery> {
    const { peers, tokens, toUrl = (peer: Peer) => peer.baseUrl } = this.#options;
    const peer = peers.find(id);
    if (peer === undefined) throw new Error(`no peer is named ${id}`);
    const response = await fetch(new URL(path, toUrl(peer)), {
      method: 'POST',
      headers: { authorization: `Bearer ${await tokens.read()}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(forwardMs),
    });
    await response.body?.cancel();
    if (response.status === 404) return 'not-held';
    if (response.ok) return 'delivered';
    throw new Error(`${id} answered ${response.status}`);
  }

  #fail(error: unknown): Delivery {
    this.#options.log.warn('a message for an agent could not be passed on', {
      reason: getErrorMessage(error),
    });
    return 'failed';
  }
}
