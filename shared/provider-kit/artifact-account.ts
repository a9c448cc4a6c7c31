import type { ArtifactAccount } from '#contract/answers/artifacts.ts';
import { InvalidInputError, NotFoundError } from '#core/errors.ts';
import type { ArtifactAccountQuery } from './provider.ts';

/** Whether an account matches the query. */
export function isMeant({ name, types }: ArtifactAccount, query: ArtifactAccountQuery): boolean {
  return name === query.name && (query.type === '' || types.includes(query.type));
}

/** The error for a kind of account that cannot list its artifacts. An empty list would mean that there are none. */
export function cannotTell(
  { name, type }: ArtifactAccountQuery,
  what: 'names' | 'versions',
): InvalidInputError {
  const subject = type === '' ? `artifact account '${name}'` : `type ${type}`;
  return new InvalidInputError(`${subject} has no ${what}`);
}

/** The error for an unknown account of that name, or of that name and type. It names no others. */
export function artifactAccountNotFound({ name, type }: ArtifactAccountQuery): NotFoundError {
  const what = type === '' ? 'not found' : `with artifacts of type '${type}' not found`;
  return new NotFoundError(
    `Artifact account '${name}' ${what}; GET /artifacts/credentials lists the accounts there are`,
  );
}
