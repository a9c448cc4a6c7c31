import { addedPlugins } from '#added-providers';
import type { ProviderPlugin } from '#provider-kit/provider.ts';
import * as all from './plugins.ts';

// Of two accounts of one name the one of the former provider counts.
const { kubernetesPlugin, ...others } = all;

/** The registry of providers. Our code never changes it; a test may add a provider before it opens a runtime. */
export const plugins: ProviderPlugin[] = [kubernetesPlugin, ...Object.values(others), ...addedPlugins];
