import type { AwsEvent } from '#caching/scheduling/aws-event.ts';
import { asString } from '#core/json.ts';
import type { RegistryAccount } from './account.ts';
import type { RepositoryChange } from './caching-agent-run.ts';

/**
 * What an event tells has changed in the registry of an account: it is one of ECR about an image that got a tag, or was deleted. Undefined
 * for any other; AWS: "Sample events from Amazon ECR".
 */
export function findImageChange(
  { source, detailType, account, region, detail }: AwsEvent,
  { ecr }: Pick<RegistryAccount, 'ecr'>,
): RepositoryChange | undefined {
  if (source !== 'aws.ecr' || detailType !== 'ECR Image Action') return undefined;
  if (ecr === undefined || ecr.registryId !== account || ecr.region !== region) return undefined;
  const repository = asString(detail['repository-name']);
  const tag = asString(detail['image-tag']) || undefined;
  const action = detail['action-type'];
  if (repository === undefined || detail['result'] !== 'SUCCESS') return undefined;
  if (action === 'DELETE') return { repository };
  // What is pushed without a tag, such as the parts of an image of several platforms, shows nowhere.
  return action === 'PUSH' && tag !== undefined ? { repository, pushedTag: tag } : undefined;
}
