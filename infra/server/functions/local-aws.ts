/** The account that local resources belong to. */
export const localAccountId = '000000000000';

/** The region that local resources are in. */
export const localRegion = 'us-east-1';
