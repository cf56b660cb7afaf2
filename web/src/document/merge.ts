// Several documents as one: pinned examples, or files of two models that are to stand side by side.
import type { AttentionDocument } from './types.ts';

export function merged(documents: AttentionDocument[]): AttentionDocument {
  const all: AttentionDocument = { format: 'heed.attention', version: 1, models: [], examples: [] };
  const placeOf = new Map<string, number>();
  for (const document of documents) {
    all.title ??= document.title;
    const places = document.models.map((model) => {
      const key = JSON.stringify(model);
      if (!placeOf.has(key)) placeOf.set(key, all.models.push(model) - 1);
      return placeOf.get(key)!;
    });
    for (const example of document.examples) all.examples.push({ ...example, model: places[example.model]! });
    if (document.training) all.training = [...(all.training ?? []), ...document.training];
    all.comparison ??= document.comparison;
  }
  return all;
}
