// A line for each provider that has operations or calls AWS.
export { declaration as dockerRegistry } from './docker-registry/declaration.ts';
export { declaration as kubernetes } from './kubernetes/declaration.ts';
