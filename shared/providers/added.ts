import type { ProviderDeclaration } from '#provider-kit/declaration.ts';
import type { ProviderPlugin } from '#provider-kit/provider.ts';

// Bundles of stacks have another module in the place of this one, which imports the packages that an option names.

/** Declarations of providers in packages, added before anything reads them. */
export const addedDeclarations: ProviderDeclaration[] = [];

/** Their plug-ins. */
export const addedPlugins: ProviderPlugin[] = [];
