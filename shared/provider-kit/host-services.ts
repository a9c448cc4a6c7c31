import type { EcrService } from '#platform/ports/ecr.ts';
import type { EksService } from '#platform/ports/eks.ts';
import type { S3Service } from '#platform/ports/s3.ts';
import type { StsService } from '#platform/ports/sts.ts';
import type { SecretReader } from '#settings/secret-reference.ts';

/** AWS services that the host of a process offers to plug-ins. Nothing is loaded or called before the first call of one. */
export interface HostServices {
  /** EKS, for accounts that name a cluster or a program that makes tokens for one. Default: none. */
  readonly eks?: EksService;
  /** ECR, for accounts of its registries. Default: none. */
  readonly ecr?: EcrService;
  /** Secrets that accounts refer to. Default: none. */
  readonly secrets?: SecretReader;
  /** S3, for accounts that name objects in it. Default: none. */
  readonly s3?: S3Service;
  /** STS, for accounts that identify this process by its IAM identity. Default: none. */
  readonly sts?: StsService;
}
