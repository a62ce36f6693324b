import { hostname } from 'node:os';
import { readServerConfig, runMain } from '@rowcall/process';
import { silentLog } from '@rowcall/protocol';
import { hasLiveRunner, openStore } from '@rowcall/store';

// A runner has no port to probe: it is healthy when the database has a young heartbeat of this host. Exit code 0 or 1.
await runMain(async () => {
  const { databaseUrl } = readServerConfig();
  const store = openStore({ url: databaseUrl, name: 'rowcall-health', log: silentLog, poolMax: 1 });
  process.exitCode = (await hasLiveRunner(store.db, hostname())) ? 0 : 1;
  await store.close();
});
