import { InvalidInputError } from '#core/errors.ts';
import type { OperationClaim } from '#tasks/requests/operation-claims.ts';

/** The accounts and providers of this side. */
export interface Owners {
  /** Whether an account is one of this side's settings or store; it may be left upstream. */
  knowsAccount(name: string): boolean;
  ownsAccount(name: string): boolean;
  ownsProvider(name: string): boolean;
}

/**
 * Whether operations go upstream: all of them, or none. One goes where its account is, and without an account where its provider is.
 *
 * @param cloudProvider the provider of the path; undefined on `/ops`
 * @throws InvalidInputError for operations of both sides: they cannot be one task
 */
export function areForeign(
  claims: readonly OperationClaim[],
  {
    cloudProvider: ofPath,
    ownsAccount,
    ownsProvider,
  }: Omit<Owners, 'knowsAccount'> & { readonly cloudProvider: string | undefined },
): boolean {
  const isForeign = ({ account, cloudProvider }: Omit<OperationClaim, 'name'>): boolean => {
    if (account !== undefined) return !ownsAccount(account);
    const provider = ofPath ?? cloudProvider;
    return provider !== undefined && !ownsProvider(provider);
  };
  const foreign = claims.filter(isForeign);
  if (claims.length === 0) return isForeign({ account: undefined, cloudProvider: undefined });
  if (foreign.length === 0 || foreign.length === claims.length) return foreign.length > 0;
  const own = claims.find((claim) => !isForeign(claim));
  throw new InvalidInputError(
    `One request holds operations of Busdriver (${describe(own)}) and of the Clouddriver behind it (${describe(foreign[0])}): ` +
      'post them in two requests',
  );
}

function describe(claim: OperationClaim | undefined): string {
  const { name = '', account } = claim ?? {};
  return account === undefined
    ? name.slice(0, 100)
    : `${name.slice(0, 100)} in account ${account.slice(0, 100)}`;
}
