import type { AwsEvent } from '#caching/scheduling/aws-event.ts';
import { asString } from '#core/json.ts';
import type { RegistryAccount } from './account.ts';
import type { RepositoryChange } from './caching-agent-run.ts';

/**
 * The change in an account's registry that an event of ECR reports: an image was tagged, or deleted. Undefined for any other event; AWS:
 * "Sample events from Amazon ECR".
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
  // Images without a tag, such as the parts of a multi-platform image, are shown nowhere.
  return action === 'PUSH' && tag !== undefined ? { repository, pushedTag: tag } : undefined;
}
