import type { EcrService } from '#platform/ports/ecr.ts';
import type { EksService } from '#platform/ports/eks.ts';
import type { S3Service } from '#platform/ports/s3.ts';
import type { StsService } from '#platform/ports/sts.ts';
import type { SecretReader } from '#settings/secret-reference.ts';

/**
 * Services of AWS that the place where a process runs offers to plug-ins. A plug-in takes those that it has a use for. Nothing is
 * loaded or called before the first call of one.
 */
export interface PlacementServices {
  /** EKS, for accounts that name a cluster or a program that makes tokens for one. Default: there is none. */
  readonly eks?: EksService;
  /** ECR, for accounts of its registries. Default: there is none. */
  readonly ecr?: EcrService;
  /** Secrets that accounts refer to. Default: there are none. */
  readonly secrets?: SecretReader;
  /** S3, for accounts that name objects in it. Default: there is none. */
  readonly s3?: S3Service;
  /** STS, for accounts that others know by the IAM identity of this process. Default: there is none. */
  readonly sts?: StsService;
}
