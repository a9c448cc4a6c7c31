import { cacheTable } from '../../../../shared/aws/tables.ts';
import { testCacheStore } from '../../../contracts/cache-store.contract.ts';
import { useLocalTables } from '../../../support/engines/local-tables.ts';

const open = useLocalTables();

testCacheStore('the local tables', () => open(cacheTable));
