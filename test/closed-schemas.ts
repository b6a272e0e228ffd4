/**
 * The same document with its objects closed: the published one leaves them open, so that a field more is no break, but what is sent
 * today has to be written down today.
 */
export function closedSchemas(document: unknown): object {
  return JSON.parse(
    JSON.stringify(document, (_, value: unknown) => {
      const isOpenObject =
        typeof value === 'object' &&
        value !== null &&
        'properties' in value &&
        'type' in value &&
        value.type === 'object' &&
        !('additionalProperties' in value);
      return isOpenObject ? { ...value, additionalProperties: false } : value;
    }),
  ) as object;
}
