import { authorizerHandler } from '#access/http/authorizer-handler.ts';
import { openSharedSecret } from '#access/http/shared-secret.ts';

/** Authorizer `shared-secret`: lets in who sends the secret that the operator and Spinnaker share, as a bearer token. */
export const handler = authorizerHandler(openSharedSecret, async function checkSharedSecret(token, secret) {
  return secret.matches(token);
});
