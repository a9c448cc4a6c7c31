import { hintPath } from '#agents/agent-connections.ts';
import { parseError, toErrorHeaders } from '#http/error-body.ts';
import type { Services } from '#platform/services/services.ts';
import { systemClock } from '#platform/services/system.ts';
import type { UpgradeRoute } from '../front-door/http-upgrade.ts';
import { HttpError } from '../functions/http-error.ts';
import type { HintEndpoint, HintTimes } from './hint-endpoint.ts';
import type { HoldOptions } from './hold-connection.ts';

const defaultTimes: HintTimes = { pingMs: 20_000, silenceMs: 60_000 };

/** What the route works with. */
export interface HintRouteOptions extends HoldOptions {
  readonly services: Services;
  /** Default: pings each 20 seconds, and an end after a minute of silence. */
  readonly times?: HintTimes | undefined;
}

/** Where agents connect for hints. What serves them is loaded with the first one. */
export function createHintRoute({ times = defaultTimes, ...options }: HintRouteOptions): UpgradeRoute {
  let opening: Promise<HintEndpoint> | undefined;
  let isClosed = false;
  const open = async (): Promise<HintEndpoint> => {
    const { HintEndpoint } = await import('./hint-endpoint.ts');
    return new HintEndpoint({ ...options, times });
  };
  return {
    path: hintPath,
    async take(request, socket, head) {
      if (isClosed) throw new HttpError(503, 'The server stops');
      opening ??= open();
      try {
        await (await opening).take(request, socket, head);
      } catch (error) {
        if (error instanceof HttpError) throw error;
        const { status, message } = parseError(error, systemClock.now());
        // A defect is to be logged.
        if (status === 500) throw error;
        throw new HttpError(status, message, toErrorHeaders(status, error));
      }
    },
    close() {
      isClosed = true;
      void opening?.then((endpoint) => endpoint[Symbol.dispose]());
    },
  };
}
