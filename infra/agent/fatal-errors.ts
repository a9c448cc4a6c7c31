import type { Logger } from '#core/logger.ts';

/**
 * Has the process end with 1 at an error that nothing catches, and the log say which: the state that it left is unknown, and another agent
 * goes on. Node would end it as well, and print whatever else the error holds, such as the headers of a call.
 */
export function endAtFatalErrors(log: Logger): void {
  // Unhandled rejections come this way, too.
  process.on('uncaughtException', (reason: unknown) => {
    const error = reason instanceof Error ? reason : new Error(String(reason));
    log.error('the agent ends at an error that nothing caught', { error });
    process.exit(1);
  });
}
