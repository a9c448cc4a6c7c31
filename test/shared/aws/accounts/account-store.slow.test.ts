import { accountsTable } from '../../../../shared/aws/tables.ts';
import { testAccountStore } from '../../../contracts/account-store.contract.ts';
import { useLocalTables } from '../../../support/engines/local-tables.ts';

const open = useLocalTables();

testAccountStore('the local tables', () => open(accountsTable));
