import type { ProviderPlugin } from '#provider-kit/provider.ts';
import { artifactsPlugin } from './artifacts/index.ts';
import { dockerRegistryPlugin } from './docker-registry/index.ts';
import { fiatPlugin } from './fiat/index.ts';
import { front50Plugin } from './front50/index.ts';
import { kubernetesPlugin } from './kubernetes/index.ts';

/** The registry of providers. Our code never changes it; a test may add a provider before it opens a runtime. */
export const plugins: ProviderPlugin[] = [
  // One line each.
  kubernetesPlugin,
  artifactsPlugin,
  dockerRegistryPlugin,
  front50Plugin,
  fiatPlugin,
];
