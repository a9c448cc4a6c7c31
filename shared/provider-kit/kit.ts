import type { ProviderDeclaration } from './declaration.ts';
import type { ProviderPlugin } from './provider.ts';

// What a provider is made of: `busdriver/provider-kit` for those in packages. docs/providers.md says what its version promises.

export type { Account, RejectedAccount } from '#accounts/model/account.ts';
export {
  type ListAgentOptions,
  type ListedPlatform,
  runListAgent,
  updateScope,
} from '#caching/engine/list-run.ts';
export type { AwsEvent } from '#caching/scheduling/aws-event.ts';
export type { CachingAgent, CachingRun } from '#caching/scheduling/caching-agent.ts';
export type { CacheStore } from '#caching/store/cache-store.ts';
export type { CacheModel } from '#caching/writer/cache-model.ts';
export { createCacheWriter } from '#caching/writer/cache-writer.ts';
export { createJsonModel } from '#caching/writer/json-model.ts';
export * from '#core/errors.ts';
export { asJsonArray, asString, getPath, type JsonObject, type JsonValue } from '#core/json.ts';
export * from '#settings/coerce.ts';
export type { Operation, OperationRun, PreparedOperation } from '#tasks/operation.ts';
export type { CachedReads } from '#views/views.ts';
export type { CloudProvider } from './cloud-provider.ts';
export * from './declaration.ts';
export * from './operation-definition.ts';
export type * from './provider.ts';
export * from './violations.ts';

/** What the main module of a package with a provider exports. */
export interface ProviderPackage {
  readonly declaration: ProviderDeclaration & {
    /** The `kitVersion` for which it is written. */
    readonly kit: number;
  };
  readonly plugin: ProviderPlugin;
}
