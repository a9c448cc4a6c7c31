/** What is known of this provider without loading it. */
export const declaration = {
  name: 'kubernetes',
  hasOperations: true,
  assumesRoles: true,
  awsResources: [
    {
      option: 'clusterArn',
      service: 'eks',
      path: 'cluster/',
      prefix: '[\\w-]*',
      actions: ['eks:DescribeCluster'],
    },
  ],
} as const;
