import type { ArtifactAccount } from '../../contract/answers/artifacts.ts';
import { NotFoundError } from '../errors.ts';
import type { ArtifactAccountQuery } from './provider.ts';

/** Whether an account is the one that is meant. */
export function isMeant({ name, types }: ArtifactAccount, query: ArtifactAccountQuery): boolean {
  return name === query.name && (query.type === '' || types.includes(query.type));
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
