/** For AWS' SDK, which would write warnings about the user's variables into our output. */
export const silentLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {
  // Nothing to do.
}
