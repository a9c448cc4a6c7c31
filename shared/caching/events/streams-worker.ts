import { UnavailableError } from '#core/errors.ts';
import type { QueueMessage } from '#http/events/queue-handler.ts';
import type { ProviderSet } from '#provider-kit/provider-set.ts';
import type { ProviderServices } from '#provider-kit/services/providers.ts';
import type { CachingAgent } from '../scheduling/caching-agent.ts';
import { toCachingAgentId } from '../scheduling/caching-agent-store.ts';
import { runStreams } from '../scheduling/streams/run-streams.ts';
import type { StreamMessage } from '../scheduling/streams/stream-queue.ts';
import type { StreamServices } from '../services/streams.ts';

/** Milliseconds before the end of the function's time at which it sends for a successor. */
const handOverBeforeEndMs = 90_000;

/** Less time than this remains only where the function must end at once, milliseconds: no successor takes over then. */
const handOverLeastMs = 35_000;

/** Milliseconds between two checks of the remaining time. */
const checkIntervalMs = 500;

/**
 * Watches the caching agents of a message until the function's time is over, always by the current settings. Without usable settings at its
 * beginning it gives up the message: as soon as there are some, the scheduler sends for its caching agents.
 *
 * @param open opens the providers: a parameter of each function, since its grants follow from it
 */
export async function runCachingAgentStreams(
  message: QueueMessage<StreamMessage>,
  services: StreamServices,
  open: () => Promise<ProviderServices>,
): Promise<void> {
  const agentsOf = new WeakMap<ProviderSet, ReadonlyMap<string, CachingAgent>>();
  const ending = startHandOverSignal(message);
  try {
    await runStreams(services, message, {
      async loadAgents() {
        const { providers } = await open();
        const known = agentsOf.get(providers) ?? toMap(await providers.loadCachingAgents());
        agentsOf.set(providers, known);
        return (key) => known.get(toCachingAgentId(key));
      },
      handOver: ending.signal,
      stop: message.stop,
    });
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    services.log.warn('watched agents wait for settings that can be used', { reason: error.message });
  } finally {
    ending[Symbol.dispose]();
  }
}

function toMap(agents: readonly CachingAgent[]): ReadonlyMap<string, CachingAgent> {
  return new Map(agents.map((agent) => [toCachingAgentId(agent), agent]));
}

/** A signal aborted when it is time to send for a successor. */
function startHandOverSignal({
  getRemainingMs,
}: Pick<QueueMessage<StreamMessage>, 'getRemainingMs'>): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const check = (): void => {
    const remainingMs = getRemainingMs();
    if (remainingMs <= handOverBeforeEndMs && remainingMs >= handOverLeastMs) controller.abort();
  };
  const timer = setInterval(check, checkIntervalMs);
  return { signal: controller.signal, [Symbol.dispose]: () => clearInterval(timer) };
}
