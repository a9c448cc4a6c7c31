import type { ArtifactAccount } from '#contract/answers/artifacts.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { ArtifactAccountQuery } from './provider.ts';

/** Whether an account is the one that is meant. */
export function isMeant({ name, types }: ArtifactAccount, query: ArtifactAccountQuery): boolean {
  return name === query.name && (query.type === '' || types.includes(query.type));
}

/** Says that accounts of a kind cannot tell which artifacts there are. An empty list would say that there are none. */
export function cannotTell(
  { name, type }: ArtifactAccountQuery,
  what: 'names' | 'versions',
): InvalidInputError {
  const subject = type === '' ? `artifact account '${name}'` : `type ${type}`;
  return new InvalidInputError(`${subject} has no ${what}`);
}

/**
 * Says that there is no account of that name, or none of that name and type. The names of others stay out.
 */
export function artifactAccountNotFound({ name, type }: ArtifactAccountQuery): NotFoundError {
  const what = type === '' ? 'not found' : `with artifacts of type '${type}' not found`;
  return new NotFoundError(
    `Artifact account '${name}' ${what}; GET /artifacts/credentials lists the accounts there are`,
  );
}
