export { copyEnvironment, readConfig, readCredential, readServerConfig, type ServerConfig } from './environment.js';
export { buildKeyCheck, loadOwnerKey, OWNER_KEY_FILE } from './owner-key.js';
export { runMain } from './run-main.js';
export { onStop } from './stop.js';
