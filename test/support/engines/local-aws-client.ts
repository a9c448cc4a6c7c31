import { localRegion } from '#infra/server/functions/local-aws.ts';

/** Options of a client of engines that a test starts, and of emulators that check no signature, beside its endpoint. */
export const localClientOptions = {
  region: localRegion,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
} as const;
