import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';

/** Which version of a secret: the current one, or the previous one. */
export type SecretStage = 'AWSCURRENT' | 'AWSPREVIOUS';

/** One text secret. */
export interface SecretSource {
  /** Its text; undefined when there is no such version. @throws Error when it holds bytes instead of text. */
  find(stage: SecretStage): Promise<string | undefined>;
}

/** A text secret of Secrets Manager. */
export function createSecretSource(client: SecretsManagerClient, secretArn: string): SecretSource {
  return {
    async find(stage) {
      const answer = await client
        .send(new GetSecretValueCommand({ SecretId: secretArn, VersionStage: stage }))
        .catch(ignoreMissing);
      if (answer === undefined) return undefined;
      if (answer.SecretString === undefined) throw new Error(`the secret ${secretArn} holds no text`);
      return answer.SecretString;
    },
  };
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof ResourceNotFoundException)) throw error;
}
