// What tests of providers in packages import: `busdriver/provider-kit/testing`.

export { systemClock, systemRandomness } from '#platform/services/system.ts';
export { type OperationEnvironment, setUpEnvironment, testOperation } from './operation.ts';
export * from './operation-spec.ts';
export * from './provider.ts';
