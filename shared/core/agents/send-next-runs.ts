import { type AgentSender, type DueAgent, sendMessages, toMessages } from './send-agents.ts';

/** Milliseconds before its next run at which an agent waits for its neighbours no longer. */
const leadMs = 5_000;

/** Milliseconds of a look around when nothing is there to wait for. */
const idleMs = 60_000;

/**
 * Sends messages for the next runs of agents that run side by side: one for all of them when the last one ended, so that they
 * stay together; but one that is slow does not delay the others, for which messages leave some seconds before they are due.
 *
 * @param ends for each agent, once its run ended: its next run, if a message is to be sent for that. None rejects.
 */
export async function sendNextRuns(
  sender: AgentSender,
  ends: readonly Promise<DueAgent | undefined>[],
): Promise<void> {
  const { clock } = sender;
  let ready: readonly DueAgent[] = [];
  let left = ends.length;
  let waiting = new AbortController();
  for (const end of ends) {
    void end.then((agent) => {
      left -= 1;
      if (agent !== undefined) ready = [...ready, agent];
      waiting.abort();
    });
  }
  while (left > 0) {
    waiting = new AbortController();
    await clock.sleep(getWaitMs(ready, clock.now()), waiting.signal).catch(() => undefined);
    const { soon = [], later = [] } = Object.groupBy(ready, (agent) =>
      agent.nextRunMs - leadMs <= clock.now() ? 'soon' : 'later',
    );
    ready = later;
    await sendMessages(sender, toMessages(soon));
  }
  await sendMessages(sender, toMessages(ready));
}

function getWaitMs(ready: readonly DueAgent[], nowMs: number): number {
  const waits = ready.map(({ nextRunMs }) => nextRunMs - leadMs - nowMs);
  return Math.max(0, Math.min(idleMs, ...waits));
}
