// A line for each provider.
export { artifactsPlugin } from './artifacts/index.ts';
export { dockerRegistryPlugin } from './docker-registry/index.ts';
export { fiatPlugin } from './fiat/index.ts';
export { front50Plugin } from './front50/index.ts';
export { kubernetesPlugin } from './kubernetes/index.ts';
