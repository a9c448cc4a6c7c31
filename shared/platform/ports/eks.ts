/** An EKS cluster, and the identity that reaches it. */
export interface EksCluster {
  /** Its name in EKS, or for a local cluster on Outposts its id. */
  readonly name: string;
  /** Left out, the region of this process. */
  readonly region?: string | undefined;
  /** A role to assume first. Left out, the identity of this process is used. */
  readonly roleArn?: string | undefined;
  /** Name of the role's session, which CloudTrail and EKS' access entries show. Default `busdriver`. */
  readonly sessionName?: string | undefined;
  /** An external id that the role's trust policy may require. */
  readonly externalId?: string | undefined;
  /** A profile of this machine's AWS configuration, in place of the identity of this process. */
  readonly profile?: string | undefined;
}

/** The endpoint of an EKS cluster's API server. */
export interface EksEndpoint {
  /** `https://…` */
  readonly server: string;
  /** PEM in base64. */
  readonly certificateAuthorityData: string;
  /** When EKS said so, wall time in milliseconds. */
  readonly asOfMs: number;
}

interface EksEndpointOptions {
  /** An endpoint that did not work: only a later one will do. Default: any will. */
  readonly doubted?: Pick<EksEndpoint, 'asOfMs'> | undefined;
}

/** A bearer token for an EKS cluster. */
export interface EksToken {
  readonly token: string;
  /** When to stop using it, wall time in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

interface EksTokenOptions {
  /** True when the last token was refused: nothing remembered is used for the next. Default false. */
  readonly refused?: boolean | undefined;
}

/** What AWS knows of EKS clusters. Each call throws an Error that says what AWS refused, to whom, and what to do. */
export interface EksService {
  /** The cluster's endpoint, by EKS. */
  describeCluster(cluster: EksCluster, options?: EksEndpointOptions): Promise<EksEndpoint>;
  /** Makes a token, without a call to AWS unless a role must be assumed. */
  presignToken(cluster: EksCluster, options?: EksTokenOptions): Promise<EksToken>;
}
