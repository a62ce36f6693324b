export { EmbeddingClient } from './client.js';
export { buildEmbedder, type EmbeddedQuestion, type Embedder } from './embedder.js';
export { EmbeddingError } from './embedding-error.js';
export { toModelName } from './model-name.js';
export { quantise } from './quantise.js';
