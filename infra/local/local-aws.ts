/** The account that local resources belong to. */
export const localAccountId = '000000000000';

/** The region that local resources are in. */
export const localRegion = 'us-east-1';

/** Options of an AWS client that talks to the local engines, beside its endpoint: they verify no signature. */
export const localClientOptions = {
  region: localRegion,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;
