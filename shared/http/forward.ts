import type { JsonObject } from '#core/json.ts';
import { hasUpstream } from '#settings/upstream-settings.ts';
import type { Gate } from './gate.ts';

/** Answers here, unless the settings name a Clouddriver behind this one. What calls it is loaded with the first request for it. */
export const forward: Required<Gate>['forward'] = async (call) => {
  const forwarding = call.all.get(createForwarding);
  if (!forwarding.isConfigured(call.services.settings)) return call.own();
  return (await forwarding.load()).forward(call);
};

/** Remembers what each request would find out: whether settings name an upstream, and the code for it. What fails to load is loaded again. */
function createForwarding() {
  const known = new WeakMap<JsonObject, boolean>();
  let loading: Promise<typeof import('#upstream/http/forward.ts')> | undefined;
  const forget = (error: unknown) => {
    loading = undefined;
    throw error;
  };
  return {
    isConfigured(settings: JsonObject): boolean {
      const isConfigured = known.get(settings) ?? hasUpstream(settings);
      known.set(settings, isConfigured);
      return isConfigured;
    },
    load: () => (loading ??= import('#upstream/http/forward.ts').catch(forget)),
  };
}
