import { getErrorMessage } from '#core/errors.ts';

/** Runs a program without options. One that fails prints why, and ends with 1. */
export async function runTool(run: () => Promise<unknown>): Promise<void> {
  await run().catch((error: unknown) => {
    console.error(getErrorMessage(error));
    process.exitCode = 1;
  });
}
