import { NotFoundError } from '#core/errors.ts';
import type { BaseServices } from '#platform/services/base.ts';
import type { ApiRequest } from './api-request.ts';

/** A process, or a set of functions, that answers all requests. */
export interface ClouddriverView {
  readonly id: string;
  readonly baseUrl: string;
  readonly ready: boolean;
  /** When it last changed, ISO 8601: when this process began. */
  readonly lastUpdated: string;
}

/** The name of the only one. */
const onlyId = 'busdriver';

/** The name of the process that answers; undefined where it may be any of several replicas, as no task says which one it was. */
export function findClouddriverId({ config }: Pick<BaseServices, 'config'>): string | undefined {
  return config.isReplicated ? undefined : onlyId;
}

/** The only one: this one, at the address of the request. */
export function toOwnClouddriver(
  request: Pick<ApiRequest, 'findHeader'>,
  { config }: Pick<BaseServices, 'config'>,
): ClouddriverView {
  const protocol =
    request.findHeader('x-forwarded-proto') ?? (config.placement === 'local' ? 'http' : 'https');
  return {
    id: onlyId,
    baseUrl: `${protocol === 'http' ? 'http' : 'https'}://${request.findHeader('host') ?? ''}`,
    ready: true,
    lastUpdated: new Date(performance.timeOrigin).toISOString(),
  };
}

/** The one with this name. @throws NotFoundError for any other */
export function getClouddriver(
  request: Pick<ApiRequest, 'findHeader' | 'getParameter'>,
  services: Pick<BaseServices, 'config'>,
): ClouddriverView {
  const id = request.getParameter('id');
  if (id === onlyId) return toOwnClouddriver(request, services);
  throw new NotFoundError(`No clouddriver is named '${id}'`);
}
