export { toCapabilityDocument } from './capability-document.js';
export { Catalogue, type CatalogueOptions } from './catalogue.js';
export { type CatalogueReading, CatalogueView } from './catalogue-view.js';
export { type Counts, countRows, isInRegistry, isProjected } from './counts.js';
export { EmbeddingLoader } from './embedding-loader.js';
export { toEmbeddingText } from './embedding-text.js';
export { Entry, type EntryContext, type HeldRow } from './entry.js';
export { type Summary, toSummary } from './summary.js';
