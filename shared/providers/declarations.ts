import { addedDeclarations } from '#added-providers';
import type { AwsResource as AnyAwsResource, ProviderDeclaration } from '#provider-kit/declaration.ts';
import * as declared from './declared.ts';

const { kubernetes, ...others } = declared;

type OptionOf<T> = T extends { awsResources: readonly { option: infer Option extends string }[] }
  ? Option
  : never;

/** The same, with the names of options that Busdriver's own providers have. Those of packages are in the same table. */
export interface AwsResource extends AnyAwsResource {
  readonly option: OptionOf<(typeof declared)[keyof typeof declared]>;
}

interface Declaration extends ProviderDeclaration {
  readonly awsResources?: readonly AwsResource[];
}

/** The declarations of providers that have one. */
export const declarations: readonly Declaration[] = [
  kubernetes,
  ...Object.values(others),
  ...(addedDeclarations as readonly Declaration[]),
];

/** The resources of all of them. */
export const awsResources: readonly AwsResource[] = declarations.flatMap((each) => each.awsResources ?? []);
