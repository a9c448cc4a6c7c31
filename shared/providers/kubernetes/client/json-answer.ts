import { isJsonObject } from '../../../core/json.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { ApiResource } from './client.ts';
import { isResourceNotServed, KubernetesApiError, KubernetesConnectionError } from './errors.ts';
import type { ApiRequest } from './http.ts';
import { withoutSecretValues } from './secret-refusal.ts';

/**
 * The object that an answer is.
 *
 * @param account whose server it is, for errors
 * @throws KubernetesConnectionError when it is something else: then it is not an API server's.
 */
export function parseJsonAnswer(text: string, account: string, method: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new KubernetesConnectionError(`account "${account}": the answer to ${method} is no JSON`);
  }
  if (isJsonObject(value)) return value;
  throw new KubernetesConnectionError(`account "${account}": the answer to ${method} is no JSON object`);
}

/**
 * The error of a request about a resource. A server that does not serve the resource says so without naming it: it is named.
 * What is said about a Secret loses its values here, before anybody sees it.
 */
export function nameResource(
  thrown: unknown,
  resource: ApiResource,
  { account, request }: { readonly account: string; readonly request: ApiRequest },
): unknown {
  const error = withoutSecretValues(thrown, resource, request);
  if (!isResourceNotServed(error)) return error;
  const { kind, apiVersion } = resource;
  const call = `${request.method} ${request.path.split('?')[0]}`;
  const what = `the cluster of account "${account}" does not serve ${kind} in ${apiVersion} (${call})`;
  return new KubernetesApiError(404, error.reason, `${error.message}: ${what}`);
}
