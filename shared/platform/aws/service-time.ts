import type { ToldTime } from '../ports/store-clock.ts';

/** The part of a client through which its receiving can be changed. */
interface AdjustableClient {
  readonly middlewareStack: {
    add(
      middleware: <I extends object, O extends { response: unknown }>(
        next: (args: I) => Promise<O>,
      ) => (args: I) => Promise<O>,
      options: { step: 'deserialize'; priority: 'low'; name: string },
    ): void;
  };
}

/** Reports the service's time with each answer of a client. @returns the client */
export function tellTime<C extends AdjustableClient>(
  client: C,
  { now, take }: { now(): number; take(told: ToldTime): void },
): C {
  client.middlewareStack.add(
    (next) => async (args) => {
      const sentMs = now();
      const answer = await next(args);
      const toldMs = findDate(answer.response);
      if (toldMs !== undefined) take({ toldMs, sentMs, receivedMs: now() });
      return answer;
    },
    { step: 'deserialize', priority: 'low', name: 'tellTime' },
  );
  return client;
}

/** The time of an answer's `Date`; undefined when it has none. */
function findDate(response: unknown): number | undefined {
  if (typeof response !== 'object' || response === null || !('headers' in response)) return undefined;
  const { headers } = response;
  if (typeof headers !== 'object' || headers === null || !('date' in headers)) return undefined;
  const ms = Date.parse(String(headers.date));
  return Number.isNaN(ms) ? undefined : ms;
}
