import { goClouddriverForm, providerName } from './kubernetes/account/go-clouddriver-form.ts';

/** The form in which somebody else's API has accounts, and the provider whose they are. Only functions of that API load it. */
export const accountForm = { form: goClouddriverForm, provider: providerName };
