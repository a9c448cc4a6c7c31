import type { RequestAccess } from '#access/http/request-access.ts';

/** What the gate gives to functions for who may do everything. */
export const fullAccess: RequestAccess = {
  route: { method: 'GET', path: '/health' },
  rules: {},
  identity: { user: undefined, allowedAccounts: undefined, kind: 'header' },
  rights: {
    mayUseAccount: () => true,
    mayUseApplication: () => true,
    isManager: true,
    isLocalManager: false,
    hasGroupOf: () => true,
  },
  loadRights: async () => fullAccess.rights,
  getRights: () => fullAccess.rights,
  checkTask() {},
  mayReadTask: () => true,
  openAccountFilter: async () => () => true,
  checkResult() {},
};
