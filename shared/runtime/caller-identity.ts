import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Who calls. */
export interface Identity {
  /** Undefined for who does not say. */
  readonly user?: string | undefined;
  /** The accounts that Gate says he may use; undefined where it does not say. */
  readonly allowedAccounts?: readonly string[] | undefined;
}

/** What a request's headers say of who calls. */
export function identify(event: Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>): Identity {
  const accounts = findOnlyHeader(event, 'x-spinnaker-accounts');
  return {
    user: findOnlyHeader(event, 'x-spinnaker-user') || undefined,
    allowedAccounts: accounts
      ?.split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  };
}

/** A header that is there once. Several of a name count as none: which of them a proxy looked at nobody knows. */
function findOnlyHeader(
  { headers, multiValueHeaders }: Pick<APIGatewayProxyEvent, 'headers' | 'multiValueHeaders'>,
  name: string,
): string | undefined {
  const several = Object.entries(multiValueHeaders ?? {}).filter(([key]) => key.toLowerCase() === name);
  const values = several.flatMap(([, found]) => found ?? []);
  if (values.length > 1) return undefined;
  if (values.length === 1) return values[0];
  const single = Object.entries(headers ?? {}).filter(([key]) => key.toLowerCase() === name);
  return single.length === 1 ? single[0]?.[1] : undefined;
}
