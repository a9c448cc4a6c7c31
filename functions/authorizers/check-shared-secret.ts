import { authorizerHandler } from '../../shared/runtime/authorizer-handler.ts';
import { openSharedSecret } from '../../shared/runtime/shared-secret.ts';

/** Authorizer `shared-secret`: lets in who sends the secret that the operator and Spinnaker share, as a bearer token. */
export const handler = authorizerHandler(openSharedSecret, async function checkSharedSecret(token, secret) {
  return secret.matches(token);
});
