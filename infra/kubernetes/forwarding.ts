import type { AgentConnection, Hint } from '#agents/agent-connections.ts';
import type { ReadEnd } from '#agents/services/awaited-answers.ts';
import type { HintDelivery } from '#agents/sessions/hint-port.ts';
import type { Clock } from '#core/clock.ts';
import { getErrorMessage } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import type { HintConnections } from '#infra/server/hints/hint-connections.ts';
import { operationResultSchema, operationSchema, toOperation, toOperationResult } from './agent-messages.ts';
import type { Peer } from './peers/peer-addresses.ts';
import type { PeerTokens } from './peers/peer-tokens.ts';
import type { Peers } from './peers/peers.ts';
import { formatProtobufText } from './protobuf-text.ts';

/** Milliseconds that notifying a peer may take. It is tried once: an agent that is not notified asks for work by itself. */
const forwardMs = 1_000;

/** Milliseconds after which the row of an unknown peer may go: a new one may not be known yet. */
const unknownPeerMs = 60_000;

/** What messages are passed on with. */
export interface ForwardingOptions {
  readonly peers: Pick<Peers, 'find' | 'state'>;
  readonly tokens: Pick<PeerTokens, 'read'>;
  /** Those that end in this process. */
  readonly connections: Pick<HintConnections, 'has'>;
  /** By which peers know this process. */
  readonly podName: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Where a peer is reached. Default: at its `baseUrl`. */
  readonly toUrl?: ((peer: Peer) => string) | undefined;
}

/**
 * Passes messages on to the replica to which an agent is connected, or which waits for a result. A message says that there is something to
 * fetch: one that is lost costs time and nothing else.
 */
export class Forwarding {
  readonly #options: ForwardingOptions;

  constructor(options: ForwardingOptions) {
    this.#options = options;
  }

  /**
   * Notifies a connection of the table through its holder. One of this process was notified before, if it still exists.
   *
   * @returns `gone` where its holder has no such connection, or is no more: then its row may go. Never rejects
   */
  async post({ id, holder, connectedAtMs }: AgentConnection, hint: Hint): Promise<HintDelivery> {
    const { podName, connections, peers, clock } = this.#options;
    if (holder === podName) return connections.has(id) ? 'delivered' : 'gone';
    // A connection of API Gateway: its deployer holds it.
    if (holder === undefined) return 'failed';
    const isKnown = peers.find(holder) !== undefined;
    const isOld = clock.now() - connectedAtMs > unknownPeerMs;
    if (!isKnown && peers.state === 'watching' && isOld) return 'gone';
    const operation = formatProtobufText(operationSchema, toOperation(hint));
    return this.#send(holder, '/armory/agent/operations', { operation });
  }

  /** Notifies the peer that waits for a read. Never rejects. */
  async tellResult(waiter: string, end: ReadEnd): Promise<HintDelivery> {
    const result = formatProtobufText(operationResultSchema, toOperationResult(end));
    return this.#send(waiter, '/armory/agent/operationresults', { result });
  }

  async #send(id: string, path: string, body: object): Promise<HintDelivery> {
    try {
      return await this.#post(id, path, body);
    } catch (error) {
      const reason = getErrorMessage(error);
      this.#options.log.warn('a message for an agent could not be passed on', { peer: id, reason });
      return 'failed';
    }
  }

  async #post(id: string, path: string, body: object): Promise<HintDelivery> {
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
    if (response.status === 404) return 'gone';
    if (response.ok) return 'delivered';
    throw new Error(`${id} answered ${response.status}`);
  }
}
