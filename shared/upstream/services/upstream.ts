import { settingsPath as identityPath, parseIdentitySettings } from '#access/identity/identity-settings.ts';
import { Breaker } from '#core/breaker.ts';
import type { JsonObject } from '#core/json.ts';
import { openBase } from '#platform/services/base.ts';
import type { Services } from '#platform/services/services.ts';
import { getSetting } from '#settings/spring-config.ts';
import { parseUpstreamSettings, type UpstreamSettings, upstreamPath } from '#settings/upstream-settings.ts';
import { createUpstreamClient, type UpstreamClient } from './upstream-client.ts';
import { createUpstreamState, type UpstreamState } from './upstream-state.ts';

/** The Clouddriver behind this one. */
export interface Upstream {
  readonly settings: UpstreamSettings;
  readonly client: UpstreamClient;
  readonly state: UpstreamState;
  /** For what is merged: an upstream that failed some times is left alone for a while. */
  readonly breaker: Breaker;
  /** Whether callers prove who they are: then only what they proved goes upstream. */
  readonly isIdentityProven: boolean;
}

/** The upstream of these settings, one however often it is opened; undefined without one. @throws ConfigurationError, InvalidInputError */
export function openUpstream(services: Services, settings: JsonObject): Upstream | undefined {
  return services.get(createMemory).get(settings);
}

/** One that other settings do not concern stays open: they change whenever an account does. */
function createMemory(services: Services) {
  const known = new WeakMap<JsonObject, { readonly upstream: Upstream | undefined }>();
  let last: { readonly key: string; readonly upstream: Upstream | undefined } | undefined;
  return {
    get(settings: JsonObject): Upstream | undefined {
      const found = known.get(settings);
      if (found !== undefined) return found.upstream;
      const key = JSON.stringify([upstreamPath, identityPath].map((path) => getSetting(settings, path)));
      if (last?.key !== key) last = { key, upstream: createUpstream(services, settings) };
      known.set(settings, last);
      return last.upstream;
    },
  };
}

function createUpstream(services: Services, settings: JsonObject): Upstream | undefined {
  const parsed = parseUpstreamSettings(settings);
  if (parsed === undefined) return undefined;
  const client = createUpstreamClient(parsed);
  services.closeLater(async () => client[Symbol.asyncDispose]());
  return {
    settings: parsed,
    client,
    state: services.get(createUpstreamState),
    breaker: new Breaker({ clock: openBase(services).clock, subject: 'the Clouddriver upstream' }),
    isIdentityProven: parseIdentitySettings(settings).kind !== 'header',
  };
}
