import { accountsTable } from '#platform/aws/tables.ts';
import { testAccountStore } from '#test/contracts/account-store.contract.ts';
import { useLocalTables } from '#test/support/engines/local-tables.ts';

const open = useLocalTables();

testAccountStore('the local tables', () => open(accountsTable));
