import { getErrorMessage } from '#core/errors.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { type Hint, type Hints, isForAll } from '../agent-connections.ts';
import { findHintPort, type HintPort } from './hint-port.ts';

/** Sender of hints, by the port that is bound: without one none are sent. */
export function openHints(services: Services): Hints {
  return services.get(createHints);
}

function createHints(services: Services): Hints {
  const { log } = openBase(services);
  return {
    async send(hint) {
      const port = findHintPort(services);
      try {
        if (port !== undefined) await sendBy(port, services, hint);
      } catch (error) {
        const { account, kind } = hint;
        log.warn('hints could not be sent to agents', { account, kind, reason: getErrorMessage(error) });
      }
    },
  };
}

/** If an agent of this process takes the work, no other one gets a hint. */
async function sendBy(port: HintPort, services: Services, hint: Hint): Promise<void> {
  const isTold = port.deliver?.(hint) === true;
  if (port.post === undefined || (isTold && !isForAll(hint))) return;
  // Loaded late: functions that accept operations start without it.
  const { postHint } = await import('./connections.ts');
  await postHint(services, hint, port.post.bind(port));
}
