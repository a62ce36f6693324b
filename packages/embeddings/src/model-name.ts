import type { EmbeddingSettings } from '@rowcall/config';

/** Names what vectors come from, so that only those are compared that do: the model, and the dimensions where one asks for some. */
export function toModelName({ model, dimensions }: Pick<EmbeddingSettings, 'model' | 'dimensions'>): string {
  return dimensions === undefined ? model : `${model}#${dimensions}`;
}
