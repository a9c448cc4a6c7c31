import type { ProviderPlugin } from '../core/providers/provider.ts';
import { artifactsPlugin } from './artifacts/index.ts';
import { fiatPlugin } from './fiat/index.ts';
import { front50Plugin } from './front50/index.ts';
import { kubernetesPlugin } from './kubernetes/index.ts';

/** The providers, one line each. */
export const plugins: readonly ProviderPlugin[] = [
  kubernetesPlugin,
  artifactsPlugin,
  front50Plugin,
  fiatPlugin,
];
