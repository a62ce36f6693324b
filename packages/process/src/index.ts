export { makeDataDir } from './data-dir.js';
export { copyEnvironment, readConfig, readCredential, readServerConfig, type ServerConfig } from './environment.js';
export { toServerNodeOptions } from './node-options.js';
export { buildKeyCheck, loadOwnerKey, OWNER_KEY_FILE } from './owner-key.js';
export { createPrivateFile, replacePrivateFile } from './private-file.js';
export { runMain } from './run-main.js';
export { provideSecretKey } from './secret-key.js';
export { onStopSignal } from './signals.js';
export { onStop } from './stop.js';
