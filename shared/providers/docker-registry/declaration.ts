/** What is known of this provider without loading it. */
export const declaration = {
  name: 'dockerRegistry',
  assumesRoles: true,
  awsResources: [
    {
      option: 'repositoryArn',
      service: 'ecr',
      path: 'repository/',
      prefix: '([\\w.-]+/)*',
      // Tags, and manifests and configurations of images by the registry itself.
      actions: [
        'ecr:BatchGetImage',
        'ecr:DescribeImages',
        'ecr:DescribeRepositories',
        'ecr:GetDownloadUrlForLayer',
      ],
      // The token reads what its owner may read.
      generalActions: ['ecr:GetAuthorizationToken'],
      events: [
        {
          source: 'aws.ecr',
          detailType: 'ECR Image Action',
          detail: { 'action-type': ['PUSH', 'DELETE'], result: ['SUCCESS'] },
        },
      ],
    },
  ],
} as const;
