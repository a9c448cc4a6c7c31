import type { APIGatewayProxyEvent } from 'aws-lambda';
import { trimBlanks } from '#core/blanks.ts';

/** Header by which Spinnaker's services name the user, in lower case. */
export const userHeader = 'x-spinnaker-user';
/** Accounts that the user may use, as Gate computes them: names separated by commas. */
export const accountsHeader = 'x-spinnaker-accounts';
/** The signed token. */
export const tokenHeader = 'x-busdriver-identity';

/** All values of a header, by its name in lower case: only API Gateway's `multiValueHeaders` has more than the last. */
export function listHeaderValues(event: APIGatewayProxyEvent, name: string): readonly string[] {
  const many = pick(event.multiValueHeaders, name).flatMap((values) => values ?? []);
  if (many.length > 0) return many;
  return pick(event.headers, name).flatMap((value) => (value === undefined ? [] : [value]));
}

/** The user of `X-SPINNAKER-USER`; none where it is empty, and where there are several: an intruder may have added one. */
export function findUser(event: APIGatewayProxyEvent): string | undefined {
  return trimBlanks(findOne(event, userHeader) ?? '') || undefined;
}

/** The accounts of `X-SPINNAKER-ACCOUNTS`, trimmed; undefined without the header, and for several, which count as none. */
export function findAccounts(event: APIGatewayProxyEvent): readonly string[] | undefined {
  return findOne(event, accountsHeader)
    ?.split(',')
    .map(trimBlanks)
    .filter((name) => name !== '');
}

function findOne(event: APIGatewayProxyEvent, name: string): string | undefined {
  const values = listHeaderValues(event, name);
  return values.length === 1 ? values[0] : undefined;
}

function pick<T>(headers: { readonly [name: string]: T } | null | undefined, name: string): readonly T[] {
  return Object.entries(headers ?? {})
    .filter(([key]) => key.toLowerCase() === name)
    .map(([, value]) => value);
}
