import { goClouddriverForm, providerName } from './kubernetes/account/go-clouddriver-form.ts';

/** The form of accounts in go-clouddriver's API, and their provider. Only functions of that API load it. */
export const accountForm = { form: goClouddriverForm, provider: providerName };
